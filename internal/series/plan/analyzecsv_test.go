package plan

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
)

// TestAnalyzeReport: the cell with the higher request throughput comes first; GPUs have a block.
func TestAnalyzeReport(t *testing.T) {
	run := measured(t, 3, 0)
	power := metric.GPUMetric{Tag: "nvidia_power_usage", Unit: "W", Values: metric.NoStats()}
	power.Values[metric.P99] = 412
	run.GPU = &metric.GPUTelemetry{Endpoints: []metric.GPUEndpoint{{GPUs: []metric.GPU{{Index: 1, Metrics: []metric.GPUMetric{power}}}}}}
	cell := func(n int, runs ...*metric.Run) metric.SweepCell {
		return metric.SweepCell{Model: "a/b", Values: []metric.NamedValue{{Name: "phases.profiling.concurrency", Value: n}}, Runs: runs}
	}
	s := &metric.SweepSummary{Cells: []metric.SweepCell{cell(1, measured(t, 2, 0)), cell(2, run), cell(4)}}
	out, err := analyzeReport(s, &processing{Load: "concurrency", Entries: 7})
	text, ok := out.([]byte)
	if err != nil || !ok {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) != 7 || lines[1] != "a_b_run_config_1,2,5,7,50.00,207.14,1500.00,8.00,16.00,2.00" || !strings.HasPrefix(lines[2], "a_b_run_config_0,1,5,7,") ||
		lines[3] != "" || lines[5] != "a_b_run_config_1,1,412.00,,,,," {
		t.Errorf("%q", lines)
	}
}
