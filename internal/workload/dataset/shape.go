package dataset

import (
	"math"

	"aiperf/internal/base/rng"
)

// Distribution is a normal distribution of integers. With StdDev 0 it always gives the mean.
type Distribution struct {
	Mean   int
	StdDev int
	Shape  *Shape // replaces the normal distribution; nil = none. Mean is then its mean, rounded down
}

// Fixed reports whether every draw is the mean. Such a draw takes nothing from the random stream.
func (d *Distribution) Fixed() bool { return d.Shape == nil && d.StdDev <= 0 }

// Draw draws a count, at least 1. It rounds up a non-negative number.
func (d *Distribution) Draw(r *rng.Stream) int { return d.DrawLess(r, 0) }

// DrawLess draws with a mean that is lowered by cost. With a Shape, cost is subtracted from the drawn number instead.
func (d *Distribution) DrawLess(r *rng.Stream, cost int) int {
	if d.Shape == nil {
		return r.PositiveInt(float64(d.Mean-cost), float64(d.StdDev))
	}
	return max(1, int(math.Ceil(d.Shape.Draw(r)))-cost)
}

// Shape is a distribution of non-negative numbers (spec: config, section 3.4). The first field that is set selects the kind: Peaks, Points or Median,
// else normal. Median gives a log-normal distribution with this median; the mean must not be below it. A draw is clamped to Min and Max.
type Shape struct {
	Mean, Median, StdDev float64
	Peaks                []Peak
	Points               []Point
	Min, Max             *float64
}

// Peak is one component of a mixture. It is chosen with a probability in proportion to its weight.
type Peak struct {
	Shape  Shape
	Weight float64
}

// Point is one value of a discrete distribution. It is chosen with a probability in proportion to its weight.
type Point struct{ Value, Weight float64 }

// Draw draws a number. With Peaks or Points, one uniform draw chooses the component first; a peak then draws from its own Shape.
func (s *Shape) Draw(r *rng.Stream) float64 {
	x := s.raw(r)
	if s.Min != nil {
		x = max(x, *s.Min)
	}
	if s.Max != nil {
		x = min(x, *s.Max)
	}
	return x
}

func (s *Shape) raw(r *rng.Stream) float64 {
	switch {
	case len(s.Peaks) > 0:
		k := weighted(r, len(s.Peaks), func(i int) float64 { return s.Peaks[i].Weight })
		return s.Peaks[k].Shape.Draw(r)
	case len(s.Points) > 0:
		return s.Points[weighted(r, len(s.Points), func(i int) float64 { return s.Points[i].Weight })].Value
	case s.Median > 0 && s.Median < s.Mean:
		return math.Exp(r.Gauss(math.Log(s.Median), math.Sqrt(2*math.Log(s.Mean/s.Median))))
	case s.Median > 0 || s.StdDev <= 0:
		return s.Mean
	}
	return r.NonNegative(s.Mean, s.StdDev)
}

// weighted chooses one of n indices by weight with one uniform draw. It returns the last index if rounding leaves none.
func weighted(r *rng.Stream, n int, weight func(int) float64) int {
	total := 0.0
	for i := range n {
		total += weight(i)
	}
	at, sum := r.Float64()*total, 0.0
	for i := range n {
		if sum += weight(i); at < sum {
			return i
		}
	}
	return n - 1
}
