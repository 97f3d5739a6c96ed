package plan

import (
	"testing"

	"aiperf/internal/config"
)

// TestTrialSeed: the seeds are those of the Python tool, SHA-256 of "<seed>:variation:<label>:trial:<n>", cut to 63 bits.
func TestTrialSeed(t *testing.T) {
	base := int64(42)
	for _, c := range []struct {
		label string
		n     int
		want  int64
	}{
		{"", 0, 6858774025263032934}, {"", 1, 4337237111802998792}, {"phases.profiling.concurrency=2", 0, 2639850759700845630},
	} {
		got := trialSeed(&base, &config.Cell{Label: c.label}, c.n)
		if got == nil || *got != c.want {
			t.Errorf("%q, trial %d: %v, want %d", c.label, c.n, got, c.want)
		}
	}
	if got := trialSeed(nil, &config.Cell{}, 0); got != nil {
		t.Errorf("without a seed: %d", *got)
	}
}
