package exporters

import (
	"fmt"
	"math"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/telemetry/gpu"
	"aiperf/internal/telemetry/servermetrics"
)

// gaugeNames maps the preset gauges to the names that are shown.
var gaugeNames = map[string]string{"server_queue_length": "queue", "server_requests_running": "running", "server_kv_cache_usage": "KV cache"}

// LiveGauges returns the latest readings of servers and GPUs, for a live view.
func (w *Collection) LiveGauges() (list []liveview.Gauge) {
	if w.servers != nil {
		for _, p := range servermetrics.Presets {
			if value, ok := w.servers.Latest(p); ok {
				list = append(list, liveview.Gauge{Name: gaugeNames[p.Key], Value: value})
			}
		}
	}
	if w.gpu != nil {
		list = append(list, gpuGauges(w.gpu)...)
	}
	return list
}

// gpuGauges returns the gauges over all GPUs: their mean utilization and total power.
func gpuGauges(c *gpu.Collector) (list []liveview.Gauge) {
	for _, platform := range []string{"nvidia", "amd"} {
		for _, g := range []struct {
			tag, name, unit string
			mean            bool
		}{{platform + "_gpu_utilization", "GPUs", "%", true}, {platform + "_power_usage", "power", "W", false}} {
			if value, ok := c.Latest(g.tag, g.mean); ok {
				list = append(list, liveview.Gauge{Name: g.name, Unit: g.unit, Value: value})
			}
		}
	}
	return list
}

// LiveGPUs returns the current state of the GPUs and their readings since an instant of the wall clock, or a note that says why there are none.
func (w *Collection) LiveGPUs(from int64) (list []liveview.GPU, note []string) {
	if w.gpu == nil {
		return nil, []string{"GPU telemetry is disabled", w.Config.As("gpu_telemetry.urls") + " URL asks an exporter; it is read from the start of a run"}
	}
	configured, successful := w.gpu.Sources()
	if len(successful) == 0 {
		asked := strings.Join(configured, ", ")
		if asked == "" {
			asked = strings.Join(w.Config.Environment.GPU.DefaultDCGMEndpoints, ", ")
		}
		return nil, []string{"no exporter reachable at " + terminal.Line(asked), w.Config.As("gpu_telemetry.urls") + " URL names another"}
	}
	for _, g := range w.gpu.Live(metric.Window{From: from, To: math.MaxInt64}) {
		one := liveview.GPU{Title: terminal.Line(fmt.Sprintf("%s | GPU %d | %s", g.Endpoint, g.Index, g.Name))}
		for i := range g.Metrics {
			m := &g.Metrics[i]
			value, ok := g.Current[m.Tag]
			if !ok {
				value = math.NaN()
			}
			one.Rows = append(one.Rows, liveGPUMetric(m, value))
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		note = []string{"the exporter has not reported a GPU yet"}
	}
	return list, note
}

// liveGPUMetric returns a figure of a GPU with its current value. A counter, such as energy, has no statistics: its current value is the growth since the
// start.
func liveGPUMetric(m *metric.GPUMetric, current float64) liveview.GPUMetric {
	row := liveview.GPUMetric{Name: terminal.Line(m.Name), Unit: terminal.Line(m.Unit), Current: current}
	statistic := func(s metric.Stat) float64 {
		if !m.Has(metric.Max) || !m.Has(s) {
			return math.NaN()
		}
		return m.Values[s]
	}
	if !m.Has(metric.Max) {
		row.Current = m.Values[metric.Avg]
	}
	row.Avg, row.Min, row.Max, row.Std = statistic(metric.Avg), statistic(metric.Min), statistic(metric.Max), statistic(metric.Std)
	row.P99, row.P90, row.P50 = statistic(metric.P99), statistic(metric.P90), statistic(metric.P50)
	return row
}
