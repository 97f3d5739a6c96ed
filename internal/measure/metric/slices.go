package metric

import (
	"maps"
	"math"
	"slices"
)

// Slice is a part of a run, with the metrics of the requests that started in it.
type Slice struct {
	Index    int // position in the grid; slices without requests are omitted, so indices may have gaps
	Window   Window
	Complete bool // false: the run ended within it
	*Summary
}

// Slices splits the run into slices of a number of seconds, from the first start on. Rates divide by the length of the slice. Only slices with
// requests take time or memory, so the slices may be as short as a nanosecond.
func (r *Reducer) Slices(seconds float64) []Slice {
	if r.rows == 0 || !(seconds > 0) {
		return nil
	}
	step := max(1, int64(math.Round(math.Min(seconds*1e9, math.MaxInt64/4))))
	origin, end := r.set.instant(r.firstStart), r.set.instant(r.lastEnd)
	at := make([]int64, r.rows) // index in the grid of a row's slice
	number := map[int64]int32{} // grid index -> bucket
	start := r.start.Cursor()
	for i := range at {
		at[i] = (r.set.instant(r.base+int64(start.Next())) - origin) / step
		number[at[i]] = 0
	}
	list := make([]Slice, 0, len(number))
	buckets := make([]bucket, 0, len(number))
	for _, k := range slices.Sorted(maps.Keys(number)) {
		w := Window{origin + k*step, origin + (k+1)*step}
		complete := w.To <= end
		w.To = min(w.To, end)
		number[k] = int32(len(list))
		list = append(list, Slice{Index: int(k), Window: w, Complete: complete})
		buckets = append(buckets, bucket{window: w, seconds: float64(w.To-w.From) / 1e9, slice: true})
	}
	of := make([]int32, r.rows)
	for i, k := range at {
		of[i] = number[k]
	}
	for i, s := range r.reduce(of, buckets) {
		list[i].Summary = s
	}
	return list
}
