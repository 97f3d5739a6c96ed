package watch

import (
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry/machine"
)

// TestShareOfQuota: a client uses a share of its quota if that is smaller than its cores. Two containers on one computer share cores, not quotas.
func TestShareOfQuota(t *testing.T) {
	u := Usage{Wall: 10 * time.Second, CPU: 6 * time.Second, Cores: 2}
	for quota, want := range map[float64]float64{0: 0.3, 4: 0.3, 1: 0.6} {
		if u.Quota.QuotaCores = quota; u.share() != want {
			t.Errorf("quota of %g: used %g, want %g", quota, u.share(), want)
		}
		m := MachineStats{Usage: u, CPUShare: u.share(), Machine: "m"}
		all := Combine([]MachineStats{m, m})
		if together := map[bool]float64{true: want, false: 2 * want}[quota == 1]; all.CPUShare != together || all.Quota.QuotaCores != quota {
			t.Errorf("quota of %g, two machines: %+v", quota, all)
		}
	}
}

// TestQuotaBetweenReadings: only periods between two readings of one quota count.
func TestQuotaBetweenReadings(t *testing.T) {
	before := machine.Quota{CPUs: 0.5, Period: time.Second, Periods: 10, Throttled: 7}
	after := machine.Quota{CPUs: 0.5, Period: time.Second, Periods: 30, Throttled: 12}
	if got := quotaUse(before, after); got != (metric.QuotaUse{QuotaCores: 0.5, QuotaPeriod: time.Second, QuotaPeriods: 20, QuotaStops: 5}) {
		t.Errorf("%+v", got)
	}
	for _, other := range []machine.Quota{{}, {CPUs: 1, Period: time.Second}, {CPUs: 0.5, Period: time.Second, Periods: 50, Throttled: 20}} {
		if got := quotaUse(other, after); got.QuotaPeriods != 0 || got.QuotaStops != 0 || got.QuotaCores != 0.5 {
			t.Errorf("after %+v: %+v", other, got)
		}
	}
}
