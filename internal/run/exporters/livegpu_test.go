package exporters

import (
	"math"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestLiveCounter: a counter of a GPU shows its growth, and no average; a gauge shows its statistics.
func TestLiveCounter(t *testing.T) {
	m := &metric.GPUMetric{Name: "Energy", Unit: "MJ"}
	for i := range m.Values {
		m.Values[i] = math.NaN()
	}
	m.Values[metric.Avg] = 0.25
	if row := liveGPUMetric(m, 1234); row.Current != 0.25 || !math.IsNaN(row.Avg) || !math.IsNaN(row.Max) || !math.IsNaN(row.Std) {
		t.Errorf("%+v", row)
	}
	m.Values[metric.Max] = 0.5
	if row := liveGPUMetric(m, 0.3); row.Current != 0.3 || row.Avg != 0.25 || row.Max != 0.5 || !math.IsNaN(row.P50) {
		t.Errorf("%+v", row)
	}
}
