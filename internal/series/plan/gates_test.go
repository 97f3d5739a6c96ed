package plan

import (
	"strings"
	"testing"

	"aiperf/internal/series/gate"
)

// TestRemedy: the advice about undecided gates is a quieter machine only where that helps, and each advice comes once.
func TestRemedy(t *testing.T) {
	for of, want := range map[gate.Remedy]string{
		gate.RemoveCause: "Remove the cause", gate.QuieterMachine: "Repeat the measurement on a quieter machine", gate.PollMoreOften: "Poll the jobs more often", gate.AwaitAnswers: "Change the setting that ended slow requests",
	} {
		one := gate.Result{Outcome: gate.Undecided, Remedy: of}
		if text := remedy([]gate.Result{{Outcome: gate.Passed}, one, one}); !strings.HasPrefix(text, want) || strings.Count(text, ". ") > 0 {
			t.Errorf("%d: %s", of, text)
		}
	}
	both := []gate.Result{{Outcome: gate.Undecided, Remedy: gate.QuieterMachine}, {Outcome: gate.Undecided, Remedy: gate.PollMoreOften}}
	if text := remedy(both); !strings.Contains(text, "Poll") || !strings.HasSuffix(text, "more CPU for the client.") {
		t.Error(text)
	}
}
