package servermetrics

import (
	"math"
	"slices"

	"aiperf/internal/stats"
)

// mostObservations is how many are placed at most; a histogram of more is scaled down.
const mostObservations = 100_000

// histogram is what a histogram grew by, for the estimate of its percentiles: observations in each bucket (not cumulative), the bounds
// (the last may be +Inf) and the sum of all.
type histogram struct {
	bounds []float64
	counts []float64
	sum    float64
	means  [][]observed // what is known of the place of observations, by bucket
}

// observed are observations that came together, all in one bucket: their mean.
type observed struct{ mean, count float64 }

// placed are the observations of one finite bucket.
type placed struct {
	low, high float64
	sum       float64
	values    []float64
}

// estimate tells percentiles of a histogram (stats.Levels); false if it does not allow for it. Steps: telemetry, section 2.7, after "polynomial
// histograms" (arXiv 2504.00001): means of buckets are learned, what lies beyond the last bound follows from the sum, the rest is placed so that
// the sum is kept.
func (h *histogram) estimate() (p [9]float64, ok bool) {
	total := 0.0
	for _, n := range h.counts {
		if !(n >= 0) { // a bucket with fewer observations than the one below: this is no histogram
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
	scale := min(1, mostObservations/total)
	sum := h.sum * scale
	var groups []placed
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

// place puts n observations into bucket i; nil if there are none.
func (h *histogram) place(i, n int, total float64) *placed {
	if n <= 0 {
		return nil
	}
	low := 0.0
	if i > 0 {
		low = h.bounds[i-1]
	}
	g := &placed{low: min(low, h.bounds[i]), high: h.bounds[i]}
	centre := (g.low + g.high) / 2
	mean, variance := learned(h.means[i])
	if !(g.low < mean && mean < g.high) {
		mean = math.NaN()
	}
	if h.counts[i] >= 0.95*total { // nearly all are here: their mean is that of all
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

// around places n observations by their mean and variance.
func (g *placed) around(mean, variance float64, n int) []float64 {
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

// twoPoints places observations at the lower edge and at one other point so that mean and variance are kept.
func (g *placed) twoPoints(mean, variance float64, n int) []float64 {
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

// shifted moves the observations by their bucket's share of what is missing from the sum, each by 0.4 of the width at most.
func (g *placed) shifted(rest, inside float64) []float64 {
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

// learned is the mean of observations in a bucket, NaN = unknown, and the variance of those means, NaN = fewer than three are known.
func learned(list []observed) (mean, variance float64) {
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

// tail places n observations beyond the last bound that sum up to sum.
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

// evenly are n values between two bounds, each in the middle of its share.
func evenly(low, high float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = low + (high-low)*(float64(i)+0.5)/float64(n)
	}
	return v
}
