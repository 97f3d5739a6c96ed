package gpu

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
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

// TestSMI: columns that a version lacks are omitted, values that a GPU does not report are absent, and the numbers are those that were printed.
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
		Cadence: telemetry.Cadence{Interval: 50 * time.Millisecond}, Reachable: 30 * time.Second, Log: slog.New(slog.DiscardHandler), Warn: func(string) {},
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
	r := c.Result(metric.Window{From: 0, To: time.Now().UnixNano()}, 0)
	if len(r.Endpoints) != 1 || r.Endpoints[0].Name != "localhost" || len(r.Endpoints[0].GPUs) != 2 || len(r.Errors) != 0 {
		t.Fatalf("%+v", r)
	}
	want := []map[string]float64{
		{"nvidia_power_usage": 100.5, "nvidia_energy_consumption": 0, "nvidia_gpu_utilization": 40, "nvidia_memory_utilization": 5, "nvidia_memory_used": 1.073741824, "nvidia_temperature": 41, "nvidia_encoder_utilization": 0},
		{"nvidia_gpu_utilization": 60, "nvidia_memory_utilization": 5, "nvidia_memory_used": 2.147483648, "nvidia_temperature": 42, "nvidia_decoder_utilization": 1, "nvidia_encoder_utilization": 2},
	}
	for i, g := range r.Endpoints[0].GPUs {
		if len(g.Metrics) != len(want[i]) {
			t.Errorf("GPU %d: %+v", i, g.Metrics)
		}
		for _, m := range g.Metrics {
			if m.Tag == "nvidia_energy_consumption" {
				var first, last float64 // readings are of 100.5 W
				for _, line := range lines {
					if at := stamp(t, line, i); at != 0 && first == 0 {
						first = at
					} else if at != 0 {
						last = at
					}
				}
				if got, want := m.Values[metric.Avg]*1e6, 100.5*(last-first); math.Abs(got-want) > .01*want || want == 0 {
					t.Errorf("GPU %d: %v J, want %v", i, got, want)
				}
				continue
			}
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

// stamp returns when a line of samples was read, in s; 0 if it is of another GPU.
func stamp(t *testing.T, line string, gpu int) float64 {
	t.Helper()
	var one struct {
		Index int   `json:"gpu_index"`
		At    int64 `json:"timestamp_ns"`
	}
	if err := json.Unmarshal([]byte(line), &one); err != nil {
		t.Fatal(err)
	}
	if one.Index != gpu {
		return 0
	}
	return float64(one.At) / 1e9
}

// TestEnergy: energy is the integral of power; its doubt is half of what power changed. Readings without power are passed over.
func TestEnergy(t *testing.T) {
	e := &energy{}
	const second = 1_000_000_000
	start := int64(1_700_000_000 * second)
	for _, r := range []struct {
		at         int64
		watts, sum float64 // J so far
	}{{0, 100, 0}, {1, 300, 200}, {2, math.NaN(), math.NaN()}, {3, 300, 800}, {3, 500, 800}, {4, 100, 1100}} {
		got := e.add(start+r.at*second, r.watts) * 1e6
		if math.Abs(got-r.sum) > 1e-6 || math.IsNaN(got) != math.IsNaN(r.sum) {
			t.Errorf("%d s, %v W: %v J, want %v", r.at, r.watts, got, r.sum)
		}
	}
	if want := 100.0 + 200; e.maxError != want {
		t.Errorf("doubt %v J, want %v", e.maxError, want)
	}
}

// TestEnergyDoubt: energy from readings of power that jump is reported with its bound, from steady ones it is not.
func TestEnergyDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		watts string
		warns bool
	}{"steady": {"400 401", false}, "jumping": {"100 400", true}} {
		path := fake(t, "while :; do for w in "+c.watts+`; do echo "0, GPU-1, H100, 00000000:0A:00.0, $w, 40, 5, 1024, 41, 0, 0, 0"; sleep 0.02; done; done
`)
		var warnings []string
		enough := make(chan struct{})
		n := 0
		g, err := OpenSMI(t.Context(), Options{
			Cadence: telemetry.Cadence{Interval: 20 * time.Millisecond}, Reachable: 30 * time.Second, Log: slog.New(slog.DiscardHandler),
			Line: func([]byte) {
				if n++; n == 8 {
					close(enough)
				}
			},
			Warn: func(text string) { warnings = append(warnings, text) },
		}, path)
		if err != nil {
			t.Fatal(err)
		}
		<-enough
		g.Stop()
		if said := strings.Contains(strings.Join(warnings, "\n"), "GPU energy is accurate to "); said != c.warns || len(warnings) > 1 {
			t.Errorf("%s: %q", name, warnings)
		}
	}
}

// TestEnergyOfAPhase: the energy of a phase is that between its begin and its end, also if both lie between two readings.
func TestEnergyOfAPhase(t *testing.T) {
	path := fake(t, `echo "0, GPU-1, H100, 00000000:0A:00.0, 400, 40, 5, 1024, 41, 0, 0, 0"
exec sleep 60
`)
	c, err := OpenSMI(t.Context(), Options{
		Cadence: telemetry.Cadence{Interval: time.Minute}, Reachable: 30 * time.Second, Log: slog.New(slog.DiscardHandler), Line: func([]byte) {}, Warn: func(text string) { t.Error(text) },
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	c.Once(t.Context(), time.Second)
	from := time.Now()
	time.Sleep(300 * time.Millisecond)
	c.Once(t.Context(), time.Second)
	seconds := time.Since(from).Seconds()
	c.Stop()
	r := c.Within(metric.Window{From: from.UnixNano(), To: time.Now().UnixNano()})
	if len(r.Endpoints) != 1 || len(r.Endpoints[0].GPUs) != 1 {
		t.Fatalf("%+v", r)
	}
	g := r.Endpoints[0].GPUs[0]
	if len(g.Metrics) != 1 || g.Metrics[0].Tag != "nvidia_energy_consumption" || g.UUID != "GPU-1" {
		t.Fatalf("%+v", g)
	}
	if got, want := g.Metrics[0].Values[metric.Avg]*1e6, 400*seconds; math.Abs(got-want) > .05*want {
		t.Errorf("%v J, want %v", got, want)
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
