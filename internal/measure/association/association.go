// Package association ranks facts of requests by how strongly they go together with being slow. Neighbouring requests share queues and stalls, so they
// are not independent: the tests here compare the slow requests with themselves moved along the run, which keeps their bunches as they are.
package association

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/stats"
)

// Level is the chance of any false alarm among all facts of a run.
const Level = 0.05

// Smallest useful numbers of requests.
const (
	FewestSlow = 20 // slow requests of a run
	fewestOf   = 10 // slow requests, and others, for which a fact must be known
)

// Fact is something known of the requests of a run.
type Fact struct {
	TwoValued bool
	Values    []float64 // by request, in the order of their starts; NaN = unknown. A two-valued fact has the values 0 and 1.
}

// Side describes a fact among the slow requests or among the others.
type Side struct {
	Known    int     // requests for which the fact is known
	Share    float64 // of a two-valued fact: share with the value 1; of a number: share above 0
	Median   float64
	Quarters [2]float64 // first and third quartile
	Above    float64    // share above the median of the others
	Below    float64    // share below it
}

// Finding is how a fact goes together with being slow.
type Finding struct {
	Fact int // its index
	// Effect is the difference of the shares of a two-valued fact. For a number it is the rank-biserial correlation: the chance that a slow request has the
	// larger value, minus the chance that it has the smaller one (Cureton 1956). Both are from -1 to 1, and 0 means no association.
	Effect     float64
	Low, High  float64 // 95 % interval of the effect
	P, Holm    float64 // p-value; adjusted for all facts of the run
	Slow, Rest Side
}

// Significant reports whether chance does not explain the association.
func (f *Finding) Significant() bool { return f.Holm <= Level }

// Rank returns a finding for every fact that can be tested, the strongest first: significant ones, then the others. more are p-values of further
// tests of the same run, which the correction for several tests covers; their adjusted values are returned.
func Rank(slow []bool, facts []Fact, more ...float64) ([]Finding, []float64) {
	var list []Finding
	for i := range facts {
		if f, ok := test(slow, &facts[i]); ok {
			f.Fact = i
			list = append(list, f)
		}
	}
	p := make([]float64, 0, len(list)+len(more))
	for i := range list {
		p = append(p, list[i].P)
	}
	adjusted := comparison.Holm(append(p, more...))
	for i := range list {
		list[i].Holm = adjusted[i]
	}
	sorting.Stable(list, func(a, b Finding) int {
		if a.Significant() != b.Significant() {
			if a.Significant() {
				return -1
			}
			return 1
		}
		return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect))
	})
	return list, adjusted[len(p):]
}

// test tests one fact; false if it is known of too few requests, or is the same for all.
func test(slow []bool, fact *Fact) (f Finding, ok bool) {
	var v []float64
	var is []bool
	for i, x := range fact.Values {
		if !math.IsNaN(x) {
			v, is = append(v, x), append(is, slow[i])
		}
	}
	var of [2][]float64 // the others, the slow ones
	for i, x := range v {
		k := 0
		if is[i] {
			k = 1
		}
		of[k] = append(of[k], x)
	}
	if len(of[0]) < fewestOf || len(of[1]) < fewestOf || slices.Min(v) == slices.Max(v) {
		return f, false
	}
	slices.Sort(of[0])
	slices.Sort(of[1])
	middle := stats.Percentile(of[0], 50)
	f.Rest, f.Slow = side(of[0], middle), side(of[1], middle)
	place := newPlaces(of[0], of[1], v, is)
	f.Effect = 2*place.area - 1
	f.Low, f.High = place.interval(is)
	f.P = chanceOf(is, ranks(v))
	return f, true
}

// ranks returns the centred mid-ranks of values: their mean is 0.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out, middle := make([]float64, len(v)), float64(len(v)-1)/2
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && v[order[to]] == v[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to-1)/2 - middle
		}
		from = to
	}
	return out
}
