package cli

import (
	"strings"
	"testing"

	"aiperf/internal/measure/comparison"
)

// TestSidesOfAComparison: a side of which nothing is known, because its run left no summary, has the name of its directory.
func TestSidesOfAComparison(t *testing.T) {
	killed, whole := comparison.Run{Path: "artifacts/killed"}, comparison.Run{Path: "artifacts/whole", Target: comparison.Target{URL: "http://h:1", Model: "m"}}
	for want, r := range map[string]*comparison.Result{
		"A: killed\nB: whole, m at http://h:1\n": {A: []comparison.Run{killed}, B: []comparison.Run{whole}},
		"A: whole, m at http://h:1\nB: killed\n": {A: []comparison.Run{whole}, B: []comparison.Run{killed}},
	} {
		var out strings.Builder
		(&Program{Streams: Streams{Out: &out}}).sides(r)
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
