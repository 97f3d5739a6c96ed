package timeline

import (
	"math"
	"slices"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/stats"
)

// spread holds the quantiles of the values of a second, ms.
type spread struct {
	known              bool // there were values
	p50, p90, p99, max float64
}

// spreadOf returns the quantiles of some values, which it sorts.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	slices.Sort(values)
	return spread{
		known: true, max: values[len(values)-1],
		p50: stats.Percentile(values, 50), p90: stats.Percentile(values, 90), p99: stats.Percentile(values, 99),
	}
}

// write writes the quantiles; nothing if there were no values.
func (s spread) write(o *jsontext.Object, key string) {
	if !s.known {
		return
	}
	o.Key(key)
	q := jsontext.Open(o.B)
	q.Float("p50", s.p50)
	q.Float("p90", s.p90)
	q.Float("p99", s.p99)
	q.Float("max", s.max)
	o.B = q.Close()
}

// gathered holds the values of a second until all its requests are read, ms.
type gathered struct {
	requests      int
	ttft, latency []float64
}

// spreads computes the quantiles of all seconds. Requests come about in the order of their ends, and the number of each second is known: so one pass
// over the columns holds the values of a few seconds at once. The caller holds the mutex.
func (t *Timeline) spreads() {
	if t.spreadsOf == t.ended.Len() {
		return
	}
	t.spreadsOf = t.ended.Len()
	open := map[int64]*gathered{}
	var free *gathered // of a complete second, for the next one
	ended, ttft, latency := t.ended.Cursor(), t.ttft.Cursor(), t.latency.Cursor()
	for range t.ended.Len() {
		key := t.base + int64(ended.Next())
		g := open[key]
		if g == nil {
			if g = free; g == nil {
				g = new(gathered)
			}
			free, open[key] = nil, g
		}
		g.requests++
		g.ttft = appendMillis(g.ttft, ttft.Next())
		g.latency = appendMillis(g.latency, latency.Next())
		if b := t.seconds[key]; g.requests == b.valid() {
			b.ttft, b.latency = spreadOf(g.ttft), spreadOf(g.latency)
			delete(open, key)
			free, *g = g, gathered{ttft: g.ttft[:0], latency: g.latency[:0]}
		}
	}
}

// appendMillis appends a value of ns in ms, unless it is missing.
func appendMillis(list []float64, ns float64) []float64 {
	if math.IsNaN(ns) {
		return list
	}
	return append(list, ns/1e6)
}
