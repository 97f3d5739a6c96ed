package ui

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/ui/liveview"
)

// Running collects the results of finished requests in the current phase, so that a view can be made at any instant without visiting the requests
// again. One goroutine adds, another reads; neither delays a request.
type Running struct {
	mu      sync.Mutex
	phase   int
	begun   int64 // first request of the phase: wall, ns
	lastEnd int64
	ok, bad int64
	cut     int64
	tokens  float64
	judged  bool         // the requests have limits of service
	good    int64        // requests that met them
	lag     stats.Sketch // schedule lag, ns
	bytes   [2]int64     // bytes read and written for successful requests; negative = unknown
	tracked []*trackedMetric
	by      [latencies]*trackedMetric
	seconds []second
	kinds   []*kind
	byKey   map[errorKey]*kind
	slowest metric.Slowest
}

// The latencies of the head.
const (
	first = iota
	between
	last
	latencies
)

// latencyTags lists their metrics.
var latencyTags = [latencies]string{"time_to_first_token", "inter_token_latency", "request_latency"}

// trackedMetric is one metric with its distribution so far, in its display unit.
type trackedMetric struct {
	*metric.Metric
	factor float64
	stats.Sketch
}

// second holds the figures of one second of the phase, by the end of requests.
type second struct {
	ok, bad int64
	good    int64
	tokens  float64
	samples [latencies]sample
	medians [latencies]float64 // set when the second is closed
	tail    tail               // of the time to first token
	closed  bool
}

// sampleSize is the largest number of values of a second for its median.
const sampleSize = 256

// sample is a uniform random sample of many values.
type sample struct {
	count  int64
	values []float32
}

func (s *sample) add(v float64) {
	if s.count++; len(s.values) < sampleSize {
		s.values = append(s.values, float32(v))
		return
	}
	if at := rand.Int64N(s.count); at < sampleSize {
		s.values[at] = float32(v)
	}
}

// tail holds the number and the largest values of a second, from which the p99 of one or several seconds follows.
type tail struct {
	count   int64
	largest [tailSize]float32 // descending
}

// tailSize is the number of values of a tail: enough for the p99 of 800 requests.
const tailSize = 8

func (t *tail) add(v float64) {
	t.count++
	at, one := tailSize, float32(v)
	for at > 0 && (t.largest[at-1] < one) {
		at--
	}
	if at < tailSize {
		copy(t.largest[at+1:], t.largest[at:tailSize-1])
		t.largest[at] = one
	}
}

// merge adds the values of another second.
func (t *tail) merge(o *tail) {
	count := t.count + o.count
	for _, v := range o.largest[:min(o.count, tailSize)] {
		t.add(float64(v))
	}
	t.count = count
}

// p99 returns the smallest value that at most 1 % of the values exceed: of fewer than 100 values the largest; NaN without values. If more than tailSize values
// are above it, it is the smallest that was stored.
func (t *tail) p99() float64 {
	if t.count == 0 {
		return math.NaN()
	}
	return float64(t.largest[min(t.count/100, min(t.count, tailSize)-1)])
}

type errorKey struct {
	code          int
	kind, message string
}

// kind is one kind of error.
type kind struct {
	liveview.ErrorKind
	last int64
}

// maxKinds limits the number of kinds of errors: servers put ids and times into their messages.
const maxKinds = 50

// liveTags lists the metrics of the table, in its groups.
var liveTags = []struct {
	group string
	tags  []string
}{
	{"Latency", []string{"time_to_first_token", "time_to_second_token", "request_latency", "inter_token_latency"}},
	{"Throughput", []string{"output_token_throughput", "request_throughput", "goodput", "output_token_throughput_per_user"}},
	{"Lengths", []string{"output_sequence_length", "input_sequence_length"}},
}

// NewRunning returns an empty Running.
func NewRunning() *Running {
	r := &Running{}
	r.reset(0)
	return r
}

// reset starts a new phase.
func (r *Running) reset(phase int) {
	*r = Running{phase: phase, bytes: [2]int64{-1, -1}, byKey: map[errorKey]*kind{}, mu: sync.Mutex{}}
	for _, g := range liveTags {
		for _, tag := range g.tags {
			m, ok := metric.Lookup(tag)
			if !ok || m.Kind != metric.Record {
				continue
			}
			t := &trackedMetric{Metric: m, factor: m.Factor()}
			r.tracked = append(r.tracked, t)
			if i := slices.Index(latencyTags[:], tag); i >= 0 {
				r.by[i] = t
			}
		}
	}
}

// Add adds a finished request. Late requests of an earlier phase are ignored.
func (r *Running) Add(row *metric.Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch phase := row.Meta.PhaseIndex; {
	case phase < r.phase:
		return
	case phase > r.phase:
		r.begin(phase)
	}
	if r.begun == 0 || row.Start < r.begun {
		r.begun = row.Start
	}
	if v, ok := row.Value("schedule_lag"); ok {
		r.lag.Add(v)
	}
	for i, tag := range movedTags {
		if v, ok := row.Value(tag); ok {
			r.bytes[i] = max(r.bytes[i], 0) + int64(v)
		}
	}
	switch row.Class {
	case metric.Cut:
		r.cut++
	case metric.Failed:
		r.bad++
		r.failed(row)
	default:
		r.valid(row)
	}
}

