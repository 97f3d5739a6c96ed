// Package servermetrics computes figures from the Prometheus endpoints of inference servers during a run. Rules: telemetry, section 2.
package servermetrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/telemetry/exposition"
)

// Type is the type of a metric in the files.
type Type = exposition.Type

// snapshot is the content of one page, in its order.
type snapshot struct {
	metrics []*snapMetric
	names   map[string]bool // of all families
	dropped []string        // metrics with values that are not finite
	skipped []string        // families of unsupported types
}

// snapMetric is one metric of a page.
type snapMetric struct {
	name, help string
	kind       Type
	info       bool // constant: the information is in its labels
	samples    []*snapSample
}

// snapSample is one label set. Labels are sorted by name.
type snapSample struct {
	labels  []exposition.Label
	value   float64 // of a gauge or counter
	buckets []bucket
	sum     float64
	count   float64
}

// bucket is a bucket of a histogram: the number of observations up to its bound.
type bucket struct {
	le    string
	bound float64
	count float64
}

// read makes a snapshot from a page by the rules of section 2.4.
func read(page *exposition.Page) *snapshot {
	s := &snapshot{names: map[string]bool{}}
	for _, f := range page.Families {
		s.names[f.Name] = true
	}
	for _, f := range page.Families {
		switch {
		case len(f.Samples) == 0 || ignored(f.Name) || ignored(strings.TrimSuffix(f.Name, "_total")):
		case f.Type == exposition.Summary || f.Type == exposition.StateSet || f.Type == exposition.GaugeHistogram:
			s.skipped = append(s.skipped, f.Name)
		case f.Type == exposition.Histogram:
			s.histogram(f)
		default:
			s.scalars(f)
		}
	}
	return s
}

// ignored reports whether a metric is a creation time or an uptime.
func ignored(name string) bool {
	return strings.HasSuffix(name, "_created") || strings.HasSuffix(name, "_uptime") || strings.Contains(name, "_uptime_")
}

// scalars reads a family of single values.
func (s *snapshot) scalars(f *exposition.Family) {
	m := &snapMetric{name: f.Name, help: f.Help, kind: f.Type}
	switch f.Type {
	case exposition.Counter:
		// Go programs have a gauge go_memstats_alloc_bytes and a counter go_memstats_alloc_bytes_total: in that case the counter keeps its full name.
		if short := strings.TrimSuffix(f.Name, "_total"); !s.names[short] {
			m.name = short
		}
	case exposition.Info:
		m.kind = exposition.Gauge
		m.name = strings.TrimSuffix(f.Name, "_info") + "_info"
	}
	m.info = m.kind == exposition.Gauge && strings.HasSuffix(m.name, "_info")
	at := map[string]int{}
	bad := false
	for i := range f.Samples {
		in := &f.Samples[i]
		if strings.HasSuffix(in.Name, "_created") {
			continue
		}
		if !finite(in.Value) {
			bad = true
			continue
		}
		one := &snapSample{labels: sortedLabels(in.Labels, ""), value: in.Value}
		key := labelKey(one.labels)
		if k, ok := at[key]; ok { // the last one counts
			m.samples[k] = one
			continue
		}
		at[key] = len(m.samples)
		m.samples = append(m.samples, one)
	}
	s.add(m, bad)
}

// histogram reads a family of buckets. A label set with a value that is not finite is dropped completely.
func (s *snapshot) histogram(f *exposition.Family) {
	m := &snapMetric{name: f.Name, help: f.Help, kind: exposition.Histogram}
	at := map[string]*snapSample{}
	broken := map[string]bool{}
	for i := range f.Samples {
		in := &f.Samples[i]
		suffix := strings.TrimPrefix(in.Name, f.Name)
		if suffix == "_created" || suffix == "" {
			continue
		}
		labels := sortedLabels(in.Labels, "le")
		key := labelKey(labels)
		one := at[key]
		if one == nil {
			one = &snapSample{labels: labels, sum: math.NaN(), count: math.NaN()}
			at[key] = one
			m.samples = append(m.samples, one)
		}
		if !finite(in.Value) {
			broken[key] = true
			continue
		}
		switch suffix {
		case "_sum":
			one.sum = in.Value
		case "_count":
			one.count = in.Value
		case "_bucket":
			le := in.Label("le")
			bound, err := strconv.ParseFloat(le, 64)
			if err != nil || math.IsNaN(bound) {
				broken[key] = true
				continue
			}
			one.put(bucket{le, bound, in.Value})
		}
	}
	m.samples = slices.DeleteFunc(m.samples, func(one *snapSample) bool {
		one.complete()
		return broken[labelKey(one.labels)] || math.IsNaN(one.count) || math.IsNaN(one.sum)
	})
	s.add(m, len(broken) > 0)
}

// put stores a bucket; of equal bounds the last counts.
func (one *snapSample) put(b bucket) {
	i, found := slices.BinarySearchFunc(one.buckets, b.bound, func(have bucket, bound float64) int { return cmp.Compare(have.bound, bound) })
	if found {
		one.buckets[i] = b
		return
	}
	one.buckets = slices.Insert(one.buckets, i, b)
}

// complete sets the count of a histogram that has it only as its last bucket.
func (one *snapSample) complete() {
	n := len(one.buckets)
	if math.IsNaN(one.count) && n > 0 && math.IsInf(one.buckets[n-1].bound, 1) {
		one.count = one.buckets[n-1].count
	}
}

func (s *snapshot) add(m *snapMetric, bad bool) {
	if bad {
		s.dropped = append(s.dropped, m.name)
	}
	if len(m.samples) > 0 {
		s.metrics = append(s.metrics, m)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// sortedLabels returns labels sorted by name, except the one named without; of equal names the last counts.
func sortedLabels(labels []exposition.Label, without string) []exposition.Label {
	out := make([]exposition.Label, 0, len(labels))
	for _, l := range labels {
		if l.Name == without && without != "" {
			continue
		}
		i, found := slices.BinarySearchFunc(out, l.Name, func(have exposition.Label, name string) int { return cmp.Compare(have.Name, name) })
		if found {
			out[i] = l
			continue
		}
		out = slices.Insert(out, i, l)
	}
	return out
}

// labelKey returns a key that is unique for a label set.
func labelKey(labels []exposition.Label) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(strconv.Quote(l.Name))
		b.WriteByte('=')
		b.WriteString(strconv.Quote(l.Value))
		b.WriteByte(',')
	}
	return b.String()
}
