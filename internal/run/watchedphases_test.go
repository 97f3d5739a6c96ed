package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/config"
)

// watchedPhase is a file of what was watched in a phase.
type watchedPhase struct {
	Phase struct {
		Name string `json:"phase_name"`
		Kind string `json:"phase_kind"`
	}
	Data struct {
		Name    string `json:"phase_name"`
		Servers map[string]struct {
			URL  string `json:"endpoint_url"`
			Info struct {
				Fetches int `json:"total_fetches"`
			}
			Metrics map[string]struct {
				Series []struct {
					Stats map[string]float64
				}
			}
		} `json:"endpoint_summaries"`
		GPUs map[string]struct{ GPUs map[string]json.RawMessage } `json:"endpoints"`
	}
}

// TestPhasesAreWatched: each phase of a run with a warm-up has a file of what servers did in it and one of what GPUs did; the counters of the
// simulated server add up to the requests of the phase. The files of a phase follow the prefix of the run.
func TestPhasesAreWatched(t *testing.T) {
	dir := t.TempDir()
	b := whole(dir, "mock://?ttft=10ms&itl=1ms&tokens=5&dcgm=2", 6)
	b.Artifacts.Prefix = "below/mine"
	b.GPUTelemetry.Enabled, b.ServerMetrics.Enabled = true, true
	b.Environment.GPU.DefaultDCGMEndpoints = nil
	warmup := b.Phases[0]
	warmup.Name, warmup.Kind, warmup.Requests = "warmup", config.KindWarmup, ptr(3)
	b.Phases = append([]config.Phase{warmup}, b.Phases...)
	if _, err := Run(t.Context(), b, nil, Options{Version: "test", Err: new(locked)}); err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Phases []map[string]any }
	jsonFile(t, filepath.Join(dir, "phase_manifest.json"), &manifest)
	if len(manifest.Phases) != 2 {
		t.Fatalf("%+v", manifest)
	}
	counted := map[string]float64{}
	for _, p := range manifest.Phases {
		name, _ := p["phase_name"].(string)
		for key, want := range map[string]string{"metrics_json": "mine.json", "metrics_csv": "mine.csv", "server_metrics_json": "server_metrics.json", "gpu_telemetry_json": "gpu_telemetry.json"} {
			if p[key] != "phases/"+name+"/"+want {
				t.Errorf("%s: %s is %v", name, key, p[key])
			}
			if _, err := os.Stat(filepath.Join(dir, "phases", name, want)); err != nil {
				t.Error(err)
			}
		}
		var servers, gpus watchedPhase
		jsonFile(t, filepath.Join(dir, "phases", name, "server_metrics.json"), &servers)
		jsonFile(t, filepath.Join(dir, "phases", name, "gpu_telemetry.json"), &gpus)
		if servers.Phase.Name != name || servers.Data.Name != name || servers.Phase.Kind != p["phase_kind"] || len(servers.Data.Servers) != 1 {
			t.Errorf("%s: %+v", name, servers)
		}
		for _, s := range servers.Data.Servers {
			tokens := s.Metrics["mock_generation_tokens"].Series
			if len(tokens) != 1 || s.Info.Fetches < 1 || s.URL == "" {
				t.Fatalf("%s: %+v", name, s)
			}
			counted[name] = tokens[0].Stats["total"]
		}
		for _, e := range gpus.Data.GPUs {
			if len(e.GPUs) != 2 {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if len(gpus.Data.GPUs) != 1 {
			t.Errorf("%s: %+v", name, gpus)
		}
	}
	// The server counts an answer after its end, so the last one of the warm-up may be in a later page.
	if counted["warmup"] < 5 || counted["warmup"] > 15 || counted["warmup"]+counted["profiling"] != 45 {
		t.Errorf("tokens by phase: %v", counted)
	}
	var whole struct {
		Warmup map[string]json.RawMessage `json:"warmup_metrics"`
	}
	jsonFile(t, filepath.Join(dir, "below", "mine_server_metrics.json"), &whole)
	if whole.Warmup["mock_generation_tokens"] == nil {
		t.Errorf("server metrics without those of the warm-up: %+v", whole)
	}
}

// jsonFile reads a file of JSON.
func jsonFile(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}
