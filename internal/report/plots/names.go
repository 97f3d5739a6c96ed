package plots

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/suggest"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/telemetry/gpu"
)

// statKeys lists the statistics of a metric.
var statKeys = []string{"p50", "avg", "p90", "p95", "p99", "min", "max", "std", "p1", "p5", "p10", "p25", "p75"}

// Columns that are not metrics.
const (
	perGPU        = "output_token_throughput_per_gpu"
	total         = "output_token_throughput"
	concurrency   = "concurrency"
	requestNumber = "request_number"
	timestamp     = "timestamp"
	timestampS    = "timestamp_s"
	startNS       = "request_start_ns"
	endNS         = "request_end_ns"
	tokenRate     = "throughput_tokens_per_sec"
	active        = "active_requests"
	sliceColumn   = "Timeslice"
	tokenPosition = "output_token_position"
)

// requestColumns lists the columns of records besides their metrics.
var requestColumns = []string{requestNumber, timestamp, timestampS, startNS, endNS, tokenRate, active, tokenPosition}

// known reports whether a name is a column of a mode.
func known(name string, multi bool) bool {
	if m, ok := metric.Lookup(name); ok && !m.Hidden() {
		return true
	}
	if multi {
		return name == perGPU || name == concurrency || name == "request_rate" || name == "duration_seconds"
	}
	return slices.Contains(requestColumns, name) || slices.Contains(runfiles.GapColumns, name) || name == sliceColumn || isGPU(name) || isSlice(name)
}

func isGPU(name string) bool {
	return gpu.NameOf(name) != "" || strings.HasPrefix(name, "nvidia_") || strings.HasPrefix(name, "amd_") || name == "gpu_utilization"
}

// isSlice reports whether a name is the display name of a metric, as in time slices.
func isSlice(name string) bool {
	return slices.ContainsFunc(metric.All(), func(m *metric.Metric) bool { return m.Header == name && !m.Hidden() })
}

// serverName matches the names that exporters of servers use.
var serverName = lazyregexp.New(`:|^(vllm|sglang|trtllm|nv|http|dynamo|nvidia|dcgm|gpu|process|node|container)_|_(total|count|sum|bucket|seconds|milliseconds|microseconds|us|ms|ns|bytes)$`)

func isServerMetric(name string) bool {
	base, _, _ := strings.Cut(name, "[")
	base, _, _ = strings.Cut(base, "{")
	if m, ok := metric.Lookup(base); ok && !m.Hidden() || slices.Contains(requestColumns, base) || gpu.NameOf(base) != "" {
		return false
	}
	return serverName.MatchString(base)
}

// resolve finds the source of a name.
func (r *Ref) resolve(multi bool) error {
	if r.Source != "" {
		return nil
	}
	m, isMetric := metric.Lookup(r.Metric)
	isMetric = isMetric && !m.Hidden()
	switch {
	case multi && known(r.Metric, true):
		r.Source = "aggregated"
	case !multi && (slices.Contains(requestColumns, r.Metric) || slices.Contains(runfiles.GapColumns, r.Metric) || isMetric):
		r.Source = "requests"
	case !multi && (r.Metric == sliceColumn || isSlice(r.Metric)):
		r.Source = "timeslices"
	case !multi && isGPU(r.Metric):
		r.Source = "gpu_telemetry"
	case isServerMetric(r.Metric):
		r.Source = "server_metrics"
	default:
		return unknownMetric(r.Metric, multi)
	}
	if multi && r.Source == "server_metrics" {
		return fmt.Errorf("%s: server metrics can be drawn for a single run only, not for several", r.Metric)
	}
	return nil
}

// unknownMetric returns an error that lists the known names.
func unknownMetric(name string, multi bool) error {
	var names []string
	for _, m := range metric.All() {
		if !m.Hidden() {
			names = append(names, m.Tag)
		}
	}
	if multi {
		names = append(names, perGPU, concurrency, "request_rate", "duration_seconds")
	} else {
		names = append(names, requestColumns...)
	}
	near := ""
	if n := suggest.Name(name, names); n != "" {
		near = "; did you mean " + n + "?"
	}
	return fmt.Errorf("unknown metric %s%s; allowed are %s", name, near, fold(names))
}

// title formats a name with its unit for an axis.
func title(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " (" + unit + ")"
}

// columnTitle returns the title of a column of one run.
func columnTitle(name string) string {
	switch name {
	case requestNumber:
		return "Request Number"
	case timestamp, startNS, endNS:
		return "Time (seconds)"
	case timestampS:
		return "Time (s)"
	case sliceColumn:
		return "Timeslice (s)"
	case tokenRate:
		return "Output token throughput (tokens/s)"
	case active:
		return "Active requests"
	case tokenPosition:
		return "Output Token Position"
	}
	if rest, ok := strings.CutPrefix(name, "inter_chunk_latency_"); ok {
		return "Inter Chunk Latency (" + rest + ") (ms)"
	}
	return metricTitle(name, "")
}

// metricTitle returns the title of a metric, with its statistic unless it is the average.
func metricTitle(tag, stat string) string {
	name, unit := words(tag), ""
	switch tag {
	case perGPU:
		name, unit = "Output Token Throughput Per GPU", "tokens/sec/gpu"
	case concurrency:
		name = "Concurrency Level"
	case "request_rate":
		name, unit = "Request Rate", "requests/sec"
	case "duration_seconds":
		name, unit = "Duration", "sec"
	default:
		if m, ok := metric.Lookup(tag); ok {
			name, unit = m.Header, m.Display
		} else if isGPU(tag) {
			name, unit = gpuTitle(tag), gpu.UnitOf(tag)
			if unit == "" && strings.Contains(tag, "utilization") {
				unit = "%"
			}
		}
	}
	if stat != "" && stat != "avg" {
		name += " (" + stat + ")"
	}
	return title(name, unit)
}

// gpuTitle names a figure of GPUs without the vendor: "GPU Utilization".
func gpuTitle(tag string) string {
	name := gpu.NameOf(tag)
	if name == "" {
		name = strings.ReplaceAll(words(tag), "Gpu", "GPU")
	}
	for _, vendor := range []string{"NVIDIA ", "AMD ", "Nvidia ", "Amd "} {
		name = strings.TrimPrefix(name, vendor)
	}
	if !strings.Contains(name, "GPU") {
		name = "GPU " + name
	}
	return name
}

// words formats a tag in title case.
func words(tag string) string {
	list := strings.Split(tag, "_")
	for i, w := range list {
		if w != "" {
			list[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(list, " ")
}
