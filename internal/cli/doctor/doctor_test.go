package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry/machine"
	"aiperf/internal/wire/capture"
)

func TestMain(m *testing.M) { os.Exit(testhome.Run(m)) }

// good is a machine without a fault.
func good() *Facts {
	synchronised := true
	return &Facts{
		OS: "linux", Arch: "amd64", Stamps: Stamps{Events: 10, Kernel: 10}, CPUs: 4, Cores: 4, Sampled: time.Second,
		Use:         metric.MachineUse{MachineSamples: 4, MachineCPU: 20, MemoryMax: 30},
		ClockSource: "tsc", ClockRead: 30 * time.Nanosecond, Synchronised: &synchronised, Files: 65536, Connections: 65000, Ports: 28232,
		Dir: "/home/u", DirFree: 1e12, DirWrites: true, Cache: "/home/u/.cache/huggingface/hub", CacheModels: 2, CacheFree: 1e12, CacheWrites: true,
	}
}

// TestGoodMachine: nothing is complained about, and every check has a fact and a meaning.
func TestGoodMachine(t *testing.T) {
	for _, c := range good().Checks() {
		if c.Level != OK || c.Change != "" || c.Found == "" || c.Meaning == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestFaults: each fault changes one check, says what was found, and what to do.
func TestFaults(t *testing.T) {
	no := false
	tests := []struct {
		check string
		level Level
		harm  func(*Facts)
		found string
		says  string // in the meaning or the change
	}{
		{"kernel stamps", Note, func(f *Facts) { f.Stamps.Kernel = 0 }, "0 of 10", "gVisor"},
		{"kernel stamps", Note, func(f *Facts) { f.Stamps.Kernel, f.OS = 3, "darwin" }, "3 of 10", "Linux"},
		{"kernel stamps", Problem, func(f *Facts) { f.Stamps = Stamps{Err: errors.New("connection refused")} }, "connection refused", "127.0.0.1"},
		{"packet capture", Note, func(f *Facts) { f.CaptureError = fmt.Errorf("packet socket: %w", os.ErrPermission) }, "CAP_NET_RAW", "setcap"},
		{"packet capture", Note, func(f *Facts) { f.CaptureError = capture.ErrUnsupported }, "Linux", "--capture on"},
		{"packet capture", Note, func(f *Facts) { f.CaptureError = errors.New("no ring") }, "no ring", "--capture on"},
		{"CPUs", Note, func(f *Facts) { f.CPUs = 1 }, "1 CPU;", "two CPUs"},
		{"CPUs", Note, func(f *Facts) { f.Governor = "powersave" }, "powersave", "cpupower"},
		{"CPUs", Note, func(f *Facts) { f.Quota = machine.Quota{CPUs: 2, Period: 1e8, Periods: 100, Throttled: 5} }, "quota of 2 CPUs", "limits.cpu"},
		{"CPUs", Problem, func(f *Facts) {
			f.Quota = machine.Quota{CPUs: 2, Period: 1e8, Periods: 100, Throttled: 6, Stopped: 3e9}
		}, "6 of 100 periods, for 3s", "100ms"},
		{"CPUs", Problem, func(f *Facts) { f.Quota = machine.Quota{CPUs: 0.5, Period: 1e8} }, "0.5 CPUs", "limits.cpu"},
		{"other load", Note, func(f *Facts) { f.Use = metric.MachineUse{} }, "does not report", "yourself"},
		{"other load", Note, func(f *Facts) { f.Use.Steal = 2 }, "2.0 %", "dedicated"},
		{"other load", Problem, func(f *Facts) { f.Use.Steal = 20 }, "20.0 %", "dedicated"},
		{"other load", Note, func(f *Facts) { f.Use.Pressure = 60 }, "60 %", "other programs"},
		{"other load", Note, func(f *Facts) { f.Use.MachineCPU = 95 }, "95 %", "other programs"},
		{"wake-ups", Note, func(f *Facts) { f.Stalls = clock.Stalls{Count: 1, Longest: 15 * time.Millisecond} }, "15.00 ms", "pauses"},
		{"wake-ups", Note, func(f *Facts) { f.Stalls = clock.Stalls{WakesLate: 0.5} }, "50 %", "Schedules"},
		{"clock source", Note, func(f *Facts) { f.ClockSource, f.ClockRead = "hpet", time.Microsecond }, "hpet; one reading takes 1000 ns", "available_clocksource"},
		{"wall clock", Note, func(f *Facts) { f.Synchronised = &no }, "not synchronised", "chrony"},
		{"local ports", Note, func(f *Facts) { f.Ports = 1000 }, "1,000 ports", "ip_local_port_range"},
		{"local ports", Note, func(f *Facts) { f.Use.PortsMax = 90 }, "90.0 %", "--local-address"},
		{"open files", Note, func(f *Facts) { f.Files, f.Connections = 256, 200 }, "256 files", "ulimit -n 65536"},
		{"open files", Problem, func(f *Facts) { f.Files, f.Connections = 64, 20 }, "64 files", "20 connections"},
		{"memory", Note, func(f *Facts) { f.Use.MemoryMax = 97 }, "97 %", "swap"},
		{"results", Problem, func(f *Facts) { f.DirWrites = false }, "not writable", "--artifact-dir"},
		{"results", Problem, func(f *Facts) { f.DirFree = 1e6 }, "free", "--artifact-dir"},
		{"results", Note, func(f *Facts) { f.DirFree = 5e8 }, "free", "--artifact-dir"},
		{"tokenizer cache", Note, func(f *Facts) { f.CacheModels, f.Offline = -1, "HF_HUB_OFFLINE" }, "HF_HUB_OFFLINE forbids", "--tokenizer DIR"},
		{"tokenizer cache", Note, func(f *Facts) { f.CacheWrites = false }, "not writable", "HF_HOME"},
		{"tokenizer cache", Note, func(f *Facts) { f.CacheFree = 1e6 }, "2 models", "HF_HOME"},
		{"proxy variables", Note, func(f *Facts) { f.Proxies = []Variable{{"HTTP_PROXY", "http://p:1"}} }, "HTTP_PROXY=http://p:1", "AIPERF_HTTP_TRUST_ENV=true"},
		{"proxy variables", Note, func(f *Facts) { f.Proxies, f.TrustProxy = []Variable{{"HTTP_PROXY", "http://p:1"}}, true }, "HTTP_PROXY", "latencies include it"},
		{"GPU tools", Note, func(f *Facts) { f.GPUs = []GPUTool{{Name: "nvidia-smi", Err: errors.New("no driver\x1b[2J")}} }, `no driver\x1b`, "DCGM"},
		{"GPU tools", Note, func(f *Facts) { f.GPUs = []GPUTool{{Name: "amd-smi"}} }, "no GPU", "DCGM"},
		{"GPU tools", OK, func(f *Facts) { f.GPUs = []GPUTool{{Name: "nvidia-smi", GPUs: 2}} }, "2 GPUs", "--gpu-telemetry"},
	}
	for _, tt := range tests {
		f := good()
		tt.harm(f)
		checks := f.Checks()
		for _, c := range checks {
			if c.Name != tt.check {
				if c.Level != OK {
					t.Errorf("%s: changes %s as well", tt.check, c.Name)
				}
				continue
			}
			if c.Level != tt.level || !strings.Contains(c.Found, tt.found) || !strings.Contains(c.Meaning+c.Change, tt.says) || (c.Level == Problem && c.Change == "") {
				t.Errorf("%s: %+v, want %s, %q, %q", tt.check, c, tt.level, tt.found, tt.says)
			}
		}
		if got := Worst(checks); got != tt.level {
			t.Errorf("%s: the worst is %s, want %s", tt.check, got, tt.level)
		}
	}
}

// TestUnknowns: unknown facts stay ok, and no number is made up for them.
func TestUnknowns(t *testing.T) {
	f := good()
	f.Synchronised, f.Files, f.Ports, f.DirFree, f.CacheModels, f.CacheFree, f.Use.MemoryMax = nil, 0, 0, -1, -1, -1, 0
	f.ClockSource = ""
	for _, c := range f.Checks() {
		if c.Level != OK || strings.Contains(c.Found, "-1") {
			t.Errorf("%+v", c)
		}
	}
}

// TestRead: this machine is examined, secrets of proxies are not kept, and nothing is written.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	cache := filepath.Join(dir, "hub")
	for _, name := range []string{"models--a--b", "datasets--c", "version.txt"} {
		if err := os.MkdirAll(filepath.Join(cache, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"https_proxy": "http://user:hunter22secret@proxy:3128", "AIPERF_HTTP_TRUST_ENV": "true", "HF_HUB_CACHE": cache, "TRANSFORMERS_OFFLINE": "1"}
	f := Read(t.Context(), 300*time.Millisecond, func(name string) string { return env[name] })
	if f.Stamps.Err != nil || f.Stamps.Events != testEvents || f.CPUs < 1 || f.Cores < 1 || f.ClockRead <= 0 || !f.DirWrites || f.CacheModels != 1 || f.Offline != "TRANSFORMERS_OFFLINE" || !f.TrustProxy {
		t.Errorf("%+v", f)
	}
	if runtime.GOOS == "linux" && (f.Use.MachineSamples < 1 || f.Ports == 0 || f.Kernel == "" || f.DirFree <= 0) {
		t.Errorf("%+v", f)
	}
	if len(f.Proxies) != 1 || strings.Contains(fmt.Sprint(f.Proxies), "hunter22secret") || !strings.Contains(f.Proxies[0].Value, "proxy:3128") {
		t.Errorf("%+v", f.Proxies)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files were written: %v, %v", left, err)
	}
}

// TestReadEndsWithTheContext: an interrupted check does not wait for its sample.
func TestReadEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := Read(ctx, time.Hour, func(string) string { return "" }); f.Sampled > time.Minute {
		t.Error(f.Sampled)
	}
}

// TestGPUTools: the GPUs of a working tool are counted, and the error of a broken one is reported.
func TestGPUTools(t *testing.T) {
	if runtime.GOOS == "windows" {
		return
	}
	dir := t.TempDir()
	for name, script := range map[string]string{
		"nvidia-smi": "while :; do echo '0, GPU-1, H100, 00000000:0A:00.0, 100.5, 40, 5, 1024, 41, 1, 2, 0'; echo '1, GPU-2, H100, 00000000:0B:00.0, 100.5, 40, 5, 1024, 41, 1, 2, 0'; sleep 0.05; done",
		"amd-smi":    "echo 'driver not loaded' >&2; exit 3",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list := gpuTools(t.Context(), func(name string) (string, error) { return filepath.Join(dir, name), nil })
	if len(list) != 2 || list[0].Err != nil || list[0].GPUs != 2 || list[1].Err == nil || !strings.Contains(list[1].Err.Error(), "driver not loaded") {
		t.Errorf("%+v", list)
	}
	if none := gpuTools(t.Context(), func(string) (string, error) { return "", os.ErrNotExist }); len(none) != 0 {
		t.Errorf("%+v", none)
	}
}
