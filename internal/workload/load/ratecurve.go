package load

import (
	"math"

	"aiperf/internal/base/rng"
)

// rateCurve is a rate over time. It is piecewise linear, may have steps, and is constant after the last piece. Arrivals of any distribution follow it
// by a change of time (6.2): if the distribution at the unit rate has its next arrival e later, the next arrival is where the integral of the rate
// equals e.
//
//	rate    ___/|      integral over [0, t] = number of arrivals expected by t
//	       /    |___
type rateCurve struct{ pieces []piece }

type piece struct {
	at    float64 // s since the start of the phase
	span  float64 // s; +Inf for the last
	rate  float64 // requests/s at its start
	slope float64 // requests/s per s
	sum   float64 // integral up to its start
}

// rateStep is the update interval of a rate ramp in the Python tool, in s. A linear ramp starts with the value after the first such interval.
const rateStep = 0.1

// curvePieces is the number of linear pieces that approximate a curved ramp.
const curvePieces = 256

// newRateCurve makes the rate of a phase: its ramp, followed by its series or its constant rate.
func newRateCurve(p *Phase, stream func() *rng.Stream) *rateCurve {
	series := p.Series
	if len(series) == 0 {
		series = []RatePoint{{Rate: p.Rate}}
	}
	f := &rateCurve{}
	start := f.ramp(p.RateRamp, series[0].Rate, stream)
	for i, point := range series {
		at := start + point.At
		if i == 0 && point.At > 0 { // before the first point, the phase's own rate applies
			f.add(start, point.At, point.Rate, point.Rate)
		}
		if i+1 < len(series) {
			f.add(at, series[i+1].At-point.At, point.Rate, series[i+1].Rate)
			continue
		}
		f.add(at, unending, point.Rate, point.Rate)
	}
	return f
}

// ramp adds the ramp up to the target and returns its end in s.
func (f *rateCurve) ramp(r Ramp, target float64, stream func() *rng.Stream) float64 {
	d := r.Duration.Seconds()
	if d <= 0 {
		return 0
	}
	from := r.From
	if from <= 0 {
		from = target * min(1, rateStep/d)
	}
	switch r.Strategy {
	case PoissonRamp:
		at, value := 0.0, from
		for _, s := range poissonSteps(from, target, d, stream()) {
			f.add(at, s.at-at, value, value)
			at, value = s.at, s.value
		}
	case Exponential:
		curve := func(i int) float64 {
			x := float64(i) / curvePieces
			return from + (target-from)*x*x
		}
		for i := range curvePieces {
			f.add(d*float64(i)/curvePieces, d/curvePieces, curve(i), curve(i+1))
		}
	default:
		f.add(0, d, from, target)
	}
	return d
}

// unending is the span of the last piece.
var unending = math.Inf(1)

// add appends a piece whose rate changes from a to b.
func (f *rateCurve) add(at, span, a, b float64) {
	if span <= 0 {
		return
	}
	p := piece{at: at, span: span, rate: a}
	if !math.IsInf(span, 1) {
		p.slope = (b - a) / span
	}
	if n := len(f.pieces); n > 0 {
		last := f.pieces[n-1]
		p.sum = last.sum + last.integral(last.span)
	}
	f.pieces = append(f.pieces, p)
}

// integral returns the integral of the rate over the first x seconds of the piece.
func (p piece) integral(x float64) float64 { return x * (p.rate + p.slope*x/2) }

// integral returns the number of arrivals expected in the first t seconds.
func (f *rateCurve) integral(t float64) float64 {
	if t <= 0 {
		return 0
	}
	p := f.pieces[f.find(func(p piece) bool { return p.at <= t })]
	return p.sum + p.integral(t-p.at)
}

// invert returns the time at which the expected number of arrivals reaches u.
func (f *rateCurve) invert(u float64) float64 {
	i := f.find(func(p piece) bool { return p.sum <= u })
	p := f.pieces[i]
	need := u - p.sum
	if need <= 0 {
		return p.at
	}
	// Solves rate*x + slope*x*x/2 = need, in the form without cancellation and without division by a small slope.
	root := math.Sqrt(max(0, p.rate*p.rate+2*p.slope*need))
	x := p.at + 2*need/(p.rate+root)
	if i+1 < len(f.pieces) { // a rounding error must not reach into the next piece, or time would run backwards at its start
		x = min(x, f.pieces[i+1].at)
	}
	return x
}

// find returns the index of the last piece for which the monotonic condition holds, 0 if none.
func (f *rateCurve) find(holds func(piece) bool) int {
	lo, hi := 0, len(f.pieces)
	for lo < hi {
		mid := (lo + hi) / 2
		if holds(f.pieces[mid]) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return max(0, lo-1)
}
