// Package promserver publishes the progress of a run: running statistics of the finished requests, and a Prometheus page of them.
package promserver

import (
	"math"
	"sync"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

// Figures holds running statistics of the profiling requests, in constant space. The methods may be called from any goroutine.
type Figures struct {
	mu      sync.Mutex
	columns []*column // by index in metrics
	valid   int64
	failed  int64
	from    int64 // start of the first request, wall ns
	to      int64 // end of the last request, wall ns
}

// metrics lists the metrics that single requests have.
var metrics = func() (list []*metric.Metric) {
	for _, m := range metric.All() {
		if m.Kind == metric.Record && m.InRecords {
			list = append(list, m)
		}
	}
	return list
}()

// column holds the values of one metric so far, in its unit.
type column struct {
	stats.Sketch
	last float64
}

func (c *column) add(v float64) {
	c.Add(v)
	c.last = v
}

// Figure is the current statistics of a metric, in its display unit. They are exact, except for quantiles of more than 4096 values, which are accurate
// to 0.05 %.
type Figure struct {
	*metric.Metric
	Count             int64
	Sum, Avg, Std     float64 // Std: divisor n
	Min, Max, Current float64
	Quantiles         [9]float64 // stats.Levels, interpolated as in the summary; NaN = none
	HasDistribution   bool
}

// NewFigures returns empty figures.
func NewFigures() *Figures { return &Figures{columns: make([]*column, len(metrics))} }

// Observe adds a finished request.
func (f *Figures) Observe(row *metric.Row) {
	if row.Meta.Warmup || row.Class == metric.Cut {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.valid+f.failed == 0 || row.Start < f.from {
		f.from = row.Start
	}
	f.to = max(f.to, row.End)
	if row.Class == metric.Failed {
		f.failed++
	} else {
		f.valid++
	}
	for i, m := range metrics {
		v, ok := row.Value(m.Tag)
		if !ok {
			continue
		}
		if f.columns[i] == nil {
			f.columns[i] = new(column)
		}
		f.columns[i].add(v)
	}
}

// Now returns the current figures: the metrics of requests that have values, in the order of the exports, then derived ones.
func (f *Figures) Now() (list []Figure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.valid+f.failed == 0 {
		return nil
	}
	totals := map[string]float64{}
	for i, c := range f.columns {
		if c != nil {
			list = append(list, c.figure(metrics[i]))
			totals[metrics[i].Tag] = c.Total()
		}
	}
	seconds := float64(f.to-f.from) / 1e9
	put := func(tag string, v float64) {
		m, ok := metric.Lookup(tag)
		if ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			list = append(list, Figure{Metric: m, Avg: v})
		}
	}
	put("request_count", float64(f.valid))
	put("error_request_count", float64(f.failed))
	put("request_error_rate", 100*float64(f.failed)/float64(f.valid+f.failed))
	put("benchmark_duration", seconds)
	put("request_throughput", float64(f.valid)/seconds)
	for _, rate := range []struct{ tag, of string }{{"output_token_throughput", "output_sequence_length"}, {"input_token_throughput", "input_sequence_length"}} {
		if total, ok := totals[rate.of]; ok {
			put(rate.tag, total/seconds)
		}
	}
	return list
}

func (c *column) figure(m *metric.Metric) Figure {
	factor := m.Factor()
	g := Figure{
		Metric: m, HasDistribution: true, Count: c.Count, Sum: c.Total() / factor, Avg: c.Mean() / factor, Std: c.Std() / factor,
		Min: c.Min / factor, Max: c.Max / factor, Current: c.last / factor,
	}
	for i, p := range c.Percentiles(stats.Levels[:]...) {
		g.Quantiles[i] = p / factor
	}
	return g
}
