// Package timeline records a run second by second on one clock: what was sent and answered, how long it took, and the state of servers and GPUs. It
// answers questions such as "why did the first token take so long at 12:00:31?"
package timeline

import (
	"math"
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

	// The valid requests in the order of Observe. The columns keep them in few bytes, and beyond some megabytes in a temporary file.
	base          int64        // second of the first
	ended         stats.Column // second of the end, after base
	ttft, latency stats.Column // ns; NaN = the request has none
	spreadsOf     int          // number of valid requests at the last call of spreads
}

// bin is one second.
type bin struct {
	started, ended, errors int
	tokens                 float64
	ttft, latency          spread // of valid requests that ended in this second; known after spreads
}

// valid returns how many valid requests ended in the second.
func (b *bin) valid() int { return b.ended - b.errors }

// columnMemory is the number of bytes from which values go to a temporary file: about two million requests.
const columnMemory = 16 << 20

// New returns an empty timeline. dir is the directory of its temporary file; "" = the system's.
func New(dir string) *Timeline { return newTimeline(dir, columnMemory) }

// newTimeline returns an empty timeline that keeps up to memory bytes of values.
func newTimeline(dir string, memory int) *Timeline {
	t := &Timeline{seconds: map[int64]*bin{}}
	store := stats.NewStore(dir, memory)
	for _, c := range []*stats.Column{&t.ended, &t.ttft, &t.latency} {
		c.KeepIn(store)
	}
	return t
}

// maxSeconds limits the length of a timeline: a day.
const maxSeconds = 86_400

// at returns the second of an instant; nil = there are too many.
func (t *Timeline) at(ns int64) *bin {
	key := ns / second
	b := t.seconds[key]
	if b == nil && len(t.seconds) < 2*maxSeconds {
		b = &bin{}
		t.seconds[key] = b
	}
	return b
}

// Observe implements pipeline.Observer.
func (t *Timeline) Observe(row *metric.Row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.at(row.Start); b != nil {
		b.started++
	}
	b := t.at(row.End)
	if b == nil {
		return
	}
	b.ended++
	if row.Class != metric.Valid {
		b.errors++
		return
	}
	if v, ok := row.Value("output_sequence_length"); ok {
		b.tokens += v
	}
	if t.ended.Len() == 0 {
		t.base = row.End / second
	}
	t.ended.Append(float64(row.End/second - t.base))
	t.ttft.Append(valueOrNaN(row, "time_to_first_token"))
	t.latency.Append(valueOrNaN(row, "request_latency"))
}

func valueOrNaN(row *metric.Row, tag string) float64 {
	if v, ok := row.Value(tag); ok {
		return v
	}
	return math.NaN()
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
	t.spreads()
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
		b.ttft.write(&o, "time_to_first_token_ms")
		b.latency.write(&o, "request_latency_ms")
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

// minSeconds is the smallest number of seconds for a correlation.
const minSeconds = 10

// Correlation returns Pearson's coefficient of a gauge and the median time to first token in the same seconds, and the number of seconds with both
// values. 0 seconds = there are too few, or one of the two never changed.
func (t *Timeline) Correlation(g Gauge) (r float64, seconds int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spreads()
	var x, y []float64
	for s, b := range t.seconds {
		if v, ok := g.Values[s]; ok && b.ttft.known {
			x, y = append(x, v), append(y, b.ttft.p50)
		}
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
