package plots

import (
	"slices"
	"testing"
)

// TestGeneratedTitles: presets without a title get the words of the Python tool 0.13.0 (recorded from its chart objects), and never units.
func TestGeneratedTitles(t *testing.T) {
	for _, c := range []struct{ folder, preset, want string }{
		{"multi_c1_c4_c8", "{type: scatter_line, x: {metric: time_to_first_token, stat: p99}, y: {metric: request_latency, stat: p90}}", "Request Latency vs Time to First Token"},
		{"multi_c1_c4_c8", "{type: pareto, x: {metric: request_latency, stat: avg}, y: {metric: request_throughput, stat: avg}}", "Pareto Curve: Request Throughput vs Request Latency"},
		{"multi_c1_c4_c8", "{type: pareto, x: {metric: request_latency, stat: avg}, y: {metric: output_token_throughput_per_gpu, stat: avg}}", "Pareto Curve: Output Token Throughput vs Request Latency"},
		{"single_c4", "{type: scatter, x: request_number, y: output_sequence_length}", "Output Sequence Length Over Time"},
		{"single_c4", "{type: scatter_with_percentiles, x: timestamp, y: request_latency}", "Request Latency Over Time with Percentiles"},
		{"single_c4", "{type: request_timeline, x: request_start_ns, y: time_to_first_token}", "Request Timeline: Time to First Token"},
		{"single_c4", "{type: scatter, x: input_sequence_length, y: time_to_first_token}", "Time to First Token vs Input Sequence Length"},
		{"single_c4", "{type: timeslice, x: Timeslice, y: Time to First Token, stat: avg, source: timeslices}", "Time to First Token Over Time"},
		{"single_gpu_c2", "{type: dual_axis, x: timestamp_s, y: throughput_tokens_per_sec, y2: nvidia_power_usage}", "Output token throughput with GPU Power Usage"},
	} {
		mode := "single_run"
		if c.folder == "multi_c1_c4_c8" {
			mode = "multi_run"
		}
		list, said := drawn(t, c.folder, "visualization:\n  "+mode+"_defaults: [p]\n  "+mode+"_plots:\n    p: "+c.preset+"\n")
		if got := list["p.png"]; got == nil || got.Title != c.want {
			t.Errorf("%s: %+v, want %q; %s", c.preset, got, c.want, said)
		}
	}
}

// TestBinsOfWholeNumbers: a count lies in the middle of its bin; bins never part two numbers unevenly.
func TestBinsOfWholeNumbers(t *testing.T) {
	edges, counts := binned([]float64{550, 550, 550})
	if !slices.Equal(edges, []float64{549.5, 550.5}) || !slices.Equal(counts, []float64{3}) {
		t.Errorf("%v %v", edges, counts)
	}
	edges, counts = binned([]float64{1, 2, 2, 4, 12})
	if !slices.Equal(edges, []float64{0.5, 3.5, 6.5, 9.5, 12.5}) || !slices.Equal(counts, []float64{3, 1, 0, 1}) {
		t.Errorf("%v %v", edges, counts)
	}
}

// TestStatisticOfSlices: slices of a percentile are compared with the same percentile of the run, and the legend names it. No slice is an outlier by a rule for
// averages.
func TestStatisticOfSlices(t *testing.T) {
	for stat, want := range map[string][]string{"avg": {"Run Std: 5.86 ms", "Run Average: 51.93 ms", "Timeslice Average"}, "p90": {"Run P90: 57.71 ms", "Timeslice P90"}} {
		list, said := drawn(t, "single_c4", "visualization:\n  single_run_defaults: [p]\n  single_run_plots:\n    p: {type: timeslice, x: Timeslice, y: Time to First Token, stat: "+stat+", source: timeslices}\n")
		if list["p.png"] == nil {
			t.Fatal(said)
		}
		var names []string
		for _, one := range list["p.png"].Traces {
			names = append(names, one.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q", stat, names, want)
		}
	}
}