// movedTags lists the metrics for the bytes of a request.
var movedTags = [2]string{"http_req_data_received", "http_req_data_sent"}

// Bytes returns the bytes read and written for successful requests of the phase; rows of failed requests do not have them. Negative = unknown.
func (r *Running) Bytes() (read, written int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes[0], r.bytes[1]
}

// begin is reset for callers that hold the mutex.
func (r *Running) begin(phase int) {
	fresh := NewRunning()
	r.phase, r.begun, r.lastEnd, r.ok, r.bad, r.cut, r.tokens = phase, 0, 0, 0, 0, 0, 0
	r.judged, r.good, r.lag = false, 0, stats.Sketch{}
	r.tracked, r.by, r.bytes, r.seconds, r.kinds, r.byKey, r.slowest = fresh.tracked, fresh.by, fresh.bytes, nil, nil, fresh.byKey, metric.Slowest{}
}

func (r *Running) valid(row *metric.Row) {
	r.ok++
	r.lastEnd = max(r.lastEnd, row.End)
	r.slowest.Add(row)
	s := r.second(row.End)
	s.ok++
	for _, t := range r.tracked {
		v, ok := row.Value(t.Tag)
		if !ok {
			continue
		}
		t.Add(v / t.factor)
		if t.Tag == "output_sequence_length" {
			r.tokens += v
			s.tokens += v
		}
	}
	if v, ok := row.Value("good_request_count"); ok {
		r.judged = true
		r.good += int64(v)
		s.good += int64(v)
	}
	for i, tag := range latencyTags {
		if v, ok := row.Value(tag); ok && !s.closed {
			s.samples[i].add(v / 1e6)
			if i == first {
				s.tail.add(v / 1e6)
			}
		}
	}
}

func (r *Running) failed(row *metric.Row) {
	r.second(row.End).bad++
	e := row.Err
	key := errorKey{e.Code, e.Type, e.Message}
	k := r.byKey[key]
	if k == nil && len(r.kinds) >= maxKinds {
		key.message = "(others)"
		k = r.byKey[key]
	}
	if k == nil {
		k = &kind{ErrorKind: liveview.ErrorKind{Type: terminal.Line(e.Type), Message: terminal.Line(e.Reason())}}
		if key.message == "(others)" {
			k.Message = key.message
		}
		if e.Code != 0 {
			k.Code = itoa(e.Code)
		}
		r.byKey[key] = k
		r.kinds = append(r.kinds, k)
	}
	k.Count++
	k.last = max(k.last, row.End)
}

// maxSeconds limits the number of stored seconds: a week.
const maxSeconds = 7 * 86400

// lagP99 returns the p99 of the schedule lag in ms; NaN if no send times were requested.
func (r *Running) lagP99() float64 {
	if r.lag.Count == 0 {
		return math.NaN()
	}
	return r.lag.Percentiles(99)[0] / 1e6
}

// goodTrend returns the requests that met their limits of service in each of the last seconds before a number of seconds; nil if there are no limits.
func (r *Running) goodTrend(whole int) (trend []float64) {
	if !r.judged {
		return nil
	}
	for i := max(0, whole-trendSeconds); i < whole; i++ {
		n := 0.0
		if i < len(r.seconds) {
			n = float64(r.seconds[i].good)
		}
		trend = append(trend, n)
	}
	return trend
}

// second returns the second that contains an instant.
func (r *Running) second(wall int64) *second {
	i := min(max(int((wall-r.begun)/1e9), 0), maxSeconds-1)
	for len(r.seconds) <= i {
		r.seconds = append(r.seconds, second{})
	}
	return &r.seconds[i]
}

// recentSeconds is the length of "last 10 s".
const recentSeconds = 10

// recent returns the median of a latency over the last seconds in ms; NaN without values.
func (r *Running) recent(which int) float64 {
	var all []float64
	from := max(0, len(r.seconds)-recentSeconds)
	for i := range r.seconds[from:] {
		for _, v := range r.seconds[from+i].samples[which].values {
			all = append(all, float64(v))
		}
	}
	return median(all)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return stats.Percentile(values, 50)
}

// close makes past seconds final: requests that arrive later for one of them change no chart.
func (r *Running) close(upTo int) {
	for i := range r.seconds[:min(max(upTo, 0), len(r.seconds))] {
		s := &r.seconds[i]
		if !s.closed {
			s.closed = true
			for k := range s.samples {
				s.medians[k] = s.samples[k].median()
			}
		}
		if i < len(r.seconds)-recentSeconds-2 {
			s.samples = [latencies]sample{}
		}
	}
}

func (s *sample) median() float64 {
	all := make([]float64, len(s.values))
	for i, v := range s.values {
		all[i] = float64(v)
	}
	return median(all)
}

// pace is the pause between two updates of slower figures: percentiles, trends.
const pace = time.Second
