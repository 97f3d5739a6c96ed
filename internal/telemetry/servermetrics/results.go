package servermetrics

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
	"aiperf/internal/telemetry/exposition"
)

// Window is an interval of wall time in ns.
type Window struct{ From, To int64 }

// Results holds the figures of a run.
type Results struct {
	Endpoints []EndpointInfo
	Metrics   []Metric // by name
	Resets    []string // counters and histograms that were reset during the run
}

// EndpointInfo describes the readings of one endpoint. Instants are wall time in ns.
type EndpointInfo struct {
	URL                          string
	Fetches                      int
	FirstFetch, LastFetch        int64
	MeanLatency                  float64 // ms
	Updates                      int     // pages that differed from the previous one
	FirstUpdate, LastUpdate      int64
	MeanInterval, MedianInterval float64 // between updates, ms; the median is NaN with fewer than two
}

// Metric is one metric of all endpoints.
type Metric struct {
	Name, Help, Unit string
	Type             Type
	Info             bool
	Series           []Series // by endpoint, then labels
}

// Series holds the figures of one label set of one endpoint.
type Series struct {
	URL     string
	Labels  []exposition.Label
	Stats   []Stat
	Buckets []Count // cumulative; nil = none, or not reliable
	Slices  []Slice
}

// Stat is one figure.
type Stat struct {
	Key   string
	Value float64
	Whole bool // the value is a count
}

// Count is a bucket of a histogram: its bound in the server's spelling, and the number of observations up to it.
type Count struct {
	Le string
	N  int64
}

// percentiles lists the keys of the levels of package stats.
var percentiles = [...]string{"p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"}

// Results reduces every page from the window's start on; slice is the length of a time slice in seconds, 0 = no slices.
func (s *Store) Results(w Window, slice float64) *Results {
	return s.reduce(slice, func(e *endpoint) (figures, pages Window) {
		return Window{w.From, max(w.To, e.at[len(e.at)-1])}, Window{0, math.MaxInt64}
	})
}

// Phase reduces the pages of one phase of a run with several. next is the start of the following phase, 0 = it was the last. Servers count late, so
// every page up to that start belongs to the phase. An endpoint without a page in the phase is omitted.
func (s *Store) Phase(w Window, next int64, slice float64) *Results {
	return s.reduce(slice, func(e *endpoint) (figures, pages Window) {
		w := Window{w.From, e.end(w, next)}
		return w, w
	})
}

// end returns the instant of the last page of a phase: the last one before the next phase, or the first one after this phase if there is none in
// between.
func (e *endpoint) end(w Window, next int64) int64 {
	last := e.at[len(e.at)-1]
	if next == 0 {
		return max(w.To, last)
	}
	if i, _ := slices.BinarySearch(e.at, next); i > 0 && e.at[i-1] >= w.To {
		return e.at[i-1]
	}
	if i, _ := slices.BinarySearch(e.at, w.To); i < len(e.at) {
		return e.at[i]
	}
	return w.To
}

// reduce computes the figures of all endpoints; windows returns the interval of an endpoint's figures, and that of the pages to count.
func (s *Store) reduce(slice float64, windows func(*endpoint) (figures, pages Window)) *Results {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Results{}
	byName := map[string]*Metric{}
	for _, e := range s.endpoints {
		if len(e.at) == 0 {
			continue
		}
		figures, pages := windows(e)
		info := e.info(pages)
		if info.Fetches == 0 {
			continue
		}
		r.Endpoints = append(r.Endpoints, info)
		for _, t := range e.series {
			one, reset := t.figures(e, figures, slice)
			if one == nil {
				continue
			}
			m := byName[t.name]
			if m == nil {
				m = &Metric{Name: t.name, Help: t.help, Unit: unitOf(t.name, t.help), Type: t.kind, Info: t.info}
				byName[t.name] = m
			}
			m.Series = append(m.Series, *one)
			if reset && !slices.Contains(r.Resets, t.name) {
				r.Resets = append(r.Resets, t.name)
			}
		}
	}
	for _, m := range byName {
		sorting.Sort(m.Series, func(a, b Series) int {
			return cmp.Or(cmp.Compare(a.URL, b.URL), slices.CompareFunc(a.Labels, b.Labels, func(x, y exposition.Label) int {
				return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Value, y.Value))
			}))
		})
		r.Metrics = append(r.Metrics, *m)
	}
	sorting.Sort(r.Metrics, func(a, b Metric) int { return strings.Compare(a.Name, b.Name) })
	sorting.Sort(r.Endpoints, func(a, b EndpointInfo) int { return strings.Compare(a.URL, b.URL) })
	slices.Sort(r.Resets)
	return r
}

