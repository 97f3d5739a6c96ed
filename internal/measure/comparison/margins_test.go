package comparison

import "testing"

// TestMargins: p90, p95 and p99 have twice the margin, error_rate has its own, and what the user says of a statistic or of its metric counts first.
func TestMargins(t *testing.T) {
	o := Options{Margin: 0.05, Margins: map[string]float64{"request_latency:p99": 0.3, "inter_token_latency": 0.2}}
	want := map[string]float64{
		"time_to_first_token:mean": 0.05, "time_to_first_token:p50": 0.05, "time_to_first_token:p90": 0.1, "time_to_first_token:p95": 0.1, "time_to_first_token:p99": 0.1,
		"request_latency:p95": 0.1, "request_latency:p99": 0.3, "inter_token_latency:p50": 0.2, "inter_token_latency:p99": 0.2, "request_throughput:": 0.05, "error_rate:": 0.005,
	}
	all, found := allStatistics(), 0
	for i := range all {
		s := &all[i]
		v, ok := want[s.tag+":"+s.stat]
		if !ok {
			v, ok = want[s.tag+":"]
		}
		if !ok {
			continue
		}
		if found++; o.margin(s) != v {
			t.Errorf("%s %s: margin %v, want %v", s.tag, s.stat, o.margin(s), v)
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d statistics found", found, len(want))
	}
}
