package chart

import (
	"fmt"
	"math"
)

// Limits for the points of a trace in a page, so that a canvas can redraw them smoothly. Images and the dump have all points.
const (
	maxPoints  = 20_000 // for markers, and for short lines of one style
	maxBuckets = 2_500  // for a line: each bucket keeps its first, lowest, highest and last point, so that the shape is the same to the pixel
)

// thinned returns the traces with fewer points if there are many, and a note that says what was omitted.
func thinned(list []Trace) (out []Trace, note string) {
	most := 1
	short := 0
	for i := range list {
		if len(list[i].X) <= 2 {
			short++
		}
	}
	every := (short + 2*maxPoints - 1) / (2 * maxPoints) // a request consists of two lines
	for i := range list {
		t := &list[i]
		switch {
		case len(t.X) <= 2 && every > 1:
			most = max(most, every)
			if i/2%every == 0 || !t.Unlisted {
				out = append(out, *t)
			}
		case t.Mode == Markers && len(t.X) > maxPoints:
			k := (len(t.X) + maxPoints - 1) / maxPoints
			most = max(most, k)
			var keep []int
			for j := 0; j < len(t.X); j += k {
				keep = append(keep, j)
			}
			out = append(out, t.at(keep))
		case t.Mode == Lines && t.Fill != ToSelf && len(t.X) > 4*maxBuckets:
			out = append(out, t.at(t.outline()))
		default:
			out = append(out, *t)
		}
	}
	if most > 1 {
		note = fmt.Sprintf("One in %d requests is drawn here, but images show all of them. Lines and figures include all requests.", most)
	}
	return out, note
}

// outline returns the points that make the shape of a line: the first, lowest, highest and last of every bucket of neighbours. Gaps stay.
func (t *Trace) outline() []int {
	var keep []int
	n := len(t.X)
	for b := range maxBuckets {
		from, to := b*n/maxBuckets, (b+1)*n/maxBuckets
		low, high, gap := from, from, -1
		for i := from; i < to; i++ {
			switch {
			case math.IsNaN(t.Y[i]):
				gap = i
			case math.IsNaN(t.Y[low]) || t.Y[i] < t.Y[low]:
				low = i
			}
			if !math.IsNaN(t.Y[i]) && (math.IsNaN(t.Y[high]) || t.Y[i] > t.Y[high]) {
				high = i
			}
		}
		for i := from; i < to; i++ {
			if i == from || i == low || i == high || i == gap || i == to-1 {
				keep = append(keep, i)
			}
		}
	}
	return keep
}

// at returns the trace with only some of its points.
func (t *Trace) at(keep []int) Trace {
	out := *t
	out.X, out.Y, out.ErrorX, out.ErrorY, out.Shade = picked(t.X, keep), picked(t.Y, keep), picked(t.ErrorX, keep), picked(t.ErrorY, keep), picked(t.Shade, keep)
	out.Text, out.Hover, out.Key = picked(t.Text, keep), picked(t.Hover, keep), picked(t.Key, keep)
	return out
}

// picked returns some elements of a list; nil for a nil list.
func picked[E any](list []E, keep []int) []E {
	if list == nil {
		return nil
	}
	out := make([]E, len(keep))
	for i, k := range keep {
		out[i] = list[k]
	}
	return out
}
