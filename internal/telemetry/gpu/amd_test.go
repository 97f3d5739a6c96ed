package gpu

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry"
)

// TestAMD: two GPUs as two generations of amd-smi tell of them; energy is what the counter grew by, from the reading before the window.
func TestAMD(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	path := fake(t, `n=$(cat `+count+` 2>/dev/null || echo 0)
case "$1" in
list) echo '[{"gpu":0,"bdf":"0000:c1:00.0","uuid":"u-0"},{"gpu":1,"bdf":"N/A","uuid":"N/A"}]';;
static) echo '{"gpu_data":[{"gpu":0,"asic":{"market_name":"AMD Instinct MI300X"}}]}';;
metric) echo $((n+1)) > `+count+`
echo '{"gpu_data":[{"gpu":0,"usage":{"gfx_activity":{"value":40,"unit":"%"},"umc_activity":{"value":5,"unit":"%"},"mm_activity":"N/A"},"power":{"socket_power":{"value":300,"unit":"W"},"throttle_status":"UNTHROTTLED"},"temperature":{"edge":"N/A","hotspot":{"value":51,"unit":"C"}},"ecc":{"total_uncorrectable_count":2},"mem_usage":{"used_vram":{"value":1024,"unit":"MB"}},"energy":{"total_energy_consumption":{"value":'$((1000+600*n))'.5,"unit":"J"}}},{"gpu":1,"usage":"N/A","power":{"average_socket_power":"100 W","throttle_status":"THROTTLED"},"temperature":{"hotspot":49000}}]}';;
esac
`)
	c, err := OpenAMD(t.Context(), Options{
		Cadence: telemetry.Cadence{Interval: time.Hour, Timeout: time.Minute}, Reachable: time.Minute, Log: slog.New(slog.DiscardHandler), Line: func([]byte) {}, Warn: func(string) {},
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().UnixNano()
	for range 2 {
		c.Once(t.Context(), time.Minute)
	}
	c.Stop()
	r := c.Result(metric.Window{From: from, To: time.Now().UnixNano()}, 0)
	if len(r.Endpoints) != 1 || r.Endpoints[0].Name != "amdsmi://localhost" && r.Endpoints[0].Name != "localhost" || len(r.Endpoints[0].GPUs) != 2 || len(r.Errors) != 0 {
		t.Fatalf("%+v", r)
	}
	want := []map[string]float64{
		{"amd_power": 300, "amd_energy_consumption": 1200e-6, "amd_gfx_activity": 40, "amd_umc_activity": 5, "amd_memory_used": 1.073741824, "amd_temperature": 51, "amd_ecc_uncorrectable": 0, "amd_throttle_status": 0},
		{"amd_power": 100, "amd_temperature": 49, "amd_throttle_status": 1},
	}
	for i, g := range r.Endpoints[0].GPUs {
		if len(g.Metrics) != len(want[i]) || g.Platform != "amd" {
			t.Errorf("GPU %d: %+v", i, g)
		}
		for _, m := range g.Metrics {
			if v := want[i][m.Tag]; math.Abs(m.Values[metric.Avg]-v) > 1e-12 {
				t.Errorf("GPU %d %s: %v, want %v", i, m.Tag, m.Values[metric.Avg], v)
			}
		}
	}
	if g := r.Endpoints[0].GPUs; g[0].Name != "AMD Instinct MI300X" || g[0].UUID != "u-0" || g[1].Name != "Unknown GPU" || g[1].UUID != "GPU-unknown-1" {
		t.Errorf("%+v", g)
	}
}

// TestAMDThrottle: the status of older versions, and what newer ones tell in its place.
func TestAMDThrottle(t *testing.T) {
	for text, want := range map[string]float64{
		`{"power":{"throttle_status":"THROTTLED"}}`: 1, `{"power":{"throttle_status":"UNTHROTTLED"}}`: 0, `{"power":{"throttle_status":"N/A"},"throttle":"N/A"}`: -1, `{}`: -1,
		`{"power":{"throttle_status":"N/A"},"throttle":{"prochot_violation_status":"NOT ACTIVE","ppt_violation_status":"ACTIVE","hbm_thermal_violation_status":"N/A"}}`: 1,
		`{"throttle":{"prochot_violation_status":"NOT ACTIVE","ppt_violation_status":"NOT ACTIVE"}}`:                                                                    0,
	} {
		var m amdMetric
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		got, told := m.values()["amd_throttle_status"]
		if told != (want >= 0) || told && got != want {
			t.Errorf("%s: %v %t", text, got, told)
		}
	}
}

func TestAMDRefusals(t *testing.T) {
	for name, c := range map[string]struct{ command, says string }{
		"no program": {filepath.Join(t.TempDir(), "amd-smi"), "no such file"},
		"no driver":  {fake(t, "echo 'AMDSMI_STATUS_DRIVER_NOT_LOADED' >&2; exit 255\n"), "DRIVER_NOT_LOADED"},
		"no JSON":    {fake(t, "echo hello\n"), "cannot read the list of GPUs"},
		"no GPU":     {fake(t, "echo '[]'\n"), "no GPU found"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := OpenAMD(ctx, Options{Cadence: telemetry.Cadence{Interval: time.Second}, Reachable: 30 * time.Second, Log: slog.New(slog.DiscardHandler)}, c.command)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzAMD(f *testing.F) {
	f.Add([]byte(`[{"gpu":0,"power":{"socket_power":{"value":1e400,"unit":"W"}}}]`))
	f.Add([]byte(`{"gpu_data":[{"gpu":-1,"usage":"N/A","temperature":{"hotspot":"51 C"},"energy":{"total_energy_consumption":{"value":"1","unit":"J"}}}]}`))
	fields := NewFields("amd", nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := amdList[amdMetric](text)
		if err != nil {
			return
		}
		for i := range list {
			number := list[i].at("", "gpu")
			if n := number.index(i); n < 0 {
				t.Error(n)
			}
			for tag, v := range list[i].values() {
				if _, known := fields.byTag[tag]; !known || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
					t.Errorf("%s: %v", tag, v)
				}
			}
		}
	})
}
