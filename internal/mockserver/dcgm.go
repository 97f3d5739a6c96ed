package mockserver

import (
	"fmt"
	"strings"
	"time"
)

// dcgmPath is where the simulated exporter of GPU figures answers.
const dcgmPath = "/dcgm/metrics"

// gpus answers with a page of the exporter. Its line of the truth log has the instant that the page is of.
func (c *conn) gpus(req *request) bool {
	now := time.Now()
	c.truth.write(&Truth{Number: c.number.Add(1), Path: dcgmPath, Status: 200, Arrival: now.UnixNano(), Outcome: outcomeOK})
	return c.plain(req, 200, "text/plain; version=0.0.4; charset=utf-8", dcgmText(c.opts.DCGM, now.Sub(c.started), c.metrics.running.Load()), false)
}

// dcgmText is a page of an exporter of NVIDIA's Data Center GPU Manager. The truth is simple: GPU i draws 100 (i + 1) W since the server began, its
// energy counter is that power times the time, and it is busy at 100 % while requests run.
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
		{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Energy since the server began (in mJ).", func(i int) float64 { return mockWatts(i) * since.Seconds() * 1e3 }},
		{"DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", func(int) float64 { return float64(busy) }},
		{"DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", func(i int) float64 { return float64(1024 * (i + 1)) }},
		{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", func(i int) float64 { return float64(40 + i) }},
	} {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		for i := range gpus {
			fmt.Fprintf(&b, "%s{gpu=\"%d\",UUID=\"GPU-mock-%d\",pci_bus_id=\"00000000:%02X:00.0\",device=\"nvidia%d\",modelName=\"Simulated GPU\",Hostname=\"mock\"} %v\n", f.name, i, i, i, i, f.of(i))
		}
	}
	return b.String()
}

// mockWatts is what a simulated GPU draws.
func mockWatts(i int) float64 { return 100 * float64(i+1) }
