package dataset

import (
	"math"

	"aiperf/internal/rng"
)

// Distribution is a normal distribution of whole numbers; without a deviation it is the mean.
type Distribution struct {
	Mean   int
	StdDev int
	Shape  *Shape // what a mean and a deviation do not tell; nil: nothing. Mean is its mean then, cut
}

// Fixed reports whether every draw is the mean, and none takes from the stream.
func (d *Distribution) Fixed() bool { return d.Shape == nil && d.StdDev <= 0 }

// Draw draws a count, at least 1: the ceiling of a number that is not negative.
func (d *Distribution) Draw(r *rng.Stream) int { return d.DrawLess(r, 0) }

// DrawLess draws around a mean that is lowered by a cost. A shape keeps its form, and the cost is taken off what was drawn.
func (d *Distribution) DrawLess(r *rng.Stream, cost int) int {
	if d.Shape == nil {
		return r.PositiveInt(float64(d.Mean-cost), float64(d.StdDev))
	}
	return max(1, int(math.Ceil(d.Shape.Draw(r)))-cost)
}

// Shape is a distribution of numbers from 0 on (spec: config, section 3.4). Which it is, is told by the first of its fields that is set: Peaks,
// Points, Median (log-normal with that median and a mean that is not below it), else normal. A draw outside of Min and Max becomes the nearer one.
type Shape struct {
	Mean, Median, StdDev float64
	Peaks                []Peak
	Points               []Point
	Min, Max             *float64
}

// Peak is one of several distributions, taken with a chance in proportion to its weight.
type Peak struct {
	Shape  Shape
	Weight float64
}

// Point is one of several values, taken with a chance in proportion to its weight.
type Point struct{ Value, Weight float64 }

// Draw draws a number: with peaks or points first which, by one uniform draw, then by the peak's own distribution.
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

// weighted is the index of one of n choices: the first whose weights so far are above a uniform draw of their sum, else the last.
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
