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
	known := external || slices.Contains(gpuCollectors, g.Collector)
	if !known {
		v.oneOf("benchmark.gpu_telemetry.collector", g.Collector, gpuCollectors...)
	}
	v.oneOf("benchmark.gpu_telemetry.mode", g.Mode, gpuModes...)
	v.addIf(known && g.Enabled && g.Collector != "dcgm" && len(g.URLs) > 0, "benchmark.gpu_telemetry.urls", "cannot go with %s, which reads the GPUs of this machine: choose one", g.Collector)
	for _, f := range b.ServerMetrics.Formats {
		v.oneOf("benchmark.server_metrics.formats", f, wordsOfKey("server_metrics.formats")...)
	}
	d := &b.ServerMetrics.Discovery
	v.oneOf("benchmark.server_metrics.discovery.mode", d.Mode, wordsOfKey("server_metrics.discovery.mode")...)
	v.addIf(d.Mode == "disabled" && d.LabelSelector != "", "benchmark.server_metrics.discovery.label_selector", "is for mode auto or kubernetes")
	v.addIf(d.Mode == "disabled" && d.Namespace != "", "benchmark.server_metrics.discovery.namespace", "is for mode auto or kubernetes")
	v.addIf(!(d.Timeout > 0), "benchmark.server_metrics.discovery.timeout_seconds", "must be above 0")
	n := &b.NetworkLatency
	v.addIf(n.MeanMs != nil && !(*n.MeanMs >= 0), "benchmark.network_latency.mean_ms", "must be >= 0")
	v.addIf(!(n.PingInterval > 0), "benchmark.network_latency.ping_interval", "must be above 0")
}
