// Package doctor examines the machine of the client before a benchmark: its kernel, CPUs, limits and tools. Read collects the facts, with the parts
// of the program that a run uses as well. Checks judges them: what each means for a measurement, and what to change.
package doctor

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/connection"
	"aiperf/internal/telemetry/machine"
	"aiperf/internal/text/hfhub"
	"aiperf/internal/wire/capture"
)

// Facts is what the doctor knows about a machine. Zero values mean unknown, where 0 is not a valid value.
type Facts struct {
	OS, Arch, Kernel string

	Stamps       Stamps
	CaptureError error // nil = packets may be captured

	CPUs     int // that the process may run on
	Cores    int // that the Go scheduler uses at once
	Quota    machine.Quota
	Governor string // that chooses the frequency of the first CPU

	Sampled time.Duration     // how long the machine was watched
	Use     metric.MachineUse // no samples = unknown
	Stalls  clock.Stalls

	ClockSource  string        // of the kernel
	ClockRead    time.Duration // cost of one reading
	Synchronised *bool         // the wall clock follows a reference; nil = unknown

	Files, Connections, Ports int

	Dir       string // current directory
	DirFree   int64  // bytes; -1 = unknown
	DirWrites bool

	Cache       string // directory of tokenizers and data sets
	CacheModels int    // models in it; -1 = the directory does not exist
	CacheFree   int64  // bytes; -1 = unknown
	CacheWrites bool
	Offline     string // variable that forbids downloads; "" = none

	Proxies    []Variable // that are set
	TrustProxy bool       // requests to servers use them, too

	GPUs []GPUTool
}

// Variable is a variable of the environment; its value has no secrets.
type Variable struct{ Name, Value string }

// proxyVariables are the variables that name proxies.
var proxyVariables = []string{"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}

// trustVariable makes requests to servers use the proxies of the environment.
const trustVariable = "AIPERF_HTTP_TRUST_ENV"

// Read examines this machine. It watches it for the time sample. getenv returns a variable of the environment. It writes nothing.
func Read(ctx context.Context, sample time.Duration, getenv func(string) string) *Facts {
	limits := connection.MachineLimits()
	f := &Facts{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Kernel: kernelRelease(),
		CPUs: runtime.NumCPU(), Cores: processors.Cores(), Quota: machine.ReadQuota(), Governor: governor(),
		ClockSource: clockSource(), ClockRead: clockCost(), Synchronised: clockSynchronised(),
		Files: limits.Files(), Connections: limits.Connections(), Ports: limits.Ports(),
	}
	if ring, err := capture.Open(capture.Options{Bytes: 1}); err != nil {
		f.CaptureError = err
	} else {
		f.CaptureError = ring.Close()
	}
	f.watch(ctx, sample)
	f.Stamps = loopback(ctx)
	f.disks(hfhub.FromEnv(getenv))
	for _, name := range proxyVariables {
		if v := getenv(name); v != "" {
			f.Proxies = append(f.Proxies, Variable{name, redact.URL(v)})
		}
	}
	f.TrustProxy = isOn(getenv(trustVariable))
	f.GPUs = gpuTools(ctx, exec.LookPath)
	return f
}

// isOn reports whether a variable switches something on.
func isOn(v string) bool {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// watch reads the use of the machine and the delays of timed wake-ups for a while.
func (f *Facts) watch(ctx context.Context, sample time.Duration) {
	begun := time.Now()
	beat, use := clock.StartHeartbeat(nil), machine.Start(func([]byte) {})
	select {
	case <-ctx.Done():
	case <-time.After(sample):
	}
	f.Stalls = beat.Stalls()
	beat.Stop()
	use.Stop()
	f.Sampled = time.Since(begun)
	f.Use = use.Use(metric.Window{From: begun.UnixNano(), To: time.Now().UnixNano()})
}

// clockCost returns the mean time that one reading of the clock takes.
func clockCost() time.Duration {
	const readings = 20_000
	begun := time.Now()
	for range readings {
		clock.Now()
	}
	return time.Since(begun) / readings
}

// disks looks at the directory of the results and at the cache of tokenizers.
func (f *Facts) disks(hub hfhub.Config) {
	f.DirFree, f.CacheFree = -1, -1
	if dir, err := os.Getwd(); err == nil {
		f.Dir, f.DirWrites = dir, writable(dir)
		if n, ok := hfhub.FreeBytes(dir); ok {
			f.DirFree = n
		}
	}
	f.Cache, f.Offline, f.CacheModels = hub.Cache, hub.Offline, -1
	list, err := os.ReadDir(hub.Cache)
	if err != nil {
		return
	}
	f.CacheModels, f.CacheWrites = 0, writable(hub.Cache)
	for _, one := range list {
		if strings.HasPrefix(one.Name(), "models--") {
			f.CacheModels++
		}
	}
	if n, ok := hfhub.FreeBytes(hub.Cache); ok {
		f.CacheFree = n
	}
}
