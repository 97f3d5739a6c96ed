package htmlreport

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

// TestLiveLanes: the p50 and the p99 of a latency share a lane; series without values have none.
func TestLiveLanes(t *testing.T) {
	none := []float64{math.NaN(), 0}
	list := liveLanes(&liveview.State{Timeline: termdraw.Timeline{Seconds: 1, Bins: 2, Series: []termdraw.Series{
		{Name: "Requests/s", Values: []float64{1, 2}}, {Name: "TTFT p50", Unit: "ms", Values: []float64{3, 4}}, {Name: "TTFT p99", Unit: "ms", Values: []float64{5, 6}},
		{Name: "ITL p50", Unit: "ms", Values: []float64{7, 8}}, {Name: "In flight", Values: none},
	}}})
	var got []string
	for _, c := range list {
		text := c.Title + ":"
		for _, one := range c.Traces {
			text += " " + one.Name
		}
		got = append(got, text)
	}
	if text := strings.Join(got, "; "); text != "Requests/s: Requests/s; TTFT: TTFT p50 TTFT p99; ITL p50: ITL p50" {
		t.Error(text)
	}
}
