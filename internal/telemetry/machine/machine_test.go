package machine

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
)

// TestReading: by hand, from two states of /proc of a machine with two cores: 100 jiffies each, of which 30 idle, 10 of them stolen.
func TestReading(t *testing.T) {
	if runtime.GOOS != "linux" {
		if start(t.TempDir(), nil) != nil {
			t.Error("a system without /proc tells something")
		}
		return
	}
	root := t.TempDir()
	put := func(path, text string) {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("proc/stat", "cpu  100 0 0 100 0 0 0 0 0 0\ncpu0 50 0 0 50 0 0 0 0 0 0\ncpu1 50 0 0 50 0 0 0 0 0 0\nctxt 1000\nbtime 1\n")
	put("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    250 kB\n")
	put("proc/net/sockstat", "sockets: used 9\nTCP: inuse 5 orphan 0 tw 2 alloc 9 mem 1\nUDP: inuse 1\n")
	put("proc/net/sockstat6", "TCP6: inuse 3\n")
	put("proc/sys/net/ipv4/ip_local_port_range", "1001\t1100\n")
	put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n")
	put("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n")
	put("proc/pressure/cpu", "some avg10=1.24 avg60=1.49 avg300=0.84 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	before, ok := read(root)
	if !ok {
		t.Fatal("nothing was read")
	}
	put("proc/stat", "cpu  220 0 10 160 0 0 0 10 0 0\ncpu0 140 0 0 55 0 0 0 5 0 0\ncpu1 80 0 10 105 0 0 0 5 0 0\nctxt 1500\n")
	put("proc/pressure/cpu", "some avg10=1.24 avg60=1.49 avg300=0.84 total=1050000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	after, _ := read(root)
	var line struct {
		Source string             `json:"telemetry_source_url"`
		Data   map[string]float64 `json:"telemetry_data"`
	}
	w := &Watcher{line: func(text []byte) {
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatal(err)
		}
	}}
	at := time.Unix(100, 0)
	w.take(&before, &after, at, 250*time.Millisecond)
	for key, want := range map[string]float64{
		"cpu_utilization": 70, "cpu_steal": 5, "cpu_pressure": 20, "cpu_utilization_core_0": 95, "cpu_utilization_core_1": 45, "cpu_frequency_mhz": 2500, "memory_utilization": 75,
		"memory_used_gb": 750 * 1024 / 1e9, "tcp_sockets": 8, "tcp_time_wait": 2, "local_port_utilization": 10, "context_switches_per_second": 2000,
	} {
		if got, there := line.Data[key]; !there || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if line.Source != Source {
		t.Error(line.Source)
	}
	if u := w.Use(metric.Window{From: 99e9, To: 100e9}); u.MachineSamples != 1 || u.MachineCPU != 70 || u.MachineCoreMax != 95 || u.Steal != 5 || math.Abs(u.Pressure-20) > 1e-9 || u.PortsMax != 10 {
		t.Errorf("%+v", u)
	}
	if u := w.Use(metric.Window{From: 101e9, To: 102e9}); u.MachineSamples != 0 {
		t.Errorf("%+v", u)
	}
}

// TestWatcher: this machine tells something, if it is one that does.
func TestWatcher(t *testing.T) {
	lines := make(chan []byte, 100)
	w := Start(func(line []byte) { lines <- line })
	if w == nil {
		if runtime.GOOS == "linux" {
			t.Error("nothing is told")
		}
		return
	}
	line := <-lines
	w.Stop()
	if !json.Valid(line) {
		t.Errorf("%s", line)
	}
}
