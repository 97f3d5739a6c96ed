package mockserver

import (
	"fmt"
	"strings"
	"time"
)

// dcgmPath is the path of the simulated GPU exporter.
const dcgmPath = "/dcgm/metrics"

// gpus answers with a page of the exporter. The line in the truth log holds the instant to which the page refers.
func (c *conn) gpus(req *request) bool {
	now := time.Now()
	c.truth.write(&Truth{Number: c.number.Add(1), Path: dcgmPath, Status: 200, Arrival: now.UnixNano(), Outcome: outcomeOK})
	return c.plain(req, 200, "text/plain; version=0.0.4; charset=utf-8", dcgmText(c.opts.DCGM, now.Sub(c.started), c.metrics.running.Load()), false)
}

// dcgmText returns a page of an exporter of NVIDIA's Data Center GPU Manager. The truth is simple: GPU i draws 100 (i + 1) W since the start of the
// server, its energy counter is that power times the time, and its utilisation is 100 % while requests run.
func dcgmText(gpus int, since time.Duration, running int64) string {
	busy := 0
	if running > 0 {
		busy = 100
	}
	var b strings.Builder
	for _, f := range []struct {
		name, kind, help string
		of               func(i int) float64
	}{
		{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", mockWatts},
		{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Energy since the server started (in mJ).", func(i int) float64 { return mockWatts(i) * since.Seconds() * 1e3 }},
		{"DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", func(int) float64 { return float64(busy) }},
		{"DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", func(i int) float64 { return float64(1024 * (i + 1)) }},
		{"DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", func(i int) float64 { return mockMemory - float64(1024*(i+1)) }},
		{"DCGM_FI_DEV_FB_TOTAL", "gauge", "Total framebuffer memory (in MiB).", func(int) float64 { return mockMemory }},
		{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", func(i int) float64 { return float64(40 + i) }},
		{"DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", func(i int) float64 { return float64(50 + i) }},
		{"DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", func(int) float64 { return 1410 }},
		{"DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", func(int) float64 { return 2619 }},
		{"DCGM_FI_DEV_POWER_MGMT_LIMIT", "gauge", "Power management limit (in W).", func(int) float64 { return 700 }},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		for i := range gpus {
			fmt.Fprintf(&b, "%s{gpu=\"%d\",UUID=\"GPU-mock-%d\",pci_bus_id=\"00000000:%02X:00.0\",device=\"nvidia%d\",modelName=\"Simulated GPU\",Hostname=\"mock\"} %v\n", f.name, i, i, i, i, f.of(i))
		}
	}
	return b.String()
}

// mockMemory is the memory of a simulated GPU, in MiB.
const mockMemory = 81920

// mockWatts returns the power of a simulated GPU, in W.
func mockWatts(i int) float64 { return 100 * float64(i+1) }
