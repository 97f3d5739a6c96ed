// Package timeline records a run second by second on one clock: what was sent and answered, how long it took, and the state of servers and GPUs. It
// answers questions such as "why did the first token take so long at 12:00:31?"
package timeline

import (
	"math"
	"slices"
	"sync"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

const second = int64(1e9)

// Timeline collects finished requests by the second of the wall clock. Its methods may be called from any goroutine.
type Timeline struct {
	mu      sync.Mutex
	seconds map[int64]*bin // by second since 1970
}

// bin is one second.
type bin struct {
	started, ended, errors int
	tokens                 float64
	ttft, latency          []float64 // ms, of requests that ended in this second
}

// New returns an empty timeline.
func New() *Timeline { return &Timeline{seconds: map[int64]*bin{}} }

// maxSeconds limits the length of a timeline: a day.
const maxSeconds = 86_400

func (t *Timeline) at(ns int64) *bin {
	key := ns / second
	b := t.seconds[key]
	if b == nil {
		b = &bin{}
		if len(t.seconds) < 2*maxSeconds {
			t.seconds[key] = b
		}
	}
	return b
}

// Observe implements pipeline.Observer.
func (t *Timeline) Observe(row *metric.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at(row.Start).started++
	b := t.at(row.End)
	b.ended++
	if row.Class != metric.Valid {
		b.errors++
		return
	}
	if v, ok := row.Value("output_sequence_length"); ok {
		b.tokens += v
	}
	if v, ok := row.Value("time_to_first_token"); ok {
		b.ttft = append(b.ttft, v/1e6)
	}
	if v, ok := row.Value("request_latency"); ok {
		b.latency = append(b.latency, v/1e6)
	}
}

// Gauge is a value by second since 1970 from a source other than the requests.
type Gauge struct {
	Key    string
	Values map[int64]float64
}

// Lines returns the lines of profile_export_timeline.jsonl: one for every second from the first request to the last, even if nothing happened. events are
// what else happened, in words, by second since 1970.
func (t *Timeline) Lines(gauges []Gauge, events map[int64][]string) [][]byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.seconds) == 0 {
		return nil
	}
	first, last := int64(math.MaxInt64), int64(0)
	for s := range t.seconds {
		first, last = min(first, s), max(last, s)
	}
	var lines [][]byte
	inFlight := 0
	for s := first; s <= last && s-first < maxSeconds; s++ {
		b := t.seconds[s]
		if b == nil {
			b = &bin{}
		}
		inFlight += b.started - b.ended
		o := jsontext.Open(nil)
		o.Int("timestamp_ns", s*second)
		o.Int("second", s-first)
		o.Int("requests_started", int64(b.started))
		o.Int("requests_completed", int64(b.ended))
		o.Int("errors", int64(b.errors))
		o.Int("in_flight", int64(inFlight)) // at the end of the second
		o.Float("output_tokens", b.tokens)
		quantiles(&o, "time_to_first_token_ms", b.ttft)
		quantiles(&o, "request_latency_ms", b.latency)
		for _, g := range gauges {
			if v, ok := g.Values[s]; ok {
				o.Float(g.Key, v)
			}
		}
		if len(events[s]) > 0 {
			o.Texts("events", events[s])
		}
		lines = append(lines, append(o.Close(), '\n'))
	}
	return lines
}

// quantiles writes the quantiles of some values; nothing if there are none.
func quantiles(o *jsontext.Object, key string, values []float64) {
	if len(values) == 0 {
		return
	}
	slices.Sort(values)
	o.Key(key)
	q := jsontext.Open(o.B)
	for _, level := range []struct {
		key   string
		level float64
	}{{"p50", 50}, {"p90", 90}, {"p99", 99}} {
		q.Float(level.key, stats.Percentile(values, level.level))
	}
	q.Float("max", values[len(values)-1])
	o.B = q.Close()
}

// minSeconds is the smallest number of seconds for a correlation.
const minSeconds = 10

// Correlation returns Pearson's coefficient of a gauge and the median time to first token in the same seconds, and the number of seconds with both
// values. 0 seconds = there are too few, or one of the two never changed.
func (t *Timeline) Correlation(g Gauge) (r float64, seconds int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var x, y []float64
	for s, b := range t.seconds {
		v, ok := g.Values[s]
		if !ok || len(b.ttft) == 0 {
			continue
		}
		sorted := slices.Sorted(slices.Values(b.ttft))
		x, y = append(x, v), append(y, stats.Percentile(sorted, 50))
	}
	if len(x) < minSeconds {
		return 0, 0
	}
	mx, my := stats.Mean(x), stats.Mean(y)
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return 0, 0
	}
	return xy / math.Sqrt(xx*yy), len(x)
}
