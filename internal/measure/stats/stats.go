// Package stats contains the arithmetic of the report: exact sums, percentiles and standard deviations, Student intervals, step curves over time, and
// compact columns for millions of values. Definitions: measurement, sections 6 and 12.
package stats

import (
	"math"
	"slices"
)

// Levels are the reported percentiles of a distribution, ascending.
var Levels = [9]float64{1, 5, 10, 25, 50, 75, 90, 95, 99}

// Sum adds floats with a running compensation (Neumaier), so that the result is correct to the last digits in any order.
type Sum struct{ hi, lo float64 }

// Add adds v.
func (s *Sum) Add(v float64) {
	t := s.hi + v
	if math.Abs(s.hi) >= math.Abs(v) {
		s.lo += (s.hi - t) + v
	} else {
		s.lo += (v - t) + s.hi
	}
	s.hi = t
}

// Value returns the sum so far.
func (s *Sum) Value() float64 { return s.hi + s.lo }

// Total returns the compensated sum of v.
func Total(v []float64) float64 {
	var s Sum
	for _, x := range v {
		s.Add(x)
	}
	return s.Value()
}

// Mean returns the arithmetic mean; NaN without values.
func Mean(v []float64) float64 { return Total(v) / float64(len(v)) }

// PopulationStd returns the standard deviation with divisor n.
func PopulationStd(v []float64) float64 { return math.Sqrt(squares(v) / float64(len(v))) }

// SampleStd returns the standard deviation with divisor n-1; 0 for a single value.
func SampleStd(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	return math.Sqrt(squares(v) / float64(len(v)-1))
}

// squares returns the sum of squared distances from the mean.
func squares(v []float64) float64 {
	mean := Mean(v)
	var s Sum
	for _, x := range v {
		s.Add((x - mean) * (x - mean))
	}
	return s.Value()
}

// Percentile interpolates linearly between the two neighbours of position level/100*(n-1) in ascending values; NaN without values.
func Percentile(sorted []float64, level float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return interpolate(level, len(sorted), func(rank int) float64 { return sorted[rank] })
}

// interpolate returns a percentile of n ascending values; at returns the one with a rank.
func interpolate(level float64, n int, at func(rank int) float64) float64 {
	h := level / 100 * float64(n-1)
	i := int(math.Floor(h))
	low := at(i)
	return low + (at(min(i+1, n-1))-low)*(h-float64(i))
}

// Distribution describes a set of values.
type Distribution struct {
	Count    int
	Avg, Sum float64
	Min, Max float64
	Std      float64    // divisor n
	P        [9]float64 // Levels
}

// Describe sorts v in place and describes it. Without values, everything except Count is NaN.
func Describe(v []float64) Distribution {
	n := len(v)
	if n == 0 {
		d := Distribution{Avg: math.NaN(), Sum: math.NaN(), Min: math.NaN(), Max: math.NaN(), Std: math.NaN()}
		for i := range d.P {
			d.P[i] = math.NaN()
		}
		return d
	}
	slices.Sort(v)
	d := Distribution{Count: n, Sum: Total(v), Min: v[0], Max: v[n-1]}
	d.Avg = d.Sum / float64(n)
	if d.Min == d.Max {
		d.Avg = d.Min // equal values have no spread, whatever the rounding error of their sum
	} else {
		d.Std = PopulationStd(v)
	}
	for i, level := range Levels {
		d.P[i] = Percentile(v, level)
	}
	return d
}
