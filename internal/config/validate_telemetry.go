package config

import (
	"slices"

	"aiperf/internal/base/plugin"
)

// The collectors and display modes of GPU metrics.
var (
	gpuCollectors = []string{"dcgm", "pynvml", "amdsmi"}
	gpuModes      = []string{"summary", GPULive}
)

// telemetry checks the settings of GPU and server metrics.
func (v *violations) telemetry(b *Benchmark) {
	g := &b.GPUTelemetry
	_, external := plugin.Installed().Find("gpu_telemetry_collector", g.Collector)
	v.addIf(!slices.Contains(gpuCollectors, g.Collector) && !external, "benchmark.gpu_telemetry.collector", "%q is not one of %q", g.Collector, gpuCollectors)
	v.addIf(!slices.Contains(gpuModes, g.Mode), "benchmark.gpu_telemetry.mode", "%q is not one of %q", g.Mode, gpuModes)
	v.addIf(g.Enabled && g.Collector != "dcgm" && len(g.URLs) > 0, "benchmark.gpu_telemetry.urls", "cannot go with %s, which reads the GPUs of this machine: choose one", g.Collector)
	d := &b.ServerMetrics.Discovery
	v.addIf(d.Mode == "disabled" && d.LabelSelector != "", "benchmark.server_metrics.discovery.label_selector", "is for mode auto or kubernetes")
	v.addIf(d.Mode == "disabled" && d.Namespace != "", "benchmark.server_metrics.discovery.namespace", "is for mode auto or kubernetes")
	v.addIf(!(d.Timeout > 0), "benchmark.server_metrics.discovery.timeout_seconds", "must be above 0")
	n := &b.NetworkLatency
	v.addIf(n.MeanMs != nil && !(*n.MeanMs >= 0), "benchmark.network_latency.mean_ms", "must be >= 0")
	v.addIf(!(n.PingInterval > 0), "benchmark.network_latency.ping_interval", "must be above 0")
}
