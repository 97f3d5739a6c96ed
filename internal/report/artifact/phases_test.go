package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

func TestPhasesHaveASummaryEachAndAManifest(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	summary := func(valid, failed int) *metric.Summary {
		r := set.NewReducer()
		for i := range valid + failed {
			rec := &record.Record{Start: 1000, End: 2000}
			reply := &record.Reply{Contents: []record.Content{{At: 1500, Text: "x"}}}
			if i >= valid {
				rec.Error = &record.Error{Code: 500, Type: "Internal Server Error"}
			}
			r.Add(set.Row(rec, reply, record.Counts{Input: 1, Output: 1, Reasoning: -1}))
		}
		return r.Summary(metric.Window{})
	}
	dir := t.TempDir()
	watched := []PhaseFile{{PhaseServerMetrics, json.RawMessage(`{"b":1.50,"a":[{"d":2,"c":12345678901234567890}]}`)}}
	err = WritePhases(NewLayout(dir, "below/prefix"), []Phase{
		{Watched: watched, Run: metric.Run{Profiling: summary(2, 0), Start: time.Unix(1, 0), End: time.Unix(2, 0)}, Name: "warmup", ProfilingIndex: -1, Warmup: true},
		{Run: metric.Run{Profiling: summary(3, 1), Start: time.Unix(2, 0), End: time.Unix(3, 0)}, Name: "profiling", Index: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "phase_manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Phases []struct {
			Name       string `json:"phase_name"`
			Servers    string `json:"server_metrics_json"`
			GPUs       string `json:"gpu_telemetry_json"`
			Kind       string `json:"phase_kind"`
			JSON       string `json:"metrics_json"`
			Profiling  *int   `json:"profiling_index"`
			Successful int    `json:"successful_request_count"`
			Failed     int    `json:"error_request_count"`
			Start      int64  `json:"start_ns"`
		} `json:"phases"`
		Version int `json:"schema_version"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Phases) != 2 || manifest.Version != 1 {
		t.Fatalf("manifest: %s", data)
	}
	w, p := manifest.Phases[0], manifest.Phases[1]
	if w.Kind != "warmup" || w.Profiling != nil || w.Successful != 2 || w.Start != 1e9 {
		t.Errorf("warm-up: %+v", w)
	}
	if p.Kind != "profiling" || p.Profiling == nil || p.Successful != 3 || p.Failed != 1 {
		t.Errorf("profiling: %+v", p)
	}
	if p.JSON != "phases/profiling/prefix.json" || p.Servers != "" || w.GPUs != "" || w.Servers != "phases/warmup/server_metrics.json" {
		t.Errorf("names of files: %+v %+v", w, p)
	}
	data, err = os.ReadFile(filepath.Join(dir, w.Servers))
	const want = "{\n  \"data\": {\n    \"a\": [\n      {\n        \"c\": 12345678901234567890,\n        \"d\": 2\n      }\n    ],\n    \"b\": 1.50\n  },\n  \"phase\": {\n    \"end_ns\": 2000000000,\n"
	if err != nil || !strings.HasPrefix(string(data), want) || !strings.HasSuffix(string(data), "\n  \"schema_version\": 1,\n  \"warnings\": []\n}\n") {
		t.Errorf("%v: %s", err, data)
	}
	again, err := ReadPhases(NewLayout(dir, "below/prefix"))
	if err != nil || len(again) != 2 || len(again[0].Watched) != 1 || again[0].Watched[0].Name != PhaseServerMetrics || again[1].Watched != nil {
		t.Errorf("read again: %v %+v", err, again)
	}
	data, err = os.ReadFile(filepath.Join(dir, p.JSON))
	if err != nil {
		t.Fatal(err)
	}
	var one map[string]json.RawMessage
	if err := json.Unmarshal(data, &one); err != nil || one["request_count"] == nil {
		t.Errorf("the phase's summary has no request count: %v", err)
	}
}
