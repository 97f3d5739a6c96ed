package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestThinned: of many points every k-th, with a note; a line keeps its ends, extremes and gaps; short lines go by requests; few stay as they are.
func TestThinned(t *testing.T) {
	n := 50_000
	x, y, keys := make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		x[i], y[i], keys[i] = float64(i), float64(i%100), "k"
	}
	y[31_234], y[40_000], y[7_777] = 1e6, -5, math.NaN()
	dots := Trace{Mode: Markers, X: x, Y: y, Key: keys}
	line := Trace{Mode: Lines, X: x, Y: y}
	few := Trace{Mode: Markers, X: x[:9], Y: y[:9]}
	out, note := thinned([]Trace{dots, line, few})
	if len(out[0].X) != 16_667 || out[0].X[1] != 3 || len(out[0].Key) != 16_667 || len(out[2].X) != 9 || !strings.HasPrefix(note, "One in 3 requests") {
		t.Errorf("%d points, %q", len(out[0].X), note)
	}
	got := out[1]
	if len(got.X) > 5*maxBuckets || slices.Max(got.X) != float64(n-1) || !slices.Contains(got.Y, 1e6) || !slices.Contains(got.Y, -5) || !slices.ContainsFunc(got.Y, math.IsNaN) || !slices.IsSorted(got.X) {
		t.Errorf("%d points of the line", len(got.X))
	}
	var short []Trace
	for i := range 100_000 {
		short = append(short, Trace{Mode: Lines, Name: []string{"a", "b"}[i%2], Unlisted: i > 1, X: x[:2], Y: y[:2]})
	}
	out, note = thinned(short)
	if len(out) != 33_334 || out[0].Name != "a" || out[1].Name != "b" || out[2].Name != "a" || out[3].Name != "b" || !strings.HasPrefix(note, "One in 3 requests") {
		t.Errorf("%d lines, %q", len(out), note)
	}
	if out, note = thinned([]Trace{few}); note != "" || len(out) != 1 {
		t.Error(note)
	}
}
