package watch

import (
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/workload/load"
)

// TestLanesAreNoLimit: the lanes of a replay are always in use, so full slots say something about the server only where requests are due at instants.
func TestLanesAreNoLimit(t *testing.T) {
	for mode, want := range map[load.Mode]float64{load.Rate: 1, load.AgenticReplay: 0} {
		p := new(load.PhaseStats)
		p.Info.Mode = mode
		p.Schedule.Steady.Seconds = 2
		p.Schedule.Steady.Caps = load.Caps{Seconds: 2, BusySeconds: 2}
		e := scheduleStats(new(metric.Summary), []*load.PhaseStats{p})
		if !e.OpenLoop || e.RateSeconds != 2 || e.CapShare != want || e.BusyShare != want {
			t.Errorf("%s: %+v, want full slots for %g of the time", mode, e, want)
		}
	}
}
