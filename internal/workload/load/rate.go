package load

import (
	"context"

	"aiperf/internal/base/rng"
)

// rateDriver sends at the instants of an arrival process (6.2). Each tick is used for a waiting continuation, otherwise for a new session if its
// slots are free at that moment, otherwise it is skipped.
type rateDriver struct {
	p        *phase
	arrivals *arrivals

	tickWaits bool  // a due tick waits for a prefill slot or for data
	intended  int64 // instant of that tick
	blocked   bool  // that tick waits for a prefill slot
	freedAt   int64 // instant at which the last such wait ended
}

func (d *rateDriver) build(context.Context) error {
	p := d.p
	root := p.g.opts.Root
	at := p.Phase
	if p.Moving.Quantity == RequestRate {
		at.Rate = p.Moving.From
	}
	rate := newRateCurve(&at, func() *rng.Stream { return root.Stream(rampStream) })
	d.arrivals = newArrivals(newIntervals(&p.Phase, root), rate, p.g.scenario.Share, 0)
	return nil
}

// maxAhead is the maximum number of arrivals that are prepared ahead.
const maxAhead = 128

func (d *rateDriver) prime() (short bool) {
	d.ahead(0)
	n, _ := d.arrivals.within(int64(d.p.g.scenario.ArmLead), maxAhead)
	return d.p.sending && d.needsMore(n)
}

func (d *rateDriver) begin(t0 int64) {
	d.arrivals.restart(t0)
	d.freedAt = t0
}

// recordDemand records how many requests the rate demanded, at the end of sending.
func (d *rateDriver) recordDemand(at int64) {
	s, rate, share := &d.p.stats.Schedule, d.arrivals.rate, d.arrivals.share
	s.Expected = share.fraction(rate.integral(seconds(at - d.p.t0)))
	if at <= d.p.steadyAt {
		return
	}
	s.Steady.Expected = s.Expected - share.fraction(rate.integral(seconds(d.p.steadyAt-d.p.t0)))
	missed := &s.Steady.Lost.Client
	if d.tickWaits && d.blocked {
		missed = &s.Steady.Lost.Prefill
		*missed++ // the waiting tick
	}
	if limit := min(at, d.p.stopAt-1); d.arrivals.next() <= limit { // ticks that came due since the last call of advance
		n, _ := d.arrivals.within(limit, maxMissed)
		s.Steady.Drawn += float64(n)
		*missed += float64(n)
	}
}

// maxMissed is the maximum number of such ticks that are counted at the end.
const maxMissed = 1 << 20

// steady returns the window that counts arrivals at an instant; nil before the end of the ramps.
func (d *rateDriver) steady(at int64) *SteadyWindow {
	if at < d.p.steadyAt {
		return nil
	}
	return &d.p.stats.Schedule.Steady
}

// admit uses the due tick for a ticket.
func (d *rateDriver) admit(t *ticket, now int64) {
	if s := d.steady(d.intended); s != nil {
		s.Sent++
	}
	d.p.admit(t, d.intended, now)
}

func (d *rateDriver) finished() bool { return false }

func (d *rateDriver) due(_, next *ticket, now int64) int64 { return now + thinkTime(next) }

func (d *rateDriver) advance(now int64) int64 {
	p := d.p
	if s := p.Intervals; s != nil && s.failed != nil && p.sending {
		p.refuse(s.failed)
		return never
	}
	for p.sending {
		if d.tickWaits {
			if d.tickWaits = !d.spend(now); d.tickWaits {
				return never // a free slot or new data will wake the driver
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
			if d.reanchor(at, now) {
				continue
			}
		}
		d.arrivals.pass()
		d.intended = at
		d.tickWaits = true
	}
	if !p.sending {
		return never
	}
	return d.arrivals.next()
}

// reanchor gives up the schedule between a missed arrival and now, and makes now the next arrival. With several machines, the arrivals of the others
// are not missed, so nothing moves: what was missed is skipped. The prefill limit is the cause if the arrival came during a wait for a prefill slot,
// otherwise the client is.
func (d *rateDriver) reanchor(at, now int64) (skipped bool) {
	s := &d.p.stats.Schedule
	var lost float64
	if skipped = !d.arrivals.share.whole(); skipped {
		lost = d.arrivals.skip(now - int64(d.p.g.scenario.CatchUp))
	} else {
		lost = d.arrivals.reanchor(now)
	}
	if st := d.steady(at); st != nil {
		st.Drawn += lost
		if skipped {
			st.Drawn-- // the arrival that was noticed is counted already
		}
		if at < d.freedAt {
			st.Lost.Prefill += lost
		} else {
			st.Lost.Client += lost
		}
	}
	if at < d.freedAt {
		s.CapReanchors++
		return skipped
	}
	s.LostArrivals += lost
	s.LostSeconds += seconds(now - at)
	d.p.count.reanchors.Add(1)
	return skipped
}

// spend uses the tick; false = the tick must wait.
func (d *rateDriver) spend(now int64) bool {
	p := d.p
	if !p.mayGrant() { // other machines may still have a part of the count
		d.skip()
		return true
	}
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

// skip drops the tick.
func (d *rateDriver) skip() {
	p := d.p
	p.count.skipped.Add(1)
	s := d.steady(d.intended)
	switch {
	case s == nil:
	case !p.mayStart() || !p.mayGrant():
		s.Lost.NoTurn++
	case p.g.session.free() > 0:
		s.Lost.Prefill++
	case p.g.session.busy.since == 0:
		s.Lost.InDelay++
	default:
		s.Lost.Cap++
	}
}

// ahead prepares the tickets that the next arrivals will probably use.
func (d *rateDriver) ahead(now int64) int64 {
	p := d.p
	lead := int64(p.g.scenario.ArmLead)
	n, after := d.arrivals.within(now+lead, maxAhead)
	left := n
	for t := range p.ready.all() {
		if left == 0 {
			break
		}
		p.arm(t)
		left--
	}
	for d.needsMore(left) {
		t, ok := p.prefetch()
		if !ok {
			break
		}
		p.arm(t)
	}
	if n == maxAhead {
		return never // the next tick will prepare more
	}
	return after - lead
}

// needsMore reports whether another session should be prepared for n arrivals.
func (d *rateDriver) needsMore(n int) bool {
	p := d.p
	return p.sending && p.starts.len() < min(n, p.g.session.free(), p.g.prefill.free()) && p.mayStock()
}
