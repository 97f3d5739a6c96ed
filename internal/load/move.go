package load

import (
	"container/heap"

	"aiperf/internal/clock"
)

// Quantity is what of a phase may be moved from outside while the phase goes on.
type Quantity string

// The quantities.
const (
	SessionSlots Quantity = "concurrency"
	PrefillSlots Quantity = "prefill_concurrency"
	RequestRate  Quantity = "request_rate"
	UserCount    Quantity = "users"
)

// Moving says that something outside moves a quantity of the phase (Generator.Move). The phase's own figure, such as Concurrency, is the highest
// value that the quantity will get. The zero Moving moves nothing.
type Moving struct {
	Quantity Quantity
	From     float64 // the value at the start of the phase
}

// highest is the phase's own figure of the quantity.
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

// movable tells whether the phase has the quantity that is to be moved, and nothing else moves it.
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

// Move gives the moving quantity of a phase, by its index, a new value. A phase that does not send is left alone.
func (g *Generator) Move(index int, to float64) {
	g.during(index, func(p *phase, now int64) {
		switch p.Moving.Quantity {
		case SessionSlots:
			g.session.set(int(to), now)
		case PrefillSlots:
			g.prefill.set(int(to), now)
		case RequestRate:
			p.driver.(*rateDriver).setRate(to, now)
		case UserCount:
			p.driver.(*timetable).starts.(*userStarts).setUsers(int(to), now)
		}
		g.poke(now)
	})
}

// End ends the sending of a phase, by its index, as one of its stop rules would: answers are waited for, and the phases after it follow.
func (g *Generator) End(index int) {
	g.during(index, func(p *phase, now int64) {
		p.stop(StopControl, now)
		g.wait.Wake()
	})
}

// during does something with a phase while it sends.
func (g *Generator) during(index int, do func(p *phase, now int64)) {
	g.mu.Lock()
	if p := g.current; p != nil && p.info.Index == index && p.sending {
		do(p, clock.Now())
	}
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// set gives the limit a value that stays.
func (s *slots) set(value int, now int64) {
	s.limit = limit{steps: []step{{value: float64(value)}}, t0: now}
	s.advance(now)
}

// setRate lets the arrivals go on at another rate. The share of its interval that an arrival has waited already stays waited.
func (d *rateDriver) setRate(rate float64, now int64) {
	d.arrivals.rate.hold(seconds(now-d.p.t0), rate)
	d.arrivals.resume(d.arrivals.base)
}

// hold gives the curve a constant rate from t seconds on.
func (f *rateCurve) hold(t, rate float64) {
	for len(f.pieces) > 0 && f.pieces[len(f.pieces)-1].at >= t {
		f.pieces = f.pieces[:len(f.pieces)-1]
	}
	if n := len(f.pieces); n > 0 {
		f.pieces[n-1].span = t - f.pieces[n-1].at
	}
	f.add(t, unending, rate, rate)
}

// setUsers changes how many users share the rate: each keeps a gap of users/rate between its turns from here on. New ones come a stagger apart;
// where there are too many, those whose conversation is over get no successor.
func (u *userStarts) setUsers(users int, now int64) {
	u.users = users
	u.gap = float64(users) / u.p.Rate
	for i := 0; len(u.spawns) < users; i++ {
		heap.Push(&u.spawns, spawn{at: seconds(now-u.p.t0) + float64(i)/u.p.Rate})
	}
}
