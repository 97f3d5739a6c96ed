package stats

import (
	"maps"
	"math"
	"slices"
)

// weightBits is the number of mantissa bits that select a bucket of Weights: 0.006 % relative width.
const weightBits = 14

// pageBits is the number of those bits that select a bucket of a page. The values of a page differ by at most 6 %.
const pageBits = 10

// Weights describes segments of a curve that are too many to be stored. Averages, extremes and standard deviations are exact. A percentile is the
// smallest value of its bucket, at most 0.006 % below the exact one. The zero value has no segments.
type Weights struct {
	total        int64
	sum, squares Sum
	min, max     float64
	pages        map[uint64]*weightPage // by the first bits of the values
	last         *weightPage            // that of the last value
	key          uint64                 // its key
}

// weightPage is the buckets of the values with the same first bits: for how long the curve had such a value, and the smallest one.
type weightPage struct {
	ns    [1 << pageBits]int64
	least [1 << pageBits]float64
}

// Add adds segments.
func (w *Weights) Add(list []Segment) {
	for _, x := range list {
		if w.total == 0 {
			w.pages, w.min, w.max = map[uint64]*weightPage{}, x.V, x.V
		}
		w.min, w.max = min(w.min, x.V), max(w.max, x.V)
		w.total += x.Dt
		w.sum.Add(float64(x.Dt) * x.V)
		w.squares.Add(float64(x.Dt) * x.V * x.V)
		at := ordered(x.V) >> (52 - weightBits)
		if key := at >> pageBits; w.last == nil || key != w.key {
			if w.pages[key] == nil {
				w.pages[key] = new(weightPage)
			}
			w.last, w.key = w.pages[key], key
		}
		i := at & (1<<pageBits - 1)
		if w.last.ns[i] == 0 || x.V < w.last.least[i] {
			w.last.least[i] = x.V
		}
		w.last.ns[i] += x.Dt
	}
}

// Describe describes all segments, with each value weighted by its duration. If there are none, everything is 0.
func (w *Weights) Describe() TimeWeighted {
	if w.total <= 0 {
		return TimeWeighted{}
	}
	all := float64(w.total)
	d := TimeWeighted{Avg: w.sum.Value() / all, Min: w.min, Max: w.max}
	d.Std = math.Sqrt(max(0, w.squares.Value()/all-d.Avg*d.Avg))
	levels := [...]struct {
		share float64
		to    *float64
	}{{0.5, &d.P50}, {0.9, &d.P90}, {0.95, &d.P95}, {0.99, &d.P99}}
	next, passed := 0, int64(0)
	for _, key := range slices.Sorted(maps.Keys(w.pages)) {
		page := w.pages[key]
		for i, ns := range page.ns[:] {
			if passed += ns; ns == 0 {
				continue
			}
			for ; next < len(levels) && float64(passed)/all >= levels[next].share; next++ {
				*levels[next].to = page.least[i]
			}
		}
	}
	return d
}
