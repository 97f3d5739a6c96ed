package plan

import (
	"strings"
	"testing"

	"aiperf/internal/series/gate"
)

// TestRemedy: the advice about undecided gates is a quieter machine only where that helps.
func TestRemedy(t *testing.T) {
	for _, quieter := range []bool{true, false} {
		results := []gate.Result{{Outcome: gate.Passed}, {Outcome: gate.Undecided, Quieter: quieter}}
		if text := remedy(results); strings.Contains(text, "quieter machine") != quieter {
			t.Errorf("%t: %s", quieter, text)
		}
	}
}
