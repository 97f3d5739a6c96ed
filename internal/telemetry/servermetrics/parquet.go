package servermetrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/parquet"
	"aiperf/internal/base/sorting"
	"aiperf/internal/telemetry/exposition"
)

// Columns of the Parquet file before and after those of the labels.
var (
	leading  = []string{"endpoint_url", "metric_name", "metric_type", "unit", "description", "timestamp_ns"}
	trailing = []string{"value", "sum", "count", "bucket_le", "bucket_count"}
)

// table writes rows of samples. After the first error it writes nothing.
type table struct {
	out    *parquet.Writer
	column map[string]int
	hide   func(string) string
	err    error
}

// Parquet writes server_metrics_export.parquet: every sample from the window's start on; counters and histograms as their growth since the reference.
// Every text passes through hide. It returns an error if the file could not be written completely.
func (c *Collector) Parquet(w io.Writer, h *Head, hide func(string) string) error {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	list := c.store.inWindow(h.Window)
	labels := labelNames(list)
	columns := slices.Concat(leading, labels, trailing)
	t := &table{column: map[string]int{}, hide: hide}
	for i, name := range columns {
		t.column[name] = i
	}
	metadata := h.metadata(list, labels)
	for i, m := range metadata {
		metadata[i] = [2]string{"aiperf." + m[0], hide(m[1])}
	}
	t.out = parquet.NewWriter(w, schema(columns), metadata)
	for i := range list {
		t.series(&list[i])
	}
	return cmp.Or(t.err, t.out.Close())
}

// sampled is a series with its samples.
type sampled struct {
	*series
	e    *endpoint
	span span
}

// inWindow lists the series with samples in a window, sorted by name, endpoint and labels.
func (s *Store) inWindow(w Window) (list []sampled) {
	for _, e := range s.endpoints {
		if len(e.at) == 0 {
			continue
		}
		for _, t := range e.series {
			if sp := t.span(e, Window{w.From, max(w.To, e.at[len(e.at)-1])}); len(sp.rows) > 0 {
				list = append(list, sampled{t, e, sp})
			}
		}
	}
	sorting.Sort(list, func(a, b sampled) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.e.url, b.e.url), cmp.Compare(labelKey(a.labels), labelKey(b.labels)))
	})
	return list
}

// labelNames returns the labels of all series, except those named like a fixed column.
func labelNames(list []sampled) (names []string) {
	for _, s := range list {
		for _, l := range s.labels {
			if !slices.Contains(leading, l.Name) && !slices.Contains(trailing, l.Name) && !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// schema returns the columns of the table with their types. Every value may be missing.
func schema(columns []string) (list []parquet.Column) {
	for _, name := range columns {
		c := parquet.Column{Name: name, Optional: true}
		switch name {
		case "timestamp_ns":
			c.Kind = parquet.Int64
		case "value", "sum", "count", "bucket_count":
			c.Kind = parquet.Double
		default:
			c.Kind, c.Dictionary = parquet.Text, true
		}
		list = append(list, c)
	}
	return list
}

// series writes the samples of one series.
func (t *table) series(s *sampled) {
	reference := s.span.rows[0]
	for _, row := range s.span.inside() {
		if s.kind != exposition.Histogram {
			v := s.value.At(row)
			if s.kind == exposition.Counter {
				v = max(v-at(&s.value, reference), 0)
			}
			r := t.row(s, s.e.at[row])
			t.set(r, "value", v)
			t.add(r)
			continue
		}
		if s.changedBounds {
			continue
		}
		for i, b := range s.les {
			r := t.row(s, s.e.at[row])
			t.set(r, "sum", max(s.sum.At(row)-at(&s.sum, reference), 0))
			t.set(r, "count", max(s.count.At(row)-at(&s.count, reference), 0))
			t.set(r, "bucket_le", b.le)
			t.set(r, "bucket_count", max(at(&s.counts[i], row)-at(&s.counts[i], reference), 0))
			t.add(r)
		}
	}
}

// row starts a row with its source and time.
func (t *table) row(s *sampled, at int64) []any {
	r := make([]any, len(t.column))
	texts := map[string]string{"endpoint_url": s.e.url, "metric_name": s.name, "metric_type": string(s.kind), "unit": unitOf(s.name, s.help), "description": s.help}
	for name, text := range texts {
		if text != "" {
			t.set(r, name, t.hide(text))
		}
	}
	t.set(r, "timestamp_ns", at)
	for _, l := range s.labels {
		if !slices.Contains(leading, l.Name) && !slices.Contains(trailing, l.Name) {
			t.set(r, l.Name, t.hide(l.Value))
		}
	}
	return r
}

func (t *table) set(r []any, name string, v any) { r[t.column[name]] = v }

func (t *table) add(r []any) {
	if t.err == nil {
		t.err = t.out.Append(r...)
	}
}

// metadata returns the information about the run, sorted by key.
func (h *Head) metadata(list []sampled, labels []string) [][2]string {
	end := h.Window.To
	var urls []string
	kinds := map[Type]int{}
	for _, s := range list {
		end = max(end, s.span.at[len(s.span.at)-1])
		if !slices.Contains(urls, s.e.url) {
			urls = append(urls, s.e.url)
		}
		kinds[s.kind]++ // the Python tool counts label sets as metrics
	}
	slices.Sort(urls)
	var counts []string
	for _, k := range []Type{exposition.Gauge, exposition.Counter, exposition.Histogram, exposition.Unknown} {
		if kinds[k] > 0 {
			counts = append(counts, fmt.Sprintf("%q:%d", k, kinds[k]))
		}
	}
	host, _ := os.Hostname() // the file has no host name then
	length := end - h.Window.From
	out := [][2]string{
		{"schema_version", textSchema}, {"version", h.Version}, {"benchmark_id", h.BenchmarkID},
		{"export_timestamp_utc", time.Now().UTC().Format("2006-01-02T15:04:05.000000+00:00")}, {"exporter", "ServerMetricsParquetExporter"}, {"hostname", host},
		{"time_filter_start_ns", strconv.FormatInt(h.Window.From, 10)}, {"time_filter_end_ns", strconv.FormatInt(end, 10)},
		{"profiling_duration_ns", strconv.FormatInt(length, 10)}, {"profiling_duration_seconds", strconv.FormatFloat(float64(length)/1e9, 'f', -1, 64)},
		{"input_config", string(h.InputConfig)}, {"model_names", jsonList(h.Models)},
		{"endpoint_urls", jsonList(urls)}, {"endpoint_count", strconv.Itoa(len(urls))},
		{"label_columns", jsonList(labels)}, {"label_count", strconv.Itoa(len(labels))},
		{"metric_count", strconv.Itoa(len(list))}, {"metric_type_counts", "{" + strings.Join(counts, ",") + "}"},
		{"schema_note", "The columns of labels differ from run to run: read several files with union_by_name=true."},
	}
	if h.Concurrency > 0 {
		out = append(out, [2]string{"concurrency", strconv.Itoa(h.Concurrency)})
	}
	if h.RequestRate > 0 {
		out = append(out, [2]string{"request_rate", strconv.FormatFloat(h.RequestRate, 'f', -1, 64)})
	}
	return out
}

func jsonList(list []string) string {
	if list == nil {
		list = []string{}
	}
	b, err := json.Marshal(list)
	if err != nil {
		return "[]"
	}
	return string(b)
}
