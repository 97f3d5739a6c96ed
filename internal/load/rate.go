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

	steadyAt int64 // the end of the phase's ramps
	held     bool  // a tick that came due waits for a prefill slot, or for the data
	intended int64 // its instant
}

func (d *rateDriver) build(context.Context) error {
	p := d.p
	root := p.g.opts.Root
	rate := newRateCurve(&p.Phase, func() *rng.Stream { return root.Stream(rampStream) })
	d.arrivals = newArrivals(newLaw(&p.Phase, root), rate, 0)
	return nil
}

// mostAhead bounds how many arrivals are prepared ahead.
const mostAhead = 128

func (d *rateDriver) prime() (short bool) {
	d.ahead(0)
	n, _ := d.arrivals.within(int64(d.p.g.plan.ArmLead), mostAhead)
	return d.p.sending && d.wants(n)
}

func (d *rateDriver) begin(t0 int64) {
	d.arrivals.restart(t0)
	p := d.p
	d.steadyAt = later(t0, max(p.RateRamp.Duration, p.ConcurrencyRamp.Duration, p.PrefillRamp.Duration))
}

// account says what the rate asked for, at the end of the sending.
func (d *rateDriver) account(now int64) {
	s, rate := &d.p.facts.Schedule, d.arrivals.rate
	s.Expected = rate.integral(seconds(now - d.p.t0))
	if now > d.steadyAt {
		s.Steady.Seconds = seconds(now - d.steadyAt)
		s.Steady.Expected = s.Expected - rate.integral(seconds(d.steadyAt-d.p.t0))
	}
}

// admit spends the tick that is due on a ticket.
func (d *rateDriver) admit(t *ticket, now int64) {
	if d.intended >= d.steadyAt {
		d.p.facts.Schedule.Steady.Sent++
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
		p.facts.Schedule.Ticks++
		if late := now - at; late > int64(p.g.plan.CatchUp) {
			p.facts.Schedule.LostArrivals += d.arrivals.reanchor(now)
			p.count.reanchors.Add(1)
			p.facts.Schedule.LostSeconds += seconds(late)
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

// spend uses the tick; false means that it has to wait.
func (d *rateDriver) spend(now int64) bool {
	p := d.p
	room := p.g.prefill.free() > 0
	if t := p.ready.head(); t != nil {
		if !room {
			t.waited = true
			return false
		}
		d.admit(p.ready.pop(), now)
		return true
	}
	if !room || p.g.session.free() == 0 || !p.mayStart() {
		p.count.skipped.Add(1)
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

// ahead prepares what the next arrivals will probably carry.
func (d *rateDriver) ahead(now int64) int64 {
	p := d.p
	lead := int64(p.g.plan.ArmLead)
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
