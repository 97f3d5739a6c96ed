package servermetrics

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/exposition"
)

// sections lists the sections of the CSV in their order, with the figures in their columns.
var sections = []struct {
	kind  Type
	stats []string
}{
	{exposition.Gauge, gaugeColumns},
	{exposition.Counter, []string{"total", "rate", "rate_avg", "rate_min", "rate_max", "rate_std"}},
	{exposition.Histogram, []string{"count", "count_rate", "sum", "sum_rate", "avg", "p1_estimate", "p5_estimate", "p10_estimate", "p25_estimate", "p50_estimate", "p75_estimate",
		"p90_estimate", "p95_estimate", "p99_estimate"}},
	{exposition.Unknown, gaugeColumns},
}

var gaugeColumns = []string{"avg", "min", "max", "std", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"}

// CSV returns server_metrics_export.csv.
func (r *Results) CSV(h *Head) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# AIPerf Server Metrics Export (CSV)\n# aiperf_version: %s\n# schema_version: %s\n# benchmark_id: %s\n"+
		"# Note: the JSON and Parquet files of the same run carry the same benchmark_id and version\n#\n", h.Version, textSchema, h.BenchmarkID)
	w := csv.NewWriter(&b)
	first := true
	begin := func() {
		if !first {
			w.Flush()
			b.WriteByte('\n')
		}
		first = false
	}
	for _, s := range sections {
		if rows := r.section(s.kind); len(rows) > 0 {
			begin()
			writeSection(w, s.kind, s.stats, rows)
		}
	}
	if info := r.information(); len(info) > 0 {
		begin()
		w.Write([]string{"Endpoint", "Metric", "Key", "Value", "Description"})
		for _, row := range info {
			w.Write(row)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// csvRow is a series with its metric.
type csvRow struct {
	metric *Metric
	series *Series
	filled []bool // by label column
}

func (r *Results) section(kind Type) (rows []csvRow) {
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Type != kind || m.Info {
			continue
		}
		for k := range m.Series {
			rows = append(rows, csvRow{metric: m, series: &m.Series[k]})
		}
	}
	return rows
}

func writeSection(w *csv.Writer, kind Type, figures []string, rows []csvRow) {
	labels := labelColumns(rows)
	head := slices.Concat([]string{"Endpoint", "Type", "Metric", "Unit"}, figures, labels, []string{"Description"})
	if kind == exposition.Histogram {
		head = append(head, "buckets")
	}
	w.Write(head)
	for i := range rows {
		for _, l := range labels {
			rows[i].filled = append(rows[i].filled, has(rows[i].series.Labels, l))
		}
	}
	sorting.Stable(rows, func(a, b csvRow) int {
		return cmp.Or(slices.CompareFunc(a.filled, b.filled, func(x, y bool) int { return number(x) - number(y) }), cmp.Compare(a.metric.Name, b.metric.Name))
	})
	for _, row := range rows {
		cells := []string{telemetry.Name(row.series.URL), string(kind), row.metric.Name, row.metric.Unit}
		for _, key := range figures {
			cells = append(cells, figure(row.series.Stats, key))
		}
		for _, l := range labels {
			cells = append(cells, value(row.series.Labels, l))
		}
		cells = append(cells, row.metric.Help)
		if kind == exposition.Histogram {
			cells = append(cells, bucketCell(row.series.Buckets))
		}
		w.Write(cells)
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func has(labels []exposition.Label, name string) bool {
	return slices.ContainsFunc(labels, func(l exposition.Label) bool { return l.Name == name })
}

func value(labels []exposition.Label, name string) string {
	for _, l := range labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

func figure(list []Stat, key string) string {
	for i := range list {
		if list[i].Key == key {
			return list[i].text()
		}
	}
	return ""
}

func bucketCell(list []Count) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, c.Le+"="+strconv.FormatInt(c.N, 10))
	}
	return strings.Join(parts, ";")
}

// labelColumns orders the labels of a section. Labels connected by series that have them together are a family. Families are sorted by their smallest
// label; in a family, labels that one series has alone come first.
func labelColumns(rows []csvRow) []string {
	carried := map[string]int{}
	parent := map[string]string{}
	root := func(l string) string {
		for parent[l] != l {
			l = parent[l]
		}
		return l
	}
	for _, row := range rows {
		for i, l := range row.series.Labels {
			if carried[l.Name]++; parent[l.Name] == "" {
				parent[l.Name] = l.Name
			}
			if i > 0 {
				parent[root(l.Name)] = root(row.series.Labels[0].Name)
			}
		}
	}
	smallest := map[string]string{}
	var names []string
	for l := range carried {
		names = append(names, l)
		if r := root(l); smallest[r] == "" || l < smallest[r] {
			smallest[r] = l
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(smallest[root(a)], smallest[root(b)]), number(carried[a] > 1)-number(carried[b] > 1), cmp.Compare(a, b))
	})
	return names
}

// information returns a row for every label of constant metrics.
func (r *Results) information() (rows [][]string) {
	for _, m := range r.Metrics {
		if !m.Info {
			continue
		}
		for _, s := range m.Series {
			for _, l := range s.Labels {
				rows = append(rows, []string{telemetry.Name(s.URL), m.Name, l.Name, l.Value, m.Help})
			}
		}
	}
	return rows
}