// within returns the positions of the instants in a window: the first, and the one after the last.
func within(at []int64, w Window) (from, to int) {
	from, _ = slices.BinarySearch(at, w.From)
	to, found := slices.BinarySearch(at, w.To)
	if found {
		to++
	}
	return from, max(from, to)
}

// info describes the readings of an endpoint in a window.
func (e *endpoint) info(w Window) EndpointInfo {
	const ms = 1e6
	from, to := within(e.at, w)
	i := EndpointInfo{URL: e.url, Fetches: to - from, MedianInterval: math.NaN()}
	if from == to {
		return i
	}
	i.FirstFetch, i.LastFetch = e.at[from], e.at[to-1]
	var took int64
	for _, t := range e.durations[from:to] {
		took += t
	}
	i.MeanLatency = float64(took) / float64(to-from) / ms
	from, to = within(e.updates, w)
	updates := e.updates[from:to]
	u := len(updates)
	i.Updates = u
	if u == 0 {
		return i
	}
	i.FirstUpdate, i.LastUpdate = updates[0], updates[u-1]
	if u > 1 {
		i.MeanInterval = float64(i.LastUpdate-i.FirstUpdate) / ms / float64(u-1)
		gaps := make([]float64, u-1)
		for k := range gaps {
			gaps[k] = float64(updates[k+1]-updates[k]) / ms
		}
		slices.Sort(gaps)
		i.MedianInterval = stats.Percentile(gaps, 50)
	}
	return i
}

// span holds the samples of a series that count: those from the window's start on, after a reference. The reference is the sample before the window. If
// there is none, it is the first inside, or 0 on the page before it if the series was not on that page.
type span struct {
	at        []int64 // of all samples, the reference first
	rows      []int   // their rows in the columns; absent = 0
	reference bool    // the first sample is only a reference
	window    Window
}

// absent is the row of a counter or histogram that a page did not have yet. Programs create a series with its first event, so its value was 0.
const absent = -1

// span selects the samples of a series.
func (t *series) span(e *endpoint, w Window) span {
	column := &t.value
	if t.kind == exposition.Histogram {
		column = &t.count
	}
	s := span{window: w}
	before, at := -1, int64(0)
	for i := range column.Len() {
		if math.IsNaN(column.At(i)) || e.at[i] > w.To {
			continue
		}
		if e.at[i] < w.From {
			before, at = i, e.at[i]
			continue
		}
		s.at, s.rows = append(s.at, e.at[i]), append(s.rows, i)
	}
	if len(s.rows) == 0 {
		return s
	}
	s.reference = before >= 0
	if first := s.rows[0]; !s.reference && first > 0 && t.cumulative() && !t.dropped {
		s.reference, before, at = true, absent, e.at[first-1]
	}
	if s.reference {
		s.at, s.rows = append([]int64{at}, s.at...), append([]int{before}, s.rows...)
	}
	return s
}

// cumulative reports whether values count since the start of the server.
func (m *meta) cumulative() bool {
	return m.kind == exposition.Counter || m.kind == exposition.Histogram
}

// inside returns the rows within the window.
func (s *span) inside() []int {
	if s.reference {
		return s.rows[1:]
	}
	return s.rows
}

// seconds returns the time from the reference to the last sample.
func (s *span) seconds() float64 { return float64(s.at[len(s.at)-1]-s.at[0]) / 1e9 }

// figures computes the figures of one series; nil = it has no sample in the window. reset reports whether it was reset.
func (t *series) figures(e *endpoint, w Window, slice float64) (out *Series, reset bool) {
	s := t.span(e, w)
	if len(s.rows) == 0 {
		return nil, false
	}
	out = &Series{URL: e.url, Labels: t.labels}
	switch t.kind {
	case exposition.Counter:
		reset = t.counter(out, &s, slice)
	case exposition.Histogram:
		reset = t.histogram(out, &s, slice)
	default:
		t.gauge(out, &s, slice)
	}
	return out, reset
}

func (out *Series) stat(key string, v float64) {
	out.Stats = append(out.Stats, Stat{Key: key, Value: v})
}

func (t *series) gauge(out *Series, s *span, slice float64) {
	var values []float64
	for _, row := range s.inside() {
		values = append(values, t.value.At(row))
	}
	if slice > 0 {
		out.Slices = t.gaugeSlices(s, slice)
	}
	std := stats.SampleStd(values)
	d := stats.Describe(values)
	if d.Min == d.Max {
		std = 0
	}
	out.stat("avg", d.Avg)
	out.stat("min", d.Min)
	out.stat("max", d.Max)
	out.stat("std", std)
	for i, p := range d.P {
		out.stat(percentiles[i], p)
	}
}

// increase returns how much a counter grew from the first sample to the last. A value below the previous one means that it was reset to 0.
func increase(values []float64) (total float64, reset bool) {
	for i := 1; i < len(values); i++ {
		if values[i] < values[i-1] {
			total, reset = total+values[i], true
			continue
		}
		total += values[i] - values[i-1]
	}
	if !reset && len(values) > 0 {
		total = values[len(values)-1] - values[0] // avoids the rounding errors of many sums
	}
	return total, reset
}

