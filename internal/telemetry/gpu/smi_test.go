package gpu

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/metric"
	"aiperf/internal/telemetry"
)

// fake writes a program that answers as nvidia-smi does.
func fake(t *testing.T, script string) string {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Fatal("these tests need /bin/sh: ", err)
	}
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSMI: columns that a version lacks are left out, what a GPU does not tell is absent, and the numbers are those that were printed.
func TestSMI(t *testing.T) {
	path := fake(t, `case "$*" in *utilization.jpeg*) echo 'Field "utilization.jpeg" is not a valid field to query.'; exit 2;; esac
while :; do
  echo "0, GPU-1, NVIDIA H100 80GB HBM3, 00000000:0A:00.0, 100.50, 40, 5, 1024, 41, [N/A], 0"
  echo "1, [N/A], , 00000000:0B:00.0, [Not Supported], 60, 5, 2048, 42, 1, 2"
  sleep 0.05
done
`)
	var mu sync.Mutex
	var lines []string
	enough := make(chan struct{})
	c, err := OpenSMI(t.Context(), Options{
		Cadence: telemetry.Cadence{Interval: 50 * time.Millisecond}, Reachable: 30 * time.Second, Log: slog.New(slog.DiscardHandler),
		Line: func(line []byte) {
			mu.Lock()
			defer mu.Unlock()
			if lines = append(lines, string(line)); len(lines) == 6 {
				close(enough)
			}
		},
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	<-enough
	c.Stop()
	r := c.Result(metric.Window{From: 0, To: time.Now().UnixNano()})
	if len(r.Endpoints) != 1 || r.Endpoints[0].Name != "localhost" || len(r.Endpoints[0].GPUs) != 2 || len(r.Errors) != 0 {
		t.Fatalf("%+v", r)
	}
	want := []map[string]float64{
		{"nvidia_power_usage": 100.5, "nvidia_gpu_utilization": 40, "nvidia_memory_utilization": 5, "nvidia_memory_used": 1.073741824, "nvidia_temperature": 41, "nvidia_encoder_utilization": 0},
		{"nvidia_gpu_utilization": 60, "nvidia_memory_utilization": 5, "nvidia_memory_used": 2.147483648, "nvidia_temperature": 42, "nvidia_decoder_utilization": 1, "nvidia_encoder_utilization": 2},
	}
	for i, g := range r.Endpoints[0].GPUs {
		if len(g.Metrics) != len(want[i]) {
			t.Errorf("GPU %d: %+v", i, g.Metrics)
		}
		for _, m := range g.Metrics {
			if m.Values[metric.Avg] != want[i][m.Tag] {
				t.Errorf("GPU %d %s: %v", i, m.Tag, m.Values[metric.Avg])
			}
		}
	}
	if g := r.Endpoints[0].GPUs[1]; g.UUID != "GPU-unknown-1" || g.Name != "Unknown GPU" {
		t.Errorf("%+v", g)
	}
	var line struct {
		URL      string `json:"telemetry_source_url"`
		Hostname string
		Device   string
	}
	if err := json.Unmarshal([]byte(lines[1]), &line); err != nil || line.URL != LocalURL || line.Hostname != "localhost" || line.Device != "nvidia1" {
		t.Errorf("%s", lines[1])
	}
}

func TestSMIRefusals(t *testing.T) {
	for name, c := range map[string]struct{ command, says string }{
		"no program": {filepath.Join(t.TempDir(), "nvidia-smi"), "no such file"},
		"no driver":  {fake(t, "echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9\n"), "could not communicate"},
		"silence":    {fake(t, "exit 0\n"), "nothing"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := OpenSMI(ctx, Options{Cadence: telemetry.Cadence{Interval: time.Second}, Reachable: 30 * time.Second, Log: slog.New(slog.DiscardHandler)}, c.command)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
