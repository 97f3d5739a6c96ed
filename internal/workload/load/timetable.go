package load

import (
	"context"
	"iter"
	"math"
	"slices"
)

// timetable starts sessions at instants that are known in advance: fixed schedule (6.4) and user-centric (6.5). An entry that finds no slot waits;
// the instants of the others do not change.
type timetable struct {
	p      *phase
	starts starter
}

// starter provides the instants at which sessions start.
type starter interface {
	build(ctx context.Context) error
	// peek returns the offset of the next session from the start of the phase, ns; false = none. It may drop users that are due by the offset by.
	peek(by int64) (offset int64, ok bool)
	// pop makes the ticket of that session; nil = its data are not available yet.
	pop(t0 int64) *ticket
	// due returns the instant of the turn after t.
	due(t, next *ticket, now int64) int64
	// unstarted returns how many turns were due within a time from the start of the phase, ns, in sessions that did not start, and whether a limit of
	// sessions kept them from it.
	unstarted(within int64) (turns float64, limited bool)
}

func (d *timetable) build(ctx context.Context) error { return d.starts.build(ctx) }

func (d *timetable) prime() (short bool) {
	_, short = d.prepareDue(0, d.lead())
	return short && d.p.sending
}

func (d *timetable) begin(t0 int64) {
	for t := range d.p.starts.all() { // sessions that were brought before the clock started
		t.due += t0
	}
}

func (d *timetable) finished() bool {
	_, more := d.starts.peek(-never)
	return !more && d.p.starts.len() == 0
}

func (d *timetable) due(t, next *ticket, now int64) int64 { return d.starts.due(t, next, now) }

func (d *timetable) advance(now int64) int64 {
	p := d.p
	d.prepareDue(now, 0)
	for p.sending && p.mayGrant() && p.g.prefill.free() > 0 {
		t := p.starts.head()
		if t != nil && (t.due > now || p.g.session.free() == 0 || !p.mayStart()) {
			t = nil
		}
		if r := p.ready.head(); r != nil && (t == nil || r.due <= t.due) {
			d.admit(p.ready.pop(), now)
			continue
		}
		if t == nil {
			break
		}
		d.admit(p.starts.pop(), now)
	}
	for t := range p.ready.all() {
		t.waited = true
	}
	for t := range p.starts.all() {
		if t.due > now {
			break
		}
		t.waited = true
	}
	return never // ahead checks further
}

// admit grants a ticket at its scheduled instant.
func (d *timetable) admit(t *ticket, now int64) {
	intended := t.due
	if t.scheduled != 0 {
		intended = t.scheduled
		d.p.stats.Schedule.LateAnswers++
	}
	if intended >= d.p.steadyAt {
		d.p.stats.Schedule.Steady.Sent++
	}
	d.p.admit(t, intended, now)
}

// recordDemand records how many requests the rate demanded, at the end of sending. A trace demands no rate, but what was due and not sent is missing.
func (d *timetable) recordDemand(at int64) {
	p := d.p
	s := &p.stats.Schedule.Steady
	missing := math.Inf(1)
	if p.Requests > 0 {
		missing = float64(p.Requests - p.count.sent.Load())
	}
	if p.Mode == UserCentric {
		rate := p.g.scenario.Share.fraction(p.Rate)
		p.stats.Schedule.Expected, s.Expected = rate*p.stats.Schedule.SendSeconds, rate*s.Seconds
		s.Drawn = s.Expected
		missing = min(missing, max(0, s.Drawn-float64(s.Sent)))
	}
	turns, limited := d.starts.unstarted(at - p.t0)
	switch {
	case limited && p.Mode == UserCentric:
		s.Lost.NoTurn = min(turns, missing)
	case !limited && p.stats.StoppedBy == StopDuration:
		if t := p.starts.head(); t == nil || !t.waited { // otherwise the others would have waited behind it
			s.Lost.Client = min(turns+d.missed(at), missing)
		}
	}
	if p.Mode == FixedSchedule && s.Lost.Client > 0 {
		s.Drawn = float64(s.Sent) + s.Lost.Client
	}
}

// missed returns how many tickets were due before an instant and could have left.
func (d *timetable) missed(at int64) (n float64) {
	for _, list := range []iter.Seq[*ticket]{d.p.starts.all(), d.p.ready.all(), slices.Values(d.p.timed)} {
		for t := range list {
			if t.due < at && !t.waited {
				n++
			}
		}
	}
	return n
}

func (d *timetable) ahead(now int64) int64 {
	next, _ := d.prepareDue(now, d.lead())
	if t := d.p.starts.after(now); t != nil {
		next = min(next, t.due)
	}
	return next
}

// lead returns how long before its start a session is prepared, ns.
func (d *timetable) lead() int64 { return int64(d.p.g.scenario.ArmLead) }

// prepareDue takes the sessions that start within lead (ns) from the timetable and prepares them. It returns the instant at which to bring the next one,
// and whether missing data delayed it.
func (d *timetable) prepareDue(now, lead int64) (next int64, short bool) {
	p := d.p
	for p.sending && p.starts.len() < maxArmed {
		offset, ok := d.starts.peek(now + lead - p.t0)
		if !ok {
			return never, false
		}
		if at := p.t0 + offset - lead; at > now {
			return at, false
		}
		if !p.mayStock() {
			return never, false
		}
		t := d.starts.pop(p.t0)
		if t == nil {
			return never, true
		}
		p.starts.push(t)
		if p.g.session.free() >= p.starts.len() {
			p.arm(t)
		}
	}
	return never, false
}