func (t *series) counter(out *Series, s *span, slice float64) (reset bool) {
	var values []float64
	for _, row := range s.rows {
		values = append(values, at(&t.value, row))
	}
	total, reset := increase(values)
	out.stat("total", total)
	out.stat("rate", per(total, s.seconds()))
	if slice > 0 {
		t.counterSlices(out, s, values, slice)
	}
	return reset
}

// per returns a total per second; 0 if no time passed.
func per(total, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return total / seconds
}

// histogram computes the growth of a histogram. After a reset the counts are those of all parts together, without buckets and percentiles.
func (t *series) histogram(out *Series, s *span, slice float64) (reset bool) {
	g := t.growth(s.rows)
	out.Stats = append(out.Stats, Stat{Key: "count", Value: g.count, Whole: true})
	if !g.reset && !t.changedBounds {
		out.Buckets = t.buckets(g.buckets)
	}
	if g.count == 0 {
		return g.reset
	}
	out.stat("sum", g.sum)
	out.stat("avg", g.sum/g.count)
	out.stat("count_rate", per(g.count, s.seconds()))
	out.stat("sum_rate", per(g.sum, s.seconds()))
	if out.Buckets != nil {
		h := t.estimated(g, s.rows)
		if p, ok := h.estimate(); ok {
			for i, v := range p {
				out.stat(percentiles[i]+"_estimate", v)
			}
		}
	}
	if slice > 0 {
		out.Slices = t.histogramSlices(s, slice)
	}
	return g.reset
}

// growth is the growth of a histogram over some samples.
type growth struct {
	count, sum float64
	buckets    []float64 // cumulative, as on the server
	reset      bool
}

func (t *series) growth(rows []int) growth {
	g := growth{buckets: make([]float64, len(t.counts))}
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1], rows[i]
		if t.restarted(a, b) {
			g.reset = true
			g.count, g.sum = g.count+at(&t.count, b), g.sum+at(&t.sum, b)
			continue
		}
		g.count += at(&t.count, b) - at(&t.count, a)
		g.sum += at(&t.sum, b) - at(&t.sum, a)
	}
	if n := len(rows); !g.reset && n > 0 {
		a, b := rows[0], rows[n-1]
		g.count, g.sum = at(&t.count, b)-at(&t.count, a), at(&t.sum, b)-at(&t.sum, a)
		for i := range t.counts {
			g.buckets[i] = at(&t.counts[i], b) - at(&t.counts[i], a)
		}
	}
	return g
}

// at returns a value at a row: 0 before the series existed, NaN if the page did not have it.
func at(c *stats.Column, row int) float64 {
	switch {
	case row == absent:
		return 0
	case row >= c.Len():
		return math.NaN()
	}
	return c.At(row)
}

// restarted reports whether a histogram was reset between two rows.
func (t *series) restarted(a, b int) bool {
	if at(&t.count, b) < at(&t.count, a) {
		return true
	}
	if t.changedBounds {
		return false
	}
	for i := range t.counts {
		if at(&t.counts[i], b) < at(&t.counts[i], a) {
			return true
		}
	}
	return false
}

func (t *series) buckets(counts []float64) []Count {
	var out []Count
	for i, b := range t.les {
		if math.IsNaN(counts[i]) {
			return nil
		}
		out = append(out, Count{b.le, int64(counts[i])})
	}
	return out
}

// estimated returns the growth of a histogram, with what its samples reveal about the position of observations.
func (t *series) estimated(g growth, rows []int) *histogram {
	h := &histogram{sum: g.sum, means: make([][]observedGroup, len(t.les))}
	for i, b := range t.les {
		h.bounds = append(h.bounds, b.bound)
		h.counts = append(h.counts, alone(g.buckets, i))
	}
	for k := 1; k < len(rows); k++ {
		a, b := rows[k-1], rows[k]
		only, many := -1, false
		below := 0.0
		for i := range t.counts {
			upTo := at(&t.counts[i], b) - at(&t.counts[i], a)
			if upTo-below > 0 {
				many = many || only >= 0
				only = i
			}
			below = upTo
		}
		if n := at(&t.count, b) - at(&t.count, a); only >= 0 && !many && n > 0 {
			h.means[only] = append(h.means[only], observedGroup{(at(&t.sum, b) - at(&t.sum, a)) / n, n})
		}
	}
	return h
}

// alone returns the part of a cumulative bucket that is not in the one below.
func alone(cumulative []float64, i int) float64 {
	if i == 0 {
		return cumulative[0]
	}
	return cumulative[i] - cumulative[i-1]
}
