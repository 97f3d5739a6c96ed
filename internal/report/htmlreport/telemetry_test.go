package htmlreport

import (
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/report/runfiles"
)

// TestLanesOfTimeline: lanes of servers and GPUs come from the run's timeline, whatever the server calls its gauges.
func TestLanesOfTimeline(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(recorded, "single_c4", "c4"))); err != nil {
		t.Fatal(err)
	}
	lines := `{"timestamp_ns":1795259010000000000,"server_queue_length":2,"server_kv_cache_usage":0.5,"gpu_power_w":300}
{"timestamp_ns":1795259011000000000,"server_queue_length":3,"server_kv_cache_usage":0.25,"gpu_power_w":310}
`
	if err := os.WriteFile(filepath.Join(dir, "profile_export_timeline.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	run := runfiles.Open(dir)
	c := clock{zero: 1795259010228969565, seconds: 2, step: 1, n: 2}
	list, missing := c.telemetry(run)
	want := map[string][]float64{"GPU power": {300, 310}, "Waiting in the server": {2, 3}, "KV cache in use": {0.5, 0.25}}
	if len(list) != len(want) || len(missing) != 0 {
		t.Fatalf("%d lanes, missing %q", len(list), missing)
	}
	for _, ch := range list {
		v := want[ch.Title]
		if got := ch.Traces[0]; len(v) != 2 || got.Y[0] != v[0] || got.Y[1] != v[1] || got.X[0] < 0.27 || got.X[0] > 0.28 || ch.X.Title != "Time (s)" {
			t.Errorf("%s: %v %v", ch.Title, got.X, got.Y)
		}
	}
}

// TestNumberOfGPUs: the lanes of GPUs say over how many GPUs they are: as many as the exporter had.
func TestNumberOfGPUs(t *testing.T) {
	run := runfiles.Open(filepath.Join(recorded, "single_gpu_c2", "c2"))
	q, err := run.Requests()
	if err != nil {
		t.Fatal(err)
	}
	c := newClock(q)
	list, _ := c.telemetry(run)
	if len(list) == 0 || list[0].Y.Title != "%, mean of 2 GPUs" {
		t.Errorf("%+v", list)
	}
	for _, one := range [][2]string{{withCount("W, all GPUs", 8), "W, sum of 8 GPUs"}, {withCount("W, all GPUs", 0), "W, all GPUs"}, {withCount("GB, mean of the GPUs", 1), "GB, mean of 1 GPU"}} {
		if one[0] != one[1] {
			t.Errorf("%q, want %q", one[0], one[1])
		}
	}
}
