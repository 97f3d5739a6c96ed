package stats

import (
	"math"
	"slices"
)

// exactSamples is the number of values that a sketch stores exactly.
const exactSamples = 4096

// bucketBits is the number of mantissa bits that select a bucket: 0.1 % relative width.
const bucketBits = 10

// Sketch is a distribution that can be read while it grows. It is exact up to 4096 values. Then it counts values in buckets whose midpoint differs
// from its values by at most 0.05 %. The zero value is empty. It takes 32 KB, later some pages of 4 KB, for any number of values. NaN is ignored.
type Sketch struct {
	Count    int64
	Min, Max float64
	sum      Sum
	mean     float64 // updated incrementally, for the standard deviation
	squares  float64
	sorted   []float64                           // used while there are few values
	pages    map[uint64]*[1 << bucketBits]uint32 // by sign and exponent of the values; nil while values are exact
	order    []uint64                            // keys of pages, ascending
	zeros    int64
}

// Add counts one value.
func (s *Sketch) Add(v float64) {
	if math.IsNaN(v) {
		return
	}
	if s.Count++; s.Count == 1 {
		s.Min, s.Max = v, v
	}
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	s.sum.Add(v)
	off := v - s.mean
	s.mean += off / float64(s.Count)
	s.squares += off * (v - s.mean)
	switch {
	case s.pages != nil:
		s.bucket(v)
	case len(s.sorted) < exactSamples:
		at, _ := slices.BinarySearch(s.sorted, v)
		s.sorted = slices.Insert(s.sorted, at, v)
	default:
		s.pages = map[uint64]*[1 << bucketBits]uint32{}
		for _, old := range s.sorted {
			s.bucket(old)
		}
		s.sorted = nil
		s.bucket(v)
	}
}

func (s *Sketch) bucket(v float64) {
	if v == 0 {
		s.zeros++
		return
	}
	at := ordered(v) >> (52 - bucketBits)
	key := at >> bucketBits
	page := s.pages[key]
	if page == nil {
		page = new([1 << bucketBits]uint32)
		s.pages[key] = page
		at, _ := slices.BinarySearch(s.order, key)
		s.order = slices.Insert(s.order, at, key)
	}
	page[at&(1<<bucketBits-1)]++
}

// sign is the sign bit of a float64.
const sign = 1 << 63

// ordered maps a number to an integer with the same order.
func ordered(v float64) uint64 {
	b := math.Float64bits(v)
	if b&sign != 0 {
		return ^b
	}
	return b | sign
}

// fromOrdered is the inverse of ordered.
func fromOrdered(b uint64) float64 {
	if b&sign != 0 {
		return math.Float64frombits(b &^ sign)
	}
	return math.Float64frombits(^b)
}

// Each calls visit for the values in ascending order. The values of a bucket are visited together, as its midpoint.
func (s *Sketch) Each(visit func(v float64, n int64) bool) {
	for _, v := range s.sorted {
		if !visit(v, 1) {
			return
		}
	}
	zeros := s.zeros
	for _, key := range s.order {
		if zeros > 0 && key >= sign>>52 {
			if !visit(0, zeros) {
				return
			}
			zeros = 0
		}
		if !s.page(key, visit) {
			return
		}
	}
	if zeros > 0 {
		visit(0, zeros)
	}
}

// page visits the buckets of a page; false if the visitor stops.
func (s *Sketch) page(key uint64, visit func(v float64, n int64) bool) bool {
	for i, n := range s.pages[key] {
		if n == 0 {
			continue
		}
		low := (key<<bucketBits | uint64(i)) << (52 - bucketBits)
		from, to := fromOrdered(low), fromOrdered(low+(1<<(52-bucketBits)-1))
		if !visit(min(max(from/2+to/2, s.Min), s.Max), int64(n)) {
			return false
		}
	}
	return true
}

// Percentiles returns the values at ascending levels (0 to 100), interpolated as in Percentile; NaN without values.
func (s *Sketch) Percentiles(levels ...float64) []float64 {
	out := make([]float64, len(levels))
	if s.pages == nil {
		for i, l := range levels {
			out[i] = Percentile(s.sorted, l)
		}
		return out
	}
	at := func(l float64) float64 { return l / 100 * float64(s.Count-1) }
	next, seen, last := 0, int64(0), s.Min
	s.Each(func(v float64, n int64) bool {
		for next < len(levels) && at(levels[next]) <= float64(seen+n-1) {
			share := 1.0
			if h := at(levels[next]); h < float64(seen) { // between the previous value and this one
				share = h - math.Floor(h)
			}
			out[next] = last + (v-last)*share
			next++
		}
		seen, last = seen+n, v
		return next < len(levels)
	})
	return out
}

// Mean returns the exact mean; NaN without values.
func (s *Sketch) Mean() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return s.sum.Value() / float64(s.Count)
}

// Std returns the standard deviation with divisor n; NaN without values.
func (s *Sketch) Std() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return math.Sqrt(s.squares / float64(s.Count))
}

// Total returns the exact sum.
func (s *Sketch) Total() float64 { return s.sum.Value() }
