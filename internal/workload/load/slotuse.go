package load

import "time"

// SlotUse shows how a closed loop used the time of its slots up to the end of sending. It sums over requests: the wait before a request counts when
// the request is sent. A slot with nothing left to send, or whose ramp has not begun, is in none of the sums.
type SlotUse struct {
	Busy    time.Duration // requests were in flight
	InDelay time.Duration // sessions were in their own delays, every prefill slot was taken, or a connection was being made
	Lost    time.Duration // the previous answer had arrived and the next request could have been sent
	Unsure  time.Duration // part of Busy in which the answer may have arrived already
}

// Add adds the times of another phase.
func (u *SlotUse) Add(o SlotUse) {
	u.Busy += o.Busy
	u.InDelay += o.InDelay
	u.Lost += o.Lost
	u.Unsure += o.Unsure
}

// Total returns the time of all slots together.
func (u *SlotUse) Total() time.Duration { return u.Busy + u.InDelay + u.Lost }

// vacancies holds the arrivals of answers whose slots have not been taken again, oldest first.
type vacancies struct {
	counted bool // false: not needed
	list    []int64
}

// add records the arrival of an answer that frees a slot; 0 = there was no answer.
func (v *vacancies) add(at int64) {
	if v.counted && at != 0 {
		v.list = append(v.list, at)
	}
}

// take returns the arrival that freed the slot that is taken now; 0 = none. free is the number of free slots.
func (v *vacancies) take(free int) int64 {
	if over := len(v.list) - free; over > 0 { // the limit was lowered
		v.list = v.list[over:]
	}
	if len(v.list) == 0 {
		return 0
	}
	at := v.list[0]
	v.list = v.list[1:]
	return at
}

// begin clears the state before a phase.
func (v *vacancies) begin(counted bool) { *v = vacancies{counted: counted} }

// loseVacant counts the time of the free slots up to now as lost: they could have been used, and will not be used any more.
func (p *phase) loseVacant(now int64) {
	v := &p.g.session.vacant
	for _, at := range v.list {
		p.stats.Slots.Lost += time.Duration(max(0, now-at))
	}
	v.list = nil
}

// vacate records that the answer of an ended session freed its slot, if the sending phase could start another session there.
func (p *phase) vacate(f *family) {
	at := f.arrived
	f.arrived = 0
	if at == 0 {
		return
	}
	if !p.sending {
		p.loseRest(at, f.think)
	}
	if now := p.g.current; now != nil && now.sending && now.mayStart() {
		p.g.session.vacant.add(max(at, now.t0))
	}
}

// loseRest counts the time of a slot from the arrival of its last answer to the end of the sending, if the duration ended the sending. The next request
// was to follow after its own delay, think; a client that comes late did not send it.
func (p *phase) loseRest(arrived, think int64) {
	if p.Mode != ClosedLoop || p.stats.StoppedBy != StopDuration || !p.mayStart() || p.Prefill > 0 || p.stats.Branches != nil {
		return // nothing was to follow, or it is not known when
	}
	u, end := &p.stats.Slots, p.stats.SentAll
	u.Lost += time.Duration(max(0, end-arrived-think))
	u.InDelay += time.Duration(max(0, min(end, arrived+think)-arrived))
}

// countSlot adds a returned request to the slot use.
func (p *phase) countSlot(t *ticket, out Outcome, now int64) {
	if p.Mode != ClosedLoop {
		return
	}
	if t.silent() { // a silent turn may have had a delay
		t.ses.family.arrived = 0
		return
	}
	sent, end := out.Sent, now
	if sent == 0 {
		sent = t.issue.At
	}
	if out.Arrived != 0 {
		end = out.Arrived
	}
	if out.Arrived != 0 || !out.Failed { // otherwise there was no answer
		t.arrived = end
	}
	t.ses.family.arrived, t.ses.family.think = t.arrived, t.nextThink()
	p.busy(sent, end)
	if t.arrived != 0 {
		p.unsure(max(sent, end-out.Unseen), end)
	}
	if t.vacant == 0 {
		return
	}
	u, could := &p.stats.Slots, t.vacant+t.think
	if t.gate != 0 {
		could = max(could, t.gate)
	}
	sent = p.whileSending(sent) // the last requests are written after the end of sending
	lost := max(0, sent-could-int64(out.Connecting))
	u.Lost += time.Duration(lost)
	u.InDelay += time.Duration(max(0, sent-t.vacant-lost))
}

// nextThink returns the delay of the turn after a ticket's, ns; 0 = it has none, or it was the last turn.
func (t *ticket) nextThink() int64 {
	s := t.ses
	if t.req.Turn+1 >= s.Turns || t.req.Turn+1 >= len(s.Shape.Turns) {
		return 0
	}
	return delayOf(&s.Shape.Turns[t.req.Turn+1])
}

// busy counts the time of a request in flight, as far as the phase was sending.
func (p *phase) busy(from, to int64) {
	p.stats.Slots.Busy += time.Duration(max(0, p.whileSending(to)-from))
}

// unsure counts the time in which an answer may have arrived already, as far as the phase was sending.
func (p *phase) unsure(from, to int64) {
	p.stats.Slots.Unsure += time.Duration(max(0, p.whileSending(to)-from))
}

// whileSending returns an instant, but at most the end of sending.
func (p *phase) whileSending(at int64) int64 {
	if p.sending { // a client that comes late may not have noticed the end
		return min(at, p.stopAt)
	}
	return min(at, p.stats.SentAll)
}
