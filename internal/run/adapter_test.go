package run

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"aiperf/internal/config"
)

// TestAdapterAndNoSummary: requests name the adapter of a model in its place, its tokenizer counts them, and without a summary JSON there is none,
// of no phase either; the CSV stays.
func TestAdapterAndNoSummary(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var said struct{ Model string }
		if json.NewDecoder(r.Body).Decode(&said) == nil && said.Model != "" {
			mu.Lock()
			asked[said.Model]++
			mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"a word"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	b := whole(dir, server.URL, 6)
	b.Endpoint.Streaming = false
	b.Models.Items = []config.Model{{Name: "base", Lora: "law"}, {Name: "plain"}}
	b.Artifacts.Summary = nil
	warm := b.Phases[0]
	warm.Name, warm.Kind, warm.ExcludeFromResults, warm.Requests = "warmup", config.KindWarmup, true, ptr(2)
	b.Phases = []config.Phase{warm, b.Phases[0]}
	var errs locked
	done, err := Run(t.Context(), b, nil, Options{Version: "test", Err: &errs})
	if err != nil {
		t.Fatal(err, errs.String())
	}
	if done.Profiling.Valid != 6 || asked["law"] == 0 || asked["plain"] == 0 || asked["base"] != 0 {
		t.Errorf("%d good requests, models %v", done.Profiling.Valid, asked)
	}
	var files []string
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		files = append(files, d.Name())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(files, "profile_export_aiperf.json") || !slices.Contains(files, "profile_export_aiperf.csv") {
		t.Errorf("files: %v", files)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "phase_manifest.json"))
	if err != nil || strings.Contains(string(manifest), "metrics_json") {
		t.Errorf("%s %v", manifest, err)
	}
}
