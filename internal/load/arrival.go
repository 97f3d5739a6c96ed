package load

import "aiperf/internal/rng"

// Random streams of the arrival distributions.
const (
	poissonStream = "timing.request.poisson_interval"
	gammaStream   = "timing.request.gamma_interval"
)

// newIntervals returns the intervals of an arrival distribution at the unit rate, in order (6.2): all have mean 1.
func newIntervals(p *Phase, root *rng.Root) func() float64 {
	switch p.Pattern {
	case Poisson:
		s := root.Stream(poissonStream)
		return func() float64 { return s.Exponential(1) }
	case Gamma:
		k := p.Smoothness
		if k <= 0 {
			k = 1
		}
		s := root.Stream(gammaStream)
		return func() float64 { return s.Gamma(k, 1/k) }
	default:
		return func() float64 { return 1 }
	}
}

// arrivals is the renewal process of a phase: one for the whole load, with absolute targets, a little of it known ahead. It says when;
// what leaves at that instant is none of its business.
type arrivals struct {
	interval func() float64
	rate     *rateCurve
	t0       int64

	base  float64   // expected number of arrivals up to the last target
	ahead []arrival // the next targets in order, never empty
	spent int       // of ahead, those that are gone
}

type arrival struct {
	gap float64 // at the unit rate
	sum float64 // expected number of arrivals up to here
	at  int64   // the instant
}

// newArrivals starts the process at t0: the first arrival comes one interval later.
func newArrivals(interval func() float64, rate *rateCurve, t0 int64) *arrivals {
	a := &arrivals{interval: interval, rate: rate, t0: t0}
	a.draw()
	return a
}

// restart moves the beginning, before anything has arrived.
func (a *arrivals) restart(t0 int64) {
	a.t0 = t0
	a.resume(0)
}

// next is the instant of the next arrival.
func (a *arrivals) next() int64 { return a.ahead[a.spent].at }

// pass takes the next arrival off; after it there is always another.
func (a *arrivals) pass() {
	a.base = a.ahead[a.spent].sum
	a.spent++
	if a.spent == len(a.ahead) {
		a.draw()
	}
	if a.spent >= 64 { // keep the slice short
		a.ahead = a.ahead[:copy(a.ahead, a.ahead[a.spent:])]
		a.spent = 0
	}
}

// reanchor makes now the next target in place of one that was missed; later ones keep their intervals from it. It returns how many
// arrivals are expected in the time that is skipped.
func (a *arrivals) reanchor(now int64) (lost float64) {
	head := &a.ahead[a.spent]
	missed := head.sum
	head.sum = a.rate.integral(seconds(now - a.t0))
	head.gap = head.sum - a.base
	head.at = now
	sum := head.sum
	for i := a.spent + 1; i < len(a.ahead); i++ {
		sum = a.place(i, sum)
	}
	return a.ahead[a.spent].sum - missed
}

// within is the number of arrivals up to an instant, and the instant of the first one after it.
func (a *arrivals) within(limit int64, most int) (count int, after int64) {
	for i := a.spent; ; i++ {
		if i == len(a.ahead) {
			a.draw()
		}
		if a.ahead[i].at > limit || count == most {
			return count, a.ahead[i].at
		}
		count++
	}
}

// draw adds one arrival to those known.
func (a *arrivals) draw() {
	sum := a.base
	if n := len(a.ahead); n > a.spent {
		sum = a.ahead[n-1].sum
	}
	a.ahead = append(a.ahead, arrival{gap: a.interval()})
	a.place(len(a.ahead)-1, sum)
}

// resume puts the known arrivals in place again after a base.
func (a *arrivals) resume(base float64) {
	a.base = base
	for i := a.spent; i < len(a.ahead); i++ {
		base = a.place(i, base)
	}
}

// place computes arrival i after the expected number of arrivals before it, and returns its own.
func (a *arrivals) place(i int, before float64) float64 {
	v := &a.ahead[i]
	v.sum = before + v.gap
	v.at = a.t0 + ns(a.rate.invert(v.sum))
	return v.sum
}
