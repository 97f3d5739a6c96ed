package load

import (
	"context"

	"aiperf/internal/rng"
)

// rateDriver sends at the instants of an arrival process (6.2). Each tick is spent on a continuation that waits, else on a new session if
// its slots are free at that moment, else it is lost.
type rateDriver struct {
	p        *phase
	arrivals *arrivals

	held     bool  // a tick that came due waits for a prefill slot, or for the data
	intended int64 // its instant
	blocked  bool  // it waits for a prefill slot
	freedAt  int64 // instant at which the last such wait ended
}

func (d *rateDriver) build(context.Context) error {
	p := d.p
	root := p.g.opts.Root
	at := p.Phase
	if p.Moving.Quantity == RequestRate {
		at.Rate = p.Moving.From
	}
	rate := newRateCurve(&at, func() *rng.Stream { return root.Stream(rampStream) })
	d.arrivals = newArrivals(newIntervals(&p.Phase, root), rate, 0)
	return nil
}

// mostAhead bounds how many arrivals are prepared ahead.
const mostAhead = 128

func (d *rateDriver) prime() (short bool) {
	d.ahead(0)
	n, _ := d.arrivals.within(int64(d.p.g.scenario.ArmLead), mostAhead)
	return d.p.sending && d.wants(n)
}

func (d *rateDriver) begin(t0 int64) {
	d.arrivals.restart(t0)
	d.freedAt = t0
}

// account says what the rate asked for, at the end of the sending.
func (d *rateDriver) account(now int64) {
	s, rate := &d.p.stats.Schedule, d.arrivals.rate
	s.Expected = rate.integral(seconds(now - d.p.t0))
	if now <= d.p.steadyAt {
		return
	}
	s.Steady.Expected = s.Expected - rate.integral(seconds(d.p.steadyAt-d.p.t0))
	missed := &s.Steady.Lost.Client
	if d.held && d.blocked {
		missed = &s.Steady.Lost.Prefill
		*missed++ // the tick that waits
	}
	if limit := min(now, d.p.stopAt-1); d.arrivals.next() <= limit { // nobody has looked since
		n, _ := d.arrivals.within(limit, mostMissed)
		s.Steady.Drawn += float64(n)
		*missed += float64(n)
	}
}

// mostMissed bounds how many arrivals are counted that nobody looked at before the end.
const mostMissed = 1 << 20

// steady is where arrivals of an instant are counted: nil before the end of the ramps.
func (d *rateDriver) steady(at int64) *Steady {
	if at < d.p.steadyAt {
		return nil
	}
	return &d.p.stats.Schedule.Steady
}

// admit spends the tick that is due on a ticket.
func (d *rateDriver) admit(t *ticket, now int64) {
	if s := d.steady(d.intended); s != nil {
		s.Sent++
	}
	d.p.admit(t, d.intended, now)
}

func (d *rateDriver) over() bool { return false }

func (d *rateDriver) due(_, next *ticket, now int64) int64 { return now + thinkTime(next) }

func (d *rateDriver) advance(now int64) int64 {
	p := d.p
	for p.sending {
		if d.held {
			if d.held = !d.spend(now); d.held {
				return never // a slot or the data will call
			}
			continue
		}
		at := d.arrivals.next()
		if at > now {
			break
		}
		p.stats.Schedule.Ticks++
		if s := d.steady(at); s != nil {
			s.Drawn++
		}
		if late := now - at; late > int64(p.g.scenario.CatchUp) {
			d.reanchor(at, now)
		}
		d.arrivals.pass()
		d.intended = at
		d.held = true
	}
	if !p.sending {
		return never
	}
	return d.arrivals.next()
}

// reanchor gives up the schedule between an arrival that was missed and now. The fault is the prefill limit's where the arrival fell into
// a wait for one of its slots, else the client's.
func (d *rateDriver) reanchor(at, now int64) {
	s := &d.p.stats.Schedule
	lost := d.arrivals.reanchor(now)
	if st := d.steady(at); st != nil {
		st.Drawn += lost
		if at < d.freedAt {
			st.Lost.Prefill += lost
		} else {
			st.Lost.Client += lost
		}
	}
	if at < d.freedAt {
		s.CapReanchors++
		return
	}
	s.LostArrivals += lost
	s.LostSeconds += seconds(now - at)
	d.p.count.reanchors.Add(1)
}

// spend uses the tick; false means that it has to wait.
func (d *rateDriver) spend(now int64) bool {
	p := d.p
	room := p.g.prefill.free() > 0
	if t := p.ready.head(); t != nil {
		if !room {
			t.waited, d.blocked = true, true
			return false
		}
		if d.blocked {
			d.blocked, d.freedAt = false, now
		}
		d.admit(p.ready.pop(), now)
		return true
	}
	if !room || p.g.session.free() == 0 || !p.mayStart() {
		d.skip()
		return true
	}
	if p.starts.len() == 0 {
		if _, ok := p.prefetch(); !ok {
			return false
		}
	}
	d.admit(p.starts.pop(), now)
	return true
}

// skip loses the tick.
func (d *rateDriver) skip() {
	p := d.p
	p.count.skipped.Add(1)
	s := d.steady(d.intended)
	switch {
	case s == nil:
	case !p.mayStart():
		s.Lost.NoTurn++
	case p.g.session.free() > 0:
		s.Lost.Prefill++
	case p.g.session.busy.since == 0:
		s.Lost.Rest++
	default:
		s.Lost.Cap++
	}
}

// ahead prepares what the next arrivals will probably carry.
func (d *rateDriver) ahead(now int64) int64 {
	p := d.p
	lead := int64(p.g.scenario.ArmLead)
	n, after := d.arrivals.within(now+lead, mostAhead)
	left := n
	for t := range p.ready.all() {
		if left == 0 {
			break
		}
		p.arm(t)
		left--
	}
	for d.wants(left) {
		t, ok := p.prefetch()
		if !ok {
			break
		}
		p.arm(t)
	}
	if n == mostAhead {
		return never // the next tick looks again
	}
	return after - lead
}

// wants tells whether another session should be prepared for n arrivals.
func (d *rateDriver) wants(n int) bool {
	p := d.p
	return p.sending && p.starts.len() < min(n, p.g.session.free(), p.g.prefill.free()) && p.mayStock()
}
