package load

import "time"

// SlotUse is how a closed loop spent the time of its slots up to the end of the sending. It adds up single requests: what a request waited for
// counts when it is sent. A slot that has nothing more to send, or whose ramp has not begun, is in none of the sums.
type SlotUse struct {
	Busy time.Duration // requests were in flight
	Rest time.Duration // sessions were in delays of their own, every prefill slot was taken, or a connection was made
	Lost time.Duration // the answer before had arrived and the next request could have been sent
}

// Add adds another phase.
func (u *SlotUse) Add(o SlotUse) {
	u.Busy += o.Busy
	u.Rest += o.Rest
	u.Lost += o.Lost
}

// Total is the time of all slots together.
func (u *SlotUse) Total() time.Duration { return u.Busy + u.Rest + u.Lost }

// vacancies are the instants at which answers arrived whose slots nobody has taken since, the oldest first.
type vacancies struct {
	counted bool // else nobody asks
	list    []int64
}

// add notes the arrival of an answer that leaves a slot free; 0 = there was no answer.
func (v *vacancies) add(at int64) {
	if v.counted && at != 0 {
		v.list = append(v.list, at)
	}
}

// take returns the arrival that left the slot free which is taken now, one of so many; 0 = no answer did.
func (v *vacancies) take(free int) int64 {
	if over := len(v.list) - free; over > 0 { // the limit is lower now
		v.list = v.list[over:]
	}
	if len(v.list) == 0 {
		return 0
	}
	at := v.list[0]
	v.list = v.list[1:]
	return at
}

// begin forgets what was before a phase.
func (v *vacancies) begin(counted bool) { *v = vacancies{counted: counted} }

// loseVacant counts the free slots as lost up to now: they could have been used, and will not be any more.
func (p *phase) loseVacant(now int64) {
	v := &p.g.session.vacant
	for _, at := range v.list {
		p.stats.Slots.Lost += time.Duration(max(0, now-at))
	}
	v.list = nil
}

// vacate notes that the answer of a session that has ended left its slot free, if the phase that sends now could start another one there.
func (p *phase) vacate(f *family) {
	if now := p.g.current; now != nil && now.sending && now.mayStart() {
		p.g.session.vacant.add(f.arrived)
	}
	f.arrived = 0
}

// countSlot adds a request that has returned to the use of the slots.
func (p *phase) countSlot(t *ticket, out Outcome, now int64) {
	if p.Mode != ClosedLoop {
		return
	}
	if t.silent() { // it may have had a delay
		t.ses.family.arrived = 0
		return
	}
	sent, end := out.Sent, now
	if sent == 0 {
		sent = t.issue.At
	}
	if !out.Failed {
		if out.Arrived != 0 {
			end = out.Arrived
		}
		t.arrived = end
	}
	t.ses.family.arrived = t.arrived
	p.busy(sent, end)
	if t.vacant == 0 {
		return
	}
	u, could := &p.stats.Slots, t.vacant+t.think
	if t.gate != 0 {
		could = max(could, t.gate)
	}
	lost := max(0, sent-could-int64(out.Connecting))
	u.Lost += time.Duration(lost)
	u.Rest += time.Duration(max(0, sent-t.vacant-lost))
}

// busy counts the time of a request in flight, as far as the phase was sending.
func (p *phase) busy(from, to int64) {
	if !p.sending {
		to = min(to, p.stats.SentAll)
	}
	p.stats.Slots.Busy += time.Duration(max(0, to-from))
}
