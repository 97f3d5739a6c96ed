package servermetrics

import (
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// Slice is a part of the run with its figures. Instants are wall time in ns.
type Slice struct {
	Start, End int64
	Stats      []Stat
	Buckets    []Count
	Partial    bool // the run ended within it
}

func (s *Slice) stat(key string, v float64) { s.Stats = append(s.Stats, Stat{Key: key, Value: v}) }

// maxSlices limits the number of slices.
const maxSlices = 100_000

// emptySlices returns the empty slices of a window, each seconds long; the last may be shorter.
func emptySlices(w Window, seconds float64) (out []Slice) {
	length := int64(seconds * 1e9)
	if length <= 0 || (w.To-w.From)/length >= maxSlices {
		return nil
	}
	for from := w.From; from < w.To; from += length {
		out = append(out, Slice{Start: from, End: min(from+length, w.To), Partial: from+length > w.To})
	}
	return out
}

// upTo returns the position of the last sample at or before an instant; the first if there is none.
func (s *span) upTo(at int64) int {
	i, found := slices.BinarySearch(s.at, at)
	if !found {
		i--
	}
	return max(i, 0)
}

func (t *series) gaugeSlices(s *span, seconds float64) (out []Slice) {
	all := emptySlices(s.window, seconds)
	for k, one := range all {
		var values []float64
		for i, at := range s.at {
			if at >= one.Start && (at < one.End || k == len(all)-1 && at == one.End) {
				values = append(values, t.value.At(s.rows[i]))
			}
		}
		if len(values) == 0 {
			continue
		}
		one.stat("avg", stats.Mean(values))
		one.stat("min", slices.Min(values))
		one.stat("max", slices.Max(values))
		out = append(out, one)
	}
	return out
}

// counterSlices also computes the spread of the rates of complete slices.
func (t *series) counterSlices(out *Series, s *span, values []float64, seconds float64) {
	if len(values) < 2 {
		return
	}
	var rates []float64
	for _, one := range emptySlices(s.window, seconds) {
		a, b := s.upTo(one.Start), s.upTo(one.End)
		total, reset := increase(values[a : b+1])
		if reset {
			continue
		}
		rate := per(total, float64(one.End-one.Start)/1e9)
		one.stat("total", total)
		one.stat("rate", rate)
		out.Slices = append(out.Slices, one)
		if !one.Partial {
			rates = append(rates, rate)
		}
	}
	if len(rates) == 0 {
		return
	}
	out.stat("rate_avg", stats.Mean(rates))
	out.stat("rate_min", slices.Min(rates))
	out.stat("rate_max", slices.Max(rates))
	out.stat("rate_std", stats.SampleStd(rates))
}

func (t *series) histogramSlices(s *span, seconds float64) (out []Slice) {
	if len(s.rows) < 2 {
		return nil
	}
	for _, one := range emptySlices(s.window, seconds) {
		a, b := s.upTo(one.Start), s.upTo(one.End)
		g := t.growth(s.rows[a : b+1])
		if g.reset {
			continue
		}
		mean := 0.0
		if g.count > 0 {
			mean = g.sum / g.count
		}
		one.Stats = []Stat{{Key: "count", Value: math.Trunc(g.count), Whole: true}, {Key: "sum", Value: g.sum}, {Key: "avg", Value: mean}}
		if !t.changedBounds {
			one.Buckets = t.buckets(g.buckets)
		}
		out = append(out, one)
	}
	return out
}
