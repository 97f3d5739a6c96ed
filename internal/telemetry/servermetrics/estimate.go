package servermetrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// maxObservations is the largest number of observations that are placed; a larger histogram is scaled down.
const maxObservations = 100_000

// histogram is the growth of a histogram, for the estimate of its percentiles: observations in each bucket (not cumulative), the bounds (the last may
// be +Inf) and the sum of all.
type histogram struct {
	bounds []float64
	counts []float64
	sum    float64
	means  [][]observedGroup // what is known about the position of observations, by bucket
}

// observedGroup is the mean of observations that arrived together, all in one bucket.
type observedGroup struct{ mean, count float64 }

// bucketObservations holds the observations of one finite bucket.
type bucketObservations struct {
	low, high float64
	sum       float64
	values    []float64
}

// estimate returns percentiles of a histogram (stats.Levels); false if that is impossible. Steps: telemetry, section 2.7, after "polynomial
// histograms" (arXiv 2504.00001): the means of buckets are learned, observations beyond the last bound follow from the sum, and the rest is placed so
// that the sum is preserved.
func (h *histogram) estimate() (p [9]float64, ok bool) {
	total := 0.0
	for _, n := range h.counts {
		if !(n >= 0) { // a cumulative bucket below the previous one: the histogram is invalid
			return p, false
		}
		total += n
	}
	finite := len(h.bounds)
	if finite > 0 && math.IsInf(h.bounds[finite-1], 1) {
		finite--
	}
	switch {
	case finite == 0 || total <= 0 || math.IsInf(total, 1) || !(h.sum >= 0) || math.IsInf(h.sum, 1):
		return p, false
	case h.sum == 0:
		return p, true
	}
	scale := min(1, maxObservations/total)
	sum := h.sum * scale
	var groups []bucketObservations
	inside := 0.0
	for i := range finite {
		if g := h.place(i, int(h.counts[i]*scale), total); g != nil {
			groups = append(groups, *g)
			inside += g.sum
		}
	}
	beyond := 0
	if finite < len(h.bounds) {
		beyond = int(h.counts[finite] * scale)
	}
	all := tail(h.bounds[finite-1], sum-inside, beyond)
	rest := sum - stats.Total(all) - inside
	for _, g := range groups {
		all = append(all, g.shifted(rest, inside)...)
	}
	if len(all) == 0 {
		return p, false
	}
	slices.Sort(all)
	for i, level := range stats.Levels {
		p[i] = stats.Percentile(all, level)
	}
	return p, true
}

// place places n observations in bucket i; nil if there are none.
func (h *histogram) place(i, n int, total float64) *bucketObservations {
	if n <= 0 {
		return nil
	}
	low := 0.0
	if i > 0 {
		low = h.bounds[i-1]
	}
	g := &bucketObservations{low: min(low, h.bounds[i]), high: h.bounds[i]}
	centre := (g.low + g.high) / 2
	mean, variance := learned(h.means[i])
	if !(g.low < mean && mean < g.high) {
		mean = math.NaN()
	}
	if h.counts[i] >= 0.95*total { // nearly all observations are here, so their mean is that of all
		mean = min(max(h.sum/total, g.low), g.high)
	}
	switch {
	case math.IsNaN(mean):
		g.sum, g.values = float64(n)*centre, evenly(g.low, g.high, n)
	case math.IsNaN(variance):
		g.values = evenly(g.low+mean-centre, g.high+mean-centre, n)
	default:
		g.values = g.around(mean, variance, n)
	}
	if !math.IsNaN(mean) {
		g.sum = float64(n) * mean
	}
	for k, v := range g.values {
		g.values[k] = min(max(v, g.low), g.high)
	}
	return g
}

// around places n observations with a given mean and variance.
func (g *bucketObservations) around(mean, variance float64, n int) []float64 {
	width, std := g.high-g.low, math.Sqrt(variance)
	spread := 4 * std / width
	offset := math.Abs(mean-(g.low+g.high)/2) / width
	reach := min(mean-g.low, g.high-mean, 3*std)
	switch {
	case spread < 0.01:
		return g.twoPoints(mean, variance, n)
	case spread < 0.2 && offset < 0.3:
		shift := mean - (g.low+g.high)/2
		v, even := evenly(mean-reach, mean+reach, n), evenly(g.low+shift, g.high+shift, n)
		for i := range v {
			v[i] = (v[i] + min(max(even[i], g.low), g.high)) / 2
		}
		return v
	}
	return evenly(mean-reach, mean+reach, n)
}

// twoPoints places observations at the lower edge and at one other point, so that mean and variance are preserved.
func (g *bucketObservations) twoPoints(mean, variance float64, n int) []float64 {
	distance := mean - g.low
	at, weight := mean, 0.0
	if distance > 0 {
		at = min(mean+variance/distance, g.high)
		weight = variance / (variance + distance*distance)
	}
	v := make([]float64, n)
	edge := int(float64(n) * weight)
	for i := range v {
		v[i] = at
		if i < edge {
			v[i] = g.low
		}
	}
	return v
}

// shifted moves the observations by their bucket's share of the difference to the sum, each by at most 0.4 of the width.
func (g *bucketObservations) shifted(rest, inside float64) []float64 {
	if inside <= 0 {
		return g.values
	}
	most := 0.4 * (g.high - g.low)
	by := min(max(rest*g.sum/inside/float64(len(g.values)), -most), most)
	for i, v := range g.values {
		g.values[i] = min(max(v+by, g.low), g.high)
	}
	return g.values
}

// learned returns the mean of observations in a bucket, NaN = unknown, and the variance of those means, NaN = fewer than three are known.
func learned(list []observedGroup) (mean, variance float64) {
	if len(list) == 0 {
		return math.NaN(), math.NaN()
	}
	sum, n := 0.0, 0.0
	var means []float64
	for _, o := range list {
		sum, n, means = sum+o.mean*o.count, n+o.count, append(means, o.mean)
	}
	if len(means) < 3 {
		return sum / n, math.NaN()
	}
	std := stats.SampleStd(means)
	return sum / n, std * std
}

// tail places n observations beyond the last bound, with the given sum.
func tail(bound, sum float64, n int) []float64 {
	if n <= 0 {
		return nil
	}
	mean := sum / float64(n)
	if mean <= bound {
		mean = 1.5 * bound
	}
	if n == 1 {
		return []float64{mean}
	}
	high := 2*mean - bound
	if high <= bound {
		high = 2 * bound
	}
	return evenly(bound, high, n)
}

// evenly returns n values between two bounds, each in the middle of its share.
func evenly(low, high float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = low + (high-low)*(float64(i)+0.5)/float64(n)
	}
	return v
}
