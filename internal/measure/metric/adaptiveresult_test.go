package metric

import (
	"math"
	"strings"
	"testing"
)

// TestSoughtAnswer: every way in which a search ends has a sentence, without numbers that do not exist.
func TestSoughtAnswer(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		why         string
		kept, broke float64
		want        string
	}{
		{"sustain_duration_completed", 10, 16, "The limit: concurrency 10 met the service level until the end of the hold time; 16 broke it."},
		{"max_control_value_reached_without_saturation", 60, none, "The limit was not reached: concurrency 60,"},
		{"no_sustainable_concurrency_found", none, 1, "No value meets the service level: concurrency 1,"},
		{"sustain_failed_after_recovery", 10, 16, "No stable limit: the service level was missed again while concurrency was held; 16 broke it."},
		{"sustain_failed_sla_unrecoverable", 1, 4, "No stable limit"},
		{"phase_stopped", 10, none, "The phase ended before the search: concurrency 10 met the service level in its last window."},
		{"phase_cancelled", none, none, "The phase ended before the search: no value has met the service level."},
		{"", none, none, "The search did not finish: no value"},
	} {
		s := AdaptiveResult{Variable: "concurrency", LastGood: c.kept, FirstBad: c.broke, Why: c.why}
		if got := s.Answer(); !strings.HasPrefix(got, c.want) || strings.Contains(got, "NaN") {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
