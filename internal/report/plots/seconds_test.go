package plots

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTimeline: a picture of the timeline has each value at the middle of its second, both curves on the clock of the requests.
func TestTimeline(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS("testdata/golden/single_c4/c4")); err != nil {
		t.Fatal(err)
	}
	// The first request began at 1795259010.228969565.
	lines := `{"timestamp_ns":1795259010000000000,"time_to_first_token_ms":{"p50":40.5},"server_queue_length":0}
{"timestamp_ns":1795259011000000000,"server_queue_length":3}
{"timestamp_ns":1795259012000000000,"time_to_first_token_ms":{"p50":90},"server_queue_length":1.5}
`
	if err := os.WriteFile(filepath.Join(dir, "profile_export_timeline.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ParseConfig(Default, "shipped")
	if err != nil {
		t.Fatal(err)
	}
	set, err := Make(Options{Paths: []string{dir}, Config: c, Theme: "light", Presets: []string{"ttft_and_queue_over_time"}, Warn: t.Errorf})
	if err != nil || len(set.Charts) != 1 {
		t.Fatal(err, set)
	}
	got := set.Charts[0]
	near := func(x []float64, want ...float64) bool {
		return slices.EqualFunc(x, want, func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
	}
	if len(got.Traces) != 2 || got.Y.Title != "Time To First Token p50 (ms)" || got.Y2.Title != "Server Queue Length" || !got.Traces[1].Second {
		t.Fatalf("%+v", got)
	}
	if a, b := got.Traces[0], got.Traces[1]; !near(a.X, 0.271030435, 2.271030435) || !near(a.Y, 40.5, 90) || !near(b.X, 0.271030435, 1.271030435, 2.271030435) || !near(b.Y, 0, 3, 1.5) {
		t.Errorf("%v %v, %v %v", a.X, a.Y, b.X, b.Y)
	}
}

func TestTitlesOfSeconds(t *testing.T) {
	for key, want := range map[string]string{
		"gpu_power_w": "GPU Power (W)", "gpu_utilization_percent": "GPU Utilization (%)", "server_kv_cache_usage": "Server KV Cache Usage", "errors": "Errors",
		"request_latency_ms.p99": "Request Latency p99 (ms)",
	} {
		if got := secondsTitle(key); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
}
