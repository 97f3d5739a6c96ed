package watch

import (
	"math"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// TestHealthSoFar: before the profiling there is no verdict; then it follows the lag of an open loop, but not where all slots were in use.
func TestHealthSoFar(t *testing.T) {
	m := &Meter{}
	client, err := transport.NewClient(transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	h := &Health{Meter: m, Client: client}
	if err := m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Stop(t.Context()) }()
	s := &liveview.State{Counts: liveview.Counts{OK: 100, Elapsed: time.Second}, Health: liveview.Health{LagP99: 0.5}}
	now := &load.Snapshot{Info: &load.PhaseInfo{Mode: load.Rate}, Phase: &load.Phase{}, Started: clock.Now(), Sent: 100}
	if got := h.SoFar(s, now, false, nil); got.Verdict != "" || !math.IsNaN(got.ReadDelay) || !math.IsNaN(got.CPUWait) {
		t.Errorf("before the profiling: %+v", got)
	}
	m.PhaseStart(now.Info)
	time.Sleep(20 * time.Millisecond)
	m.begun.cpu = ProcessCPU() // other tests' work is not that of this client
	for _, c := range []struct {
		lag    float64
		capped bool
		want   metric.Verdict
	}{{0.5, false, metric.VerdictValid}, {80, false, metric.VerdictClientLimited}, {80, true, metric.VerdictValid}, {math.NaN(), false, metric.VerdictValid}} {
		s.Health.LagP99 = c.lag
		got := h.SoFar(s, now, c.capped, nil)
		if got.Verdict != string(c.want) || got.Reason == "" {
			t.Errorf("lag %v ms, capped %v: %s: %s, want %s", c.lag, c.capped, got.Verdict, got.Reason, c.want)
		}
		if c.want == metric.VerdictClientLimited && !strings.Contains(got.Reason, "80 ms late") {
			t.Errorf("%s", got.Reason)
		}
	}
}
