package metric

import (
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// TestTrendMedian: the latencies of a third of the requests have the median of the summary, the middle of two where their number is even.
func TestTrendMedian(t *testing.T) {
	set := newSelection(t, Options{})
	r := set.NewReducer()
	for i, ms := range []int64{10, 30, 50, 50, 70, 110} {
		start := int64(i+1) * 1e9
		r.Add(set.Row(&record.Record{Start: start, End: start + ms*1e6, Status: 200}, nil, record.Counts{}))
	}
	trend := r.Trend()
	if trend.EarlyLatency != 20*time.Millisecond || trend.LateLatency != 90*time.Millisecond {
		t.Errorf("early %v, late %v, want 20ms and 90ms", trend.EarlyLatency, trend.LateLatency)
	}
}
