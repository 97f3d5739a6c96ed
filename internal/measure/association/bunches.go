package association

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
)

// draws is the number of random orders that Bunching compares with.
const draws = 1000

// mostSlow bounds the slow requests that Bunching looks at, for its time.
const mostSlow = 2000

// Bunches returns the number of bunches of slow requests: slow requests that are close to each other belong to one.
func Bunches(slow []bool) (n int) {
	k := 0
	for _, is := range slow {
		if is {
			k++
		}
	}
	if k == 0 {
		return 0
	}
	last, near := -len(slow), closeness(len(slow), k)
	for i, is := range slow {
		if is {
			if i-last > near {
				n++
			}
			last = i
		}
	}
	return n
}

// closeness returns how far apart two close ones of k slow requests are at most: a quarter of their mean distance, at least next to each other.
func closeness(n, k int) int { return max(1, n/k/4) }

// Bunching returns the p-value of the hypothesis that slow requests are spread over the run at random. Its statistic is the number of pairs of slow
// requests that are close.
func Bunching(slow []bool) float64 {
	n := len(slow)
	var at []int
	for i, is := range slow {
		if is {
			at = append(at, i)
		}
	}
	if len(at) < 2 || len(at) == n {
		return 1
	}
	if len(at) > mostSlow {
		at = at[:mostSlow]
		n = at[mostSlow-1] + 1
	}
	near := closeness(n, len(at))
	r := rand.New(rand.NewPCG(uint64(n), uint64(len(at))))
	all := make([]float64, draws)
	other, chosen := make([]int, len(at)), make([]bool, n)
	for j := range all {
		draw(r, other, chosen)
		all[j] = pairs(other, near)
	}
	return randomTail(pairs(at, near), all)
}

// randomTail returns the one-sided p-value of a value among values of independent draws.
func randomTail(observed float64, all []float64) float64 {
	extreme := 0
	for _, v := range all {
		if v >= observed {
			extreme++
		}
	}
	if extreme > 0 {
		return float64(extreme+1) / float64(len(all)+1)
	}
	mean := stats.Mean(all)
	for i := range all {
		all[i] -= mean
	}
	return min(1/float64(len(all)+1), tail(observed-mean, all, math.Inf(1)))
}

// draw sets at to different random positions, in order. chosen has one element for each position, all false.
func draw(r *rand.Rand, at []int, chosen []bool) {
	n, k := len(chosen), len(at)
	for j := n - k; j < n; j++ { // Floyd's algorithm
		i := r.IntN(j + 1)
		if chosen[i] {
			i = j
		}
		chosen[i] = true
		at[j-n+k] = i
	}
	slices.Sort(at)
	for _, i := range at {
		chosen[i] = false
	}
}

// pairs counts the pairs of positions that are at most near apart.
func pairs(at []int, near int) float64 {
	sum, from := 0, 0
	for i := range at {
		for at[i]-at[from] > near {
			from++
		}
		sum += i - from
	}
	return float64(sum)
}

// Stretch is a part of the run in which slow requests came together. From and To are instants in the unit of the starts.
type Stretch struct {
	From, To   int64
	Slow, Rest int
}

// slices of the run, and the share of the slow requests that the stretches shall contain.
const (
	parts   = 50
	covered = 0.8
)

// Stretches returns the parts of the run that contain most of the slow requests, in order: the fewest of 50 equal slices with 80 % of them, neighbouring
// ones joined. starts are in order.
func Stretches(starts []int64, slow []bool) []Stretch {
	first, last := starts[0], starts[len(starts)-1]
	span := max(1, last-first)
	edge := func(i int) int64 { return first + int64(float64(span)*float64(i)/parts) }
	all := make([]Stretch, parts)
	total := 0
	for i := range all {
		all[i].From, all[i].To = edge(i), edge(i+1)
	}
	for i, at := range starts {
		s := &all[min(parts-1, int(float64(at-first)/float64(span)*parts))]
		if slow[i] {
			s.Slow++
			total++
		} else {
			s.Rest++
		}
	}
	order := slices.Clone(all)
	sorting.Stable(order, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(b.Slow, a.Slow), cmp.Compare(a.Rest, b.Rest), cmp.Compare(a.From, b.From))
	})
	have, n := 0, 0
	for float64(have) < covered*float64(total) {
		have += order[n].Slow
		n++
	}
	chosen := order[:n]
	sorting.Sort(chosen, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
	var out []Stretch
	for _, s := range chosen {
		if k := len(out) - 1; k >= 0 && out[k].To == s.From {
			out[k].To, out[k].Slow, out[k].Rest = s.To, out[k].Slow+s.Slow, out[k].Rest+s.Rest
			continue
		}
		out = append(out, s)
	}
	return out
}
