package gpu

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/plugin"
	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry"
)

// openExternal opens a plug-in that answers "start" and then each "collect" with one of the given results; "" = it ends.
func openExternal(t *testing.T, results ...string) (*Collector, error) {
	t.Helper()
	var script strings.Builder
	script.WriteString("read hello\necho '{\"type\":\"hello\",\"protocol\":1,\"methods\":[\"start\",\"collect\"]}'\n")
	for i, r := range append([]string{"{}"}, results...) {
		script.WriteString("read call\ncase $call in *'\"id\":" + string(rune('1'+i)) + ",'*) ;; *) exit 7;; esac\n")
		if r == "" {
			script.WriteString("exit 9\n")
			continue
		}
		script.WriteString("echo '{\"id\":" + string(rune('1'+i)) + ",\"result\":" + r + "}'\n")
	}
	script.WriteString("read end\n")
	path := fake(t, script.String())
	return OpenExternal(t.Context(), Options{
		Cadence: telemetry.Cadence{Interval: time.Hour, Timeout: time.Minute}, Reachable: time.Minute, Log: slog.New(slog.DiscardHandler), Line: func([]byte) {},
		Warn: func(text string) { t.Log(text) },
	}, &plugin.Entry{Category: Category, Name: "mine", Exec: []string{path}, File: t.TempDir() + "/plugins.yaml"})
}

// TestExternal: the figures of a plug-in have the names of the vendor with or without its prefix; others are added as new figures. null is missing.
func TestExternal(t *testing.T) {
	gpus := func(power, energy string) string {
		return `{"gpus":[{"gpu_index":0,"uuid":"u","model":"X1","hostname":"h","metrics":{"gpu_power_usage":` + power + `,"nvidia_energy_consumption":` + energy + `,"fan_speed":40}},{"gpu_index":3,"metrics":{"temperature":null}}]}`
	}
	c, err := openExternal(t, gpus("200", "1"), gpus("100", "1.5"), gpus("300", "2"))
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().UnixNano()
	for range 2 {
		c.Once(t.Context(), time.Minute)
	}
	c.Stop()
	r := c.Result(metric.Window{From: from, To: time.Now().UnixNano()}, 0)
	if len(r.Endpoints) != 1 || len(r.Errors) != 0 || r.Successful[0] != "mine://localhost" {
		t.Fatalf("%+v", r)
	}
	g := r.Endpoints[0].GPUs[0]
	want := map[string]float64{"nvidia_power_usage": 200, "nvidia_energy_consumption": 1, "fan_speed": 40}
	if g.Name != "X1" || g.UUID != "u" || g.Platform != "nvidia" || len(g.Metrics) != len(want) {
		t.Errorf("%+v", g)
	}
	for _, m := range g.Metrics {
		if m.Values[metric.Avg] != want[m.Tag] {
			t.Errorf("%s: %v, want %v", m.Tag, m.Values[metric.Avg], want[m.Tag])
		}
	}
}

// TestExternalFaults: a plug-in that cannot read GPUs is refused; one that ends later loses readings, which are counted.
func TestExternalFaults(t *testing.T) {
	for result, want := range map[string]string{
		`{"gpus":[]}`: "no GPU found", `{"gpus":[{"metrics":{}}]}`: `gpus[0] has no "gpu_index"`, `{"gpus":[{"gpu_index":1},{"gpu_index":1}]}`: "gpu_index 1 occurs twice",
		`{"gpus":[{"gpu_index":1,"metrics":{"a":"b"}}]}`: "plug-in gpu_telemetry_collector:mine: collect: the result has a string", "": "exit status 9",
	} {
		if _, err := openExternal(t, result); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", result, err)
		}
	}
	c, err := openExternal(t, `{"gpus":[{"gpu_index":0,"metrics":{"amd_power":5}}]}`, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.Once(t.Context(), time.Minute)
	}
	c.Stop()
	r := c.Result(metric.Window{From: 0, To: time.Now().UnixNano()}, 0)
	if len(r.Errors) != 1 || r.Errors[0].Count != 2 || !strings.Contains(r.Errors[0].Error.Message, "exit status 9") {
		t.Errorf("%+v", r.Errors)
	}
}
