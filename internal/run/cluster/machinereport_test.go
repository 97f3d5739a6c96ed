package cluster

import (
	"testing"

	"aiperf/internal/run"
	"aiperf/internal/workload/load"
)

// TestLeftAt: a machine is missing in the load since it ended its part, or since the controller gave it up, whichever was first. A process that was
// stopped notices only when it continues.
func TestLeftAt(t *testing.T) {
	for name, c := range map[string]struct {
		fenced              bool
		given, ended, wants int64
	}{
		"in sight":                {false, 0, 9, 0},
		"lost":                    {false, 7, 0, 7},
		"network broke":           {true, 7, 6, 6},
		"process was stopped":     {true, 7, 14, 7},
		"back before it was lost": {true, 0, 6, 6},
		"ended nothing":           {true, 7, 0, 7},
	} {
		p := part{lostAt: c.given, report: &run.WorkerReport{Fenced: c.fenced}, now: progress{Snapshots: []load.Snapshot{{SentAll: c.ended}}}}
		if got := p.leftAt(); got != c.wants {
			t.Errorf("%s: %d, want %d", name, got, c.wants)
		}
	}
}
