package load

import (
	"container/heap"

	"aiperf/internal/base/clock"
)

// Quantity is a quantity of a phase that can be changed from outside while the phase runs.
type Quantity string

// The quantities.
const (
	SessionSlots Quantity = "concurrency"
	PrefillSlots Quantity = "prefill_concurrency"
	RequestRate  Quantity = "request_rate"
	UserCount    Quantity = "users"
)

// MovableQuantity names the quantity of the phase that is changed from outside (Generator.Move). The phase's own value, for example Concurrency, is
// the highest value that it will get. The zero value means that nothing changes.
type MovableQuantity struct {
	Quantity Quantity
	From     float64 // the value at the start of the phase
}

// highest returns the phase's own value of the quantity.
func (p *Phase) highest() float64 {
	switch p.Moving.Quantity {
	case SessionSlots:
		return float64(p.Concurrency)
	case PrefillSlots:
		return float64(p.Prefill)
	case RequestRate:
		return p.Rate
	case UserCount:
		return float64(p.Users)
	}
	return 0
}

// movable reports whether the phase has the quantity and nothing else changes it.
func (p *Phase) movable() bool {
	switch p.Moving.Quantity {
	case "":
		return true
	case SessionSlots:
		return p.ConcurrencyRamp.Duration == 0 && p.Mode != FixedSchedule && p.Mode != AgenticReplay
	case PrefillSlots:
		return p.PrefillRamp.Duration == 0 && p.Mode != FixedSchedule && p.Mode != AgenticReplay
	case RequestRate:
		return p.Mode == Rate && p.RateRamp.Duration == 0 && len(p.Series) == 0
	case UserCount:
		return p.Mode == UserCentric
	}
	return false
}

// Move sets the movable quantity of a phase, by its index, to a new value. It has no effect on a phase that is not sending.
func (g *Generator) Move(index int, to float64) {
	g.during(index, func(p *phase, now int64) {
		p.move(to, now)
		g.stepNow(now)
	})
}

// move sets the movable quantity.
func (p *phase) move(to float64, now int64) {
	switch p.Moving.Quantity {
	case SessionSlots:
		p.g.session.set(int(to), now)
	case PrefillSlots:
		p.g.prefill.set(int(to), now)
	case RequestRate:
		p.driver.(*rateDriver).setRate(to, now)
	case UserCount:
		d := p.driver.(*timetable)
		if !p.g.scenario.Share.whole() { // all machines must have followed the same users before
			d.prepareDue(now, d.lead())
		}
		d.starts.(*userStarts).setUsers(int(to), now)
	}
}

// End ends the sending of a phase, by its index, like a stop rule: the phase waits for its answers, and the next phases follow.
func (g *Generator) End(index int) {
	g.during(index, func(p *phase, now int64) {
		p.stop(StopControl, now)
		g.wait.Wake()
	})
}

// during calls do with a phase if it is sending.
func (g *Generator) during(index int, do func(p *phase, now int64)) {
	g.mu.Lock()
	if p := g.current; p != nil && p.info.Index == index && p.sending {
		do(p, clock.Now())
	}
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// set sets the limit to a constant value.
func (s *slots) set(value int, now int64) {
	s.limit = limit{steps: []step{{value: float64(value)}}, t0: now}
	s.advance(now)
}

// setRate changes the rate of the arrivals. An arrival keeps the share of its interval that has already passed.
func (d *rateDriver) setRate(rate float64, now int64) {
	d.arrivals.rate.holdFrom(seconds(now-d.p.t0), rate)
	d.arrivals.resume(d.arrivals.base)
}

// holdFrom makes the rate constant from t seconds on.
func (f *rateCurve) holdFrom(t, rate float64) {
	for len(f.pieces) > 0 && f.pieces[len(f.pieces)-1].at >= t {
		f.pieces = f.pieces[:len(f.pieces)-1]
	}
	if n := len(f.pieces); n > 0 {
		f.pieces[n-1].span = t - f.pieces[n-1].at
	}
	f.add(t, unending, rate, rate)
}

// setUsers changes how many users share the rate. From now on each keeps a gap of users/rate between its turns. New users start a stagger apart. If
// there are too many, users whose conversation ends get no successor.
func (u *userStarts) setUsers(users int, now int64) {
	u.users = users
	u.gap = float64(users) / u.p.Rate
	for i := 0; len(u.spawns) < users; i++ {
		heap.Push(&u.spawns, userSpawn{at: seconds(now-u.p.t0) + float64(i)/u.p.Rate, place: int64(u.places)})
		u.places++
	}
}
