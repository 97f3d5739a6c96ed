package console

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
)

// gpus writes the GPU statistics: the vendor, the power that the work took, and a table for each GPU. It writes nothing for a run that found no GPUs
// and got no addresses of exporters.
func (d *drawing) gpus() {
	t := d.run.GPU
	if t == nil || len(t.Configured)+len(t.Endpoints) == 0 {
		return
	}
	d.panel("GPU Telemetry Platform", "Platform: "+platforms(t), "Vendors define these metrics differently: compare GPUs of different vendors with care.")
	if len(t.Endpoints) == 0 {
		d.say("\nNo GPU telemetry data collected during the benchmarking run.\n")
		d.sources(t)
		return
	}
	for _, p := range metric.Platforms {
		d.efficiency(p)
	}
	d.print("\n%s\n", d.style.bold(d.brand()+" | GPU Telemetry Summary"))
	d.sources(t)
	for i := range t.Endpoints {
		for k := range t.Endpoints[i].GPUs {
			d.gpu(t.Endpoints[i].Name, &t.Endpoints[i].GPUs[k])
		}
	}
}

// platforms names the vendors of the GPUs.
func platforms(t *metric.GPUTelemetry) string {
	var names []string
	for _, e := range t.Endpoints {
		for _, g := range e.GPUs {
			if !slices.Contains(names, g.Platform) {
				names = append(names, g.Platform)
			}
		}
	}
	if len(names) == 0 {
		return "unknown"
	}
	return strings.Join(names, ", ")
}

// sources lists the exporters and which of them answered.
func (d *drawing) sources(t *metric.GPUTelemetry) {
	reached := 0
	for _, u := range t.Configured {
		if slices.Contains(t.Successful, u) {
			reached++
		}
	}
	code := "33" // yellow: some answered
	switch reached {
	case 0:
		code = "31" // red: none answered
	case len(t.Configured):
		code = "32" // green: all answered
	}
	d.print("%s\n", d.style.paint(code, strconv.Itoa(reached)+"/"+strconv.Itoa(len(t.Configured))+" telemetry sources reachable"))
	for _, u := range t.Configured {
		if slices.Contains(t.Successful, u) {
			d.print("• %s ✔\n", sourceName(u))
		} else {
			d.print("• %s ✘ (unreachable)\n", sourceName(u))
		}
	}
	for _, g := range t.Errors {
		d.say("%s\n", d.style.dim(terminal.Plural(g.Count, "reading")+" lost: "+g.Error.Type+" "+g.Error.Message))
	}
}

// sourceName returns a source's URL without its scheme and /metrics.
func sourceName(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		u = rest
	}
	return strings.TrimSuffix(u, "/metrics")
}

// efficiency writes the table that relates the work to the power of a vendor's GPUs; nothing without figures.
func (d *drawing) efficiency(platform string) {
	results := d.resultsOf(func(m *metric.Metric) bool { return m.Group == metric.PowerGroup(platform) })
	if len(results) == 0 {
		return
	}
	sorting.Stable(results, func(a, b metric.Result) int { return rank(a.Metric) - rank(b.Metric) })
	t := &table{title: metric.PowerTitle(platform), head: []string{"Metric", metric.Avg.String()}}
	for i := range results {
		t.rows = append(t.rows, []string{label(results[i].Metric), number(&results[i], metric.Avg)})
	}
	d.print("\n")
	d.table(t)
}

// gpu writes the table of one GPU.
func (d *drawing) gpu(endpoint string, g *metric.GPU) {
	t := &table{title: endpoint + " | GPU " + strconv.Itoa(g.Index) + " | " + g.Name, head: []string{"Metric"}}
	for _, s := range columns {
		t.head = append(t.head, s.String())
	}
	for i := range g.Metrics {
		m := &g.Metrics[i]
		row := []string{m.Name + " (" + m.Unit + ")"}
		for _, s := range columns {
			row = append(row, gpuNumber(m, s))
		}
		t.rows = append(t.rows, row)
	}
	d.print("\n")
	d.table(t)
}

// gpuNumber formats a statistic with two decimals. Megajoules get more digits, and large numbers an exponent.
func gpuNumber(m *metric.GPUMetric, s metric.Stat) string {
	switch v := m.Values[s]; {
	case !m.Has(s):
		return missing
	case math.Abs(v) >= 1e6:
		return strconv.FormatFloat(v, 'e', 2, 64)
	case m.Unit == "MJ" && v != 0 && math.Abs(v) < 1:
		return strconv.FormatFloat(v, 'g', 3, 64)
	default:
		return terminal.Thousands(strconv.FormatFloat(v, 'f', 2, 64))
	}
}
