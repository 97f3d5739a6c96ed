package stats

import (
	"math"
	"slices"
)

// exactSamples is how many values a sketch keeps as they are.
const exactSamples = 4096

// bucketBits is the number of bits of the mantissa that choose a bucket: 0.1 % relative width.
const bucketBits = 10

// Sketch is a distribution that grows while it is read: exact up to 4096 values, then counts in buckets whose middle is at most 0.05 % away
// from its values. The zero value is empty. It takes room for some buckets of 4 KB, whatever the number of values. NaN is ignored.
type Sketch struct {
	Count    int64
	Min, Max float64
	sum      Sum
	mean     float64 // running, for the spread
	squares  float64
	sorted   []float64                           // while there are few values
	pages    map[uint64]*[1 << bucketBits]uint32 // by sign and exponent of the values; nil while they are exact
	order    []uint64                            // the pages' keys, ascending
	zeros    int64                               // values that are zero or negative
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
	if v <= 0 {
		s.zeros++
		return
	}
	bits := math.Float64bits(v) >> (52 - bucketBits)
	key := bits >> bucketBits
	page := s.pages[key]
	if page == nil {
		page = new([1 << bucketBits]uint32)
		s.pages[key] = page
		at, _ := slices.BinarySearch(s.order, key)
		s.order = slices.Insert(s.order, at, key)
	}
	page[bits&(1<<bucketBits-1)]++
}

// Each visits the values in ascending order: those of a bucket together, as its middle.
func (s *Sketch) Each(visit func(v float64, n int64) bool) {
	for _, v := range s.sorted {
		if !visit(v, 1) {
			return
		}
	}
	if s.zeros > 0 && !visit(min(s.Min, 0), s.zeros) {
		return
	}
	for _, key := range s.order {
		for i, n := range s.pages[key] {
			if n == 0 {
				continue
			}
			low := key<<bucketBits | uint64(i)
			from, to := math.Float64frombits(low<<(52-bucketBits)), math.Float64frombits((low+1)<<(52-bucketBits))
			if !visit(min(max((from+to)/2, s.Min), s.Max), int64(n)) {
				return
			}
		}
	}
}

// Percentiles are the values at ascending levels (0 to 100), interpolated as Percentile does; NaN of nothing.
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
			if h := at(levels[next]); h < float64(seen) { // between the last value and this one
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

// Mean is the exact mean; NaN of nothing.
func (s *Sketch) Mean() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return s.sum.Value() / float64(s.Count)
}

// Std is the standard deviation with divisor n; NaN of nothing.
func (s *Sketch) Std() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return math.Sqrt(s.squares / float64(s.Count))
}

// Total is the exact sum.
func (s *Sketch) Total() float64 { return s.sum.Value() }
