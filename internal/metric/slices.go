package metric

import "math"

// Slice is a stretch of a run with the metrics of the requests that started in it.
type Slice struct {
	Index    int // position in the grid; slices without requests are left out, so indices may have gaps
	Window   Window
	Complete bool // false: the run ended within it
	*Summary
}

// Slices cuts the run into a grid of seconds from the first start on. Rates divide by the length of the slice.
func (r *Reducer) Slices(seconds float64) []Slice {
	step := int64(math.Round(seconds * 1e9))
	if r.rows == 0 || step <= 0 {
		return nil
	}
	origin := r.set.instant(r.firstStart)
	end := r.set.instant(r.lastEnd)
	of := make([]int32, r.rows)
	number := map[int]int32{} // grid position -> bucket
	start := r.start.Cursor()
	for i := range of {
		of[i] = int32((r.set.instant(r.base+int64(start.Next())) - origin) / step)
	}
	var grid []bool
	for _, k := range of {
		for int(k) >= len(grid) {
			grid = append(grid, false)
		}
		grid[k] = true
	}
	var list []Slice
	var buckets []bucket
	for k, used := range grid {
		if !used {
			continue
		}
		w := Window{origin + int64(k)*step, origin + int64(k+1)*step}
		complete := w.To <= end
		w.To = min(w.To, end)
		number[k] = int32(len(list))
		list = append(list, Slice{Index: k, Window: w, Complete: complete})
		buckets = append(buckets, bucket{window: w, seconds: float64(w.To-w.From) / 1e9, slice: true})
	}
	for i, k := range of {
		of[i] = number[int(k)]
	}
	for i, s := range r.reduce(of, buckets) {
		list[i].Summary = s
	}
	return list
}
