package resolve

import (
	"os"
	"slices"
	"strings"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/gpu"
)

// telemetry fills in what is collected during the run besides the requests.
func (r *resolver) telemetry() {
	r.gpuTelemetry()
	if r.has("--server-metrics") {
		r.run.ServerMetrics.URLs = r.metricURLs(r.set.Texts("--server-metrics"))
	}
	r.bind("server_metrics.", "server_metrics.urls")
	r.bind("network_latency.")
	if r.run.NetworkLatency.MeanMs != nil {
		r.run.NetworkLatency.Enabled = true
	}
	r.run.GPUTelemetry.Enabled = !r.set.True("--no-gpu-telemetry", !r.run.GPUTelemetry.Enabled)
	r.run.ServerMetrics.Enabled = !r.set.True("--no-server-metrics", !r.run.ServerMetrics.Enabled)
}

// livePanel warns if the live table of GPU figures was requested but cannot be shown.
func (r *resolver) livePanel() {
	g := &r.run.GPUTelemetry
	if g.Enabled && g.Mode == config.GPULive && r.run.Runtime.UI != config.UIDashboard {
		r.warn("%s: only the dashboard has a live table; the report has the figures", r.gpuWord("dashboard", "gpu_telemetry.mode", g.Mode))
	}
}

// gpuWord returns how the user selected a GPU setting: a word among the items of a flag, or the value of a key in a file.
func (r *resolver) gpuWord(word, key, value string) string {
	for _, flag := range gpuFlags {
		if slices.ContainsFunc(r.set.Texts(flag), func(item string) bool { return strings.EqualFold(strings.TrimSpace(item), word) }) {
			return r.spelled(flag) + " " + word
		}
	}
	return r.spell(r.run.LongKey(key)) + " " + value
}

// metricURLs completes the URLs of endpoints.
func (r *resolver) metricURLs(items []string) []string {
	urls := []string{}
	for _, item := range items {
		item = strings.TrimSpace(item)
		switch {
		case item == "":
		case !strings.HasPrefix(item, "http") && !strings.Contains(item, ":"):
			r.fail("%s %s: want a URL or host:port", r.spelled("--server-metrics"), item)
		default:
			if u, ok := r.exporterURL("--server-metrics", item); ok {
				urls = append(urls, telemetry.URL(u))
			}
		}
	}
	return urls
}

// exporterURL checks the address of an exporter.
func (r *resolver) exporterURL(flag, item string) (string, bool) {
	u, err := ParseURL(item)
	if err == nil && IsMock(u) {
		r.fail("%s %s: a simulated server has no address before it runs; its own metrics are read anyway", r.spelled(flag), item)
		return "", false
	}
	if err != nil {
		r.fail("%s: %v", r.spelled(flag), err)
	}
	return u, err == nil
}

// gpuFlags lists the flags that name sources of GPU figures.
var gpuFlags = []string{"--gpu-telemetry", "--server-metrics-urls"}

// gpuForms are the forms that an item of --gpu-telemetry may have.
const gpuForms = "want pynvml, amdsmi, the name of a plug-in, dashboard, a .csv file of metrics, or the URL (or host:port) of a DCGM exporter"

// gpuTelemetry reads the items of --gpu-telemetry in any order: a file of figures, a collector, the dashboard, URLs.
func (r *resolver) gpuTelemetry() {
	g := &r.run.GPUTelemetry
	for _, flag := range gpuFlags {
		if !r.has(flag) {
			continue
		}
		if flag == "--server-metrics-urls" {
			r.old(flag, "--gpu-telemetry, which it was there")
		}
		var urls []string
		local := ""
		for _, item := range r.set.Texts(flag) {
			item = strings.TrimSpace(item)
			low := strings.ToLower(item)
			switch {
			case low == "":
			case strings.HasSuffix(low, ".csv"):
				if _, err := os.Stat(item); err != nil {
					r.fail("%s %s: %v", r.spelled(flag), item, err)
				}
				g.MetricsFile = item
			case low == "pynvml" || low == "amdsmi" || r.gpuPlugin(low):
				if local != "" && local != low {
					r.fail("%s: %s and %s are two collectors; choose one", r.spelled(flag), local, low)
				}
				local = low
			case low == "dashboard":
				g.Mode = config.GPULive
			default:
				if u, ok := r.gpuURL(flag, item); ok {
					urls = append(urls, u)
				}
			}
		}
		if local != "" {
			g.Collector = local
			if len(urls) > 0 {
				r.fail("%s: %s reads the GPUs of this machine, %s those of others; choose one", r.spelled(flag), local, strings.Join(urls, ", "))
			}
		}
		if len(urls) > 0 {
			g.URLs = append(slices.Clone(g.URLs), urls...)
			if flag == "--gpu-telemetry" {
				g.URLs = urls
			}
		}
	}
}

// gpuPlugin reports whether an item names a plug-in that reads GPUs.
func (r *resolver) gpuPlugin(item string) bool {
	if strings.HasPrefix(item, "http") {
		return false
	}
	_, ok := plugin.Installed().Find(gpu.Category, item)
	return ok
}

// collectors are prefixes for the URL of an exporter.
var collectors = []string{"dcgm"}

// gpuURL reads the address of an exporter: URL, collector:URL, host:port.
func (r *resolver) gpuURL(flag, item string) (string, bool) {
	if at := strings.Index(item, ":http"); at > 0 && !strings.HasPrefix(strings.ToLower(item), "http") {
		if name := item[:at]; !slices.Contains(collectors, strings.ToLower(name)) {
			r.fail("%s %s: there is no collector %s for exporters; %s", r.spelled(flag), redact.URL(item), name, gpuForms)
			return "", false
		}
		item = item[at+1:]
	}
	if !strings.HasPrefix(strings.ToLower(item), "http") && !strings.Contains(item, ":") {
		r.fail("%s %s: %s", r.spelled(flag), item, gpuForms)
		return "", false
	}
	return r.exporterURL(flag, item)
}
