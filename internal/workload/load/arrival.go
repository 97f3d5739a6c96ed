package load

import "aiperf/internal/base/rng"

// Random streams of the arrival distributions.
const (
	poissonStream = "timing.request.poisson_interval"
	gammaStream   = "timing.request.gamma_interval"
)

// newIntervals returns the intervals of an arrival distribution at the unit rate, in order (6.2): all have mean 1.
func newIntervals(p *Phase, root *rng.Root) func() float64 {
	switch p.Pattern {
	case External:
		return p.Intervals.next
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

// arrivals is the renewal process of a phase. There is one for the whole load, with absolute target instants, of which a few are computed ahead. It
// determines only the instants, not what is sent at them. With several machines, each computes all arrivals and stops at its own.
type arrivals struct {
	interval func() float64
	rate     *rateCurve
	share    Share
	t0       int64

	base   float64   // expected number of arrivals up to the last target that was passed
	drawn  int64     // number of arrivals computed so far
	ahead  []arrival // the next targets in order; the first that is not passed is this machine's
	passed int       // number of elements of ahead that are already passed
}

type arrival struct {
	gap float64 // interval at the unit rate
	sum float64 // expected number of arrivals up to this one
	at  int64   // instant of the arrival
	own bool    // it is this machine's
}

// newArrivals starts the process at t0. The first arrival is one interval later.
func newArrivals(interval func() float64, rate *rateCurve, share Share, t0 int64) *arrivals {
	a := &arrivals{interval: interval, rate: rate, share: share, t0: t0}
	a.draw()
	for !a.ahead[a.passed].own {
		a.advance()
	}
	return a
}

// restart moves the start of the process, before anything has arrived.
func (a *arrivals) restart(t0 int64) {
	a.t0 = t0
	a.resume(a.base)
}

// next returns the instant of the next arrival.
func (a *arrivals) next() int64 { return a.ahead[a.passed].at }

// pass removes the next arrival, with those of other machines after it. There is always another one.
func (a *arrivals) pass() {
	a.advance()
	for !a.ahead[a.passed].own {
		a.advance()
	}
	if a.passed >= 64 { // keep the slice short
		a.ahead = a.ahead[:copy(a.ahead, a.ahead[a.passed:])]
		a.passed = 0
	}
}

// advance removes one arrival of any machine.
func (a *arrivals) advance() {
	a.base = a.ahead[a.passed].sum
	a.passed++
	if a.passed == len(a.ahead) {
		a.draw()
	}
}

// reanchor makes now the next target instead of one that was missed. Later targets keep their intervals from it. It returns how many arrivals were
// expected in the skipped time.
func (a *arrivals) reanchor(now int64) (lost float64) {
	head := &a.ahead[a.passed]
	missed := head.sum
	head.sum = a.rate.integral(seconds(now - a.t0))
	head.gap = head.sum - a.base
	head.at = now
	sum := head.sum
	for i := a.passed + 1; i < len(a.ahead); i++ {
		sum = a.place(i, sum)
	}
	return a.ahead[a.passed].sum - missed
}

// skip removes the arrivals before an instant and returns how many those of this machine are.
func (a *arrivals) skip(before int64) (lost float64) {
	for ; a.next() < before; a.pass() {
		lost++
	}
	return lost
}

// within returns the number of arrivals up to an instant, and the instant of the first one after it. It counts at most most arrivals.
func (a *arrivals) within(limit int64, most int) (count int, after int64) {
	for i := a.passed; ; i++ {
		if i == len(a.ahead) {
			a.draw()
		}
		switch v := &a.ahead[i]; {
		case !v.own:
		case v.at > limit || count == most:
			return count, v.at
		default:
			count++
		}
	}
}

// draw adds one arrival to ahead.
func (a *arrivals) draw() {
	sum := a.base
	if n := len(a.ahead); n > a.passed {
		sum = a.ahead[n-1].sum
	}
	a.ahead = append(a.ahead, arrival{gap: a.interval(), own: a.share.owns(a.drawn)})
	a.drawn++
	a.place(len(a.ahead)-1, sum)
}

// resume recomputes the instants of ahead after a new base.
func (a *arrivals) resume(base float64) {
	a.base = base
	for i := a.passed; i < len(a.ahead); i++ {
		base = a.place(i, base)
	}
}

// place computes the instant of arrival i, given the expected number of arrivals before it, and returns the expected number including it.
func (a *arrivals) place(i int, before float64) float64 {
	v := &a.ahead[i]
	v.sum = before + v.gap
	v.at = a.t0 + ns(a.rate.invert(v.sum))
	return v.sum
}
