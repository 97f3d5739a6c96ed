package metric

import "testing"

// TestRestRate: the rate of the remaining machines is known only if a machine was lost.
func TestRestRate(t *testing.T) {
	for name, c := range map[string]struct {
		list []Machine
		want float64
	}{
		"one lost":  {[]Machine{{Complete: true}, {}}, 30},
		"none lost": {[]Machine{{Complete: true}, {Complete: true}}, 0},
	} {
		e := ClientStats{ScheduleStats: ScheduleStats{RateSeconds: 10, Asked: 600, AskedOfRest: 300}}
		e.SetMachines(c.list)
		if got := e.RestRate(); got != c.want || e.TargetRate() != 60 || len(e.Machines) != 2 {
			t.Errorf("%s: %v of %v requests/s, want %v of 60", name, got, e.TargetRate(), c.want)
		}
	}
}
