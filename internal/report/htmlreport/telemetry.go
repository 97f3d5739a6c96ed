package htmlreport

import (
	"math"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/runfiles"
)

// timelineLane is a figure of GPUs or servers: its key in the timeline, and where samples have it if a run has no timeline.
type timelineLane struct {
	key, name, unit string
	sampled         []string // tags of GPUs; parts of names of server metrics
}

var gpuLanes = []timelineLane{
	{"gpu_utilization_percent", "GPU utilization", "%, mean of the GPUs", []string{"nvidia_gpu_utilization", "amd_gfx_activity"}},
	{"gpu_power_w", "GPU power", "W, all GPUs", nil},
	{"", "GPU power", "W, mean of the GPUs", []string{"nvidia_power_usage", "amd_power"}},
	{"", "GPU memory", "GB, mean of the GPUs", []string{"nvidia_memory_used", "amd_memory_used"}},
}

var serverLanes = []timelineLane{
	{"server_requests_running", "Running in the server", "requests", []string{"num_requests_running"}},
	{"server_queue_length", "Waiting in the server", "requests", []string{"num_requests_waiting"}},
	{"server_kv_cache_usage", "KV cache in use", "share", []string{"cache_usage_perc"}},
}

// withCount puts the number of GPUs into the unit of a lane; 0 = unknown.
func withCount(unit string, n int) string {
	if n == 0 {
		return unit
	}
	gpus := terminal.Plural(n, "GPU")
	return strings.NewReplacer("mean of the GPUs", "mean of "+gpus, "all GPUs", "sum of "+gpus).Replace(unit)
}

// telemetry returns lanes of the GPUs and the servers on the clock of the run, and what to do for those that are missing. The timeline has unified
// names for all servers; runs of other tools have only samples.
func (c *clock) telemetry(run *runfiles.Run) (list []*chart.Chart, missing []string) {
	drawn := map[string]bool{}
	add := func(l *timelineLane, samples func(sampled string) (at []int64, v []float64)) {
		if drawn[l.name] {
			return
		}
		ch := c.fromTimeline(run, l)
		for _, one := range l.sampled {
			if ch == nil {
				at, v := samples(one)
				ch = c.line(at, v, l.name, l.unit)
			}
		}
		if ch != nil {
			ch.Y.Title = withCount(ch.Y.Title, run.GPUCount())
			drawn[l.name] = true
			list = append(list, ch)
		}
	}
	for i := range gpuLanes {
		add(&gpuLanes[i], func(tag string) ([]int64, []float64) {
			g, err := run.GPUs()
			if err != nil {
				return nil, nil
			}
			return g.Mean(tag)
		})
	}
	if list == nil {
		missing = append(missing, "No GPU metrics were collected; "+spellSetting("gpu_telemetry.urls")+" with the URL of an exporter adds their lanes.")
	}
	before := len(list)
	for i := range serverLanes {
		add(&serverLanes[i], func(part string) ([]int64, []float64) {
			series, err := run.Servers()
			if err != nil {
				return nil, nil
			}
			for k := range series {
				if s := &series[k]; s.Type == "gauge" && strings.Contains(s.Metric, part) {
					return s.At, s.Value
				}
			}
			return nil, nil
		})
	}
	if len(list) == before {
		missing = append(missing, "No server metrics for these lanes were found (requests running and waiting, KV cache); "+spellSetting("server_metrics.urls")+" with the URL of another exporter adds them.")
	}
	return list, missing
}

// fromTimeline returns a lane of the timeline, each value at the middle of its second; nil if the timeline does not have it.
func (c *clock) fromTimeline(run *runfiles.Run, l *timelineLane) *chart.Chart {
	seconds, err := run.Seconds()
	if err != nil {
		return nil
	}
	values, ok := seconds.Figure(l.key)
	if !ok {
		return nil
	}
	var at []int64
	var v []float64
	for i, one := range values {
		if !math.IsNaN(one) {
			at, v = append(at, seconds.At[i]+5e8), append(v, one)
		}
	}
	return c.line(at, v, l.name, l.unit)
}
