package artifact

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/metric"
)

// gpuColumns lists the columns that identify a GPU. A column is written if some GPU has a value for it.
var gpuColumns = []gpuColumn{
	{"Hostname", func(g *metric.GPU) string { return g.Hostname }},
	{"Namespace", func(g *metric.GPU) string { return g.Namespace }},
	{"Pod Name", func(g *metric.GPU) string { return g.Pod }},
}

type gpuColumn struct {
	name  string
	value func(*metric.GPU) string
}

// hasValue reports whether some GPU has a value for the column.
func (c *gpuColumn) hasValue(t *metric.GPUTelemetry) bool {
	return slices.ContainsFunc(t.Endpoints, func(e metric.GPUEndpoint) bool {
		return slices.ContainsFunc(e.GPUs, func(g metric.GPU) bool { return c.value(&g) != "" })
	})
}

// gpuCSV returns the GPU section of the summary CSV, with two empty lines before it; "" without GPUs.
func gpuCSV(t *metric.GPUTelemetry) string {
	if t == nil || len(t.Endpoints) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\r\n\r\n")
	c := csv.NewWriter(&b)
	c.UseCRLF = true
	head := []string{"Endpoint", "GPU_Index", "GPU_Name", "GPU_UUID", "Platform", "Metric"}
	for _, s := range csvStats {
		head = append(head, s.String())
	}
	var who []gpuColumn
	for _, col := range gpuColumns {
		if col.hasValue(t) {
			who, head = append(who, col), append(head, col.name)
		}
	}
	c.Write(head)
	for _, e := range t.Endpoints {
		for i := range e.GPUs {
			g := &e.GPUs[i]
			for k := range g.Metrics {
				m := &g.Metrics[k]
				row := []string{e.Name, strconv.Itoa(g.Index), g.Name, g.UUID, g.Platform, m.Name + " (" + m.Unit + ")"}
				for _, s := range csvStats {
					row = append(row, gpuCell(m, s))
				}
				for _, col := range who {
					row = append(row, col.value(g))
				}
				c.Write(row)
			}
		}
	}
	c.Flush()
	return b.String()
}

// gpuCell formats a statistic with two decimals. Megajoules get six significant digits, because a run uses only a small part of one.
func gpuCell(m *metric.GPUMetric, s metric.Stat) string {
	switch {
	case !m.Has(s):
		return ""
	case m.Unit == "MJ":
		return strconv.FormatFloat(m.Values[s], 'g', 6, 64)
	}
	return strconv.FormatFloat(m.Values[s], 'f', 2, 64)
}
