package plan

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/series/gate"
)

// TestRemedy: the advice about undecided gates is a quieter machine only where that helps.
func TestRemedy(t *testing.T) {
	for doubt, quiet := range map[string]bool{
		"": true, `the verdict is "client limited"`: true, `the verdict is "rate not reached"`: false, metric.UncountedChoices: false, "the run was interrupted before its end": false,
	} {
		results := []gate.Result{{Outcome: gate.Passed}, {Outcome: gate.Undecided, Doubt: doubt}}
		if text := remedy(results); strings.Contains(text, "quieter machine") != quiet {
			t.Errorf("%q: %s", doubt, text)
		}
	}
}
