package chart

import (
	"math"
	"slices"
)

// joined merges many short lines of one style into one trace with gaps. A page can draw one trace of 50,000 requests, but not 100,000 traces of two
// points. Joining loses the drawing order (z-order) between the joined lines.
func joined(list []Trace) []Trace {
	type look struct {
		name, kind, mode string
		second           bool
		style            Style
	}
	at := map[look]int{}
	var out []Trace
	for i := range list {
		t := list[i]
		plain := t.Mode == Lines && t.Text == nil && t.ErrorX == nil && t.ErrorY == nil && t.Shade == nil && t.Fill == "" && len(t.X) <= 2
		key := look{t.Name, t.Kind, t.Mode, t.Second, t.Style}
		k, known := at[key]
		if !plain || !known {
			if plain {
				at[key] = len(out)
				t.X, t.Y, t.Hover, t.Key = slices.Clone(t.X), slices.Clone(t.Y), slices.Clone(t.Hover), slices.Clone(t.Key)
			}
			out = append(out, t)
			continue
		}
		to := &out[k]
		had := len(to.X)
		to.X, to.Y = append(append(to.X, math.NaN()), t.X...), append(append(to.Y, math.NaN()), t.Y...)
		to.Hover, to.Key = texts(to.Hover, had, t.Hover, len(t.X)), texts(to.Key, had, t.Key, len(t.X))
		to.Unlisted = to.Unlisted && t.Unlisted
	}
	return out
}

// texts joins the texts of had points, of a gap, and of n more points; nil if neither list has any.
func texts(a []string, had int, b []string, n int) []string {
	if a == nil && b == nil {
		return nil
	}
	if a == nil {
		a = make([]string, had)
	}
	if b == nil {
		b = make([]string, n)
	}
	return append(append(a, ""), b...)
}
