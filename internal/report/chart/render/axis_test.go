package render

import (
	"math"
	"testing"

	"aiperf/internal/report/chart"
)

// TestEveryAxisHasALength: values that are all alike have a place on every axis, and so can be drawn: the rasterizer does not come to an end with a
// line that begins nowhere.
func TestEveryAxisHasALength(t *testing.T) {
	for _, v := range []float64{0, 5, -5, 1e-320, 1e18, 1e300} {
		for _, a := range []chart.Axis{{}, {FromZero: true}, {Scale: chart.Log}, {Fixed: true, Min: v, Max: v}} {
			s := newSpan()
			s.add(v, a.Kind() == chart.Log)
			x := newScale(&a, s, 5)
			x.from, x.to = 0, 100
			if x.shows(v) && (math.IsNaN(x.at(v)) || math.IsInf(x.at(v), 0)) {
				t.Errorf("%g stands at %g of %+v, which goes from %g to %g", v, x.at(v), a, x.lo, x.hi)
			}
			if len(x.ticks) == 0 || len(x.ticks) > 50 {
				t.Errorf("%g: %d ticks on %+v", v, len(x.ticks), a)
			}
		}
	}
	zeros := chart.Trace{X: []float64{0, 1, 2}, Y: []float64{0, 0, 0}, Mode: chart.LinesMarkers, Style: chart.Style{Color: "#ff0000", Width: 2}}
	c := &chart.Chart{Name: "n", Title: "Inter Token Latency", Y: chart.Axis{Title: "ms", FromZero: true}, Traces: []chart.Trace{zeros}}
	if picture, err := PNG(c, chart.Themes["light"], Size{Width: 400, Height: 300, Scale: 0.5}); err != nil || len(picture) == 0 {
		t.Errorf("%d bytes, %v", len(picture), err)
	}
}
