package watch

import (
	"log/slog"
	"slices"
	"testing"

	"aiperf/internal/workload/load"
)

// TestFailedWarmUp: a warm-up with failures gives a warning. Failures of a measured phase are in its report.
func TestFailedWarmUp(t *testing.T) {
	for _, c := range []struct {
		warmup bool
		errors int64
		want   []string
	}{
		{true, 2, []string{"warm-up: 2 of 3 requests failed, so the measured requests may meet a cold server"}},
		{true, 0, nil},
		{false, 2, nil},
	} {
		var warned []string
		l := PhaseLog{Log: slog.New(slog.DiscardHandler), Warn: func(text string) { warned = append(warned, text) }}
		l.PhaseEnd(&load.PhaseStats{Info: load.PhaseInfo{Warmup: c.warmup}, Sent: 3, Completed: 3, Errors: c.errors})
		if !slices.Equal(warned, c.want) {
			t.Errorf("%+v: %q", c, warned)
		}
	}
}
