package verify

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/metric"
	"aiperf/internal/workload/dataset/rows"
)

// Default file names of a run.
const (
	summaryName = "profile_export_aiperf.json"
	recordsName = "profile_export.jsonl"
)

// line is a line of a records file, as far as the summary depends on it.
type line struct {
	phase, name string // kind and name of the phase
	start, end  int64  // Unix ns
	cut         bool   // cancelled by the end of the run
	failure     string // group of the error; "" = none
	metrics     *fastjson.Value
}

// newLine returns a line; fault says which member has a type that no record has, "" = none.
func newLine(v *fastjson.Value) (l line, fault string) {
	of := func(at *fastjson.Value, key string, want fastjson.Type) *fastjson.Value {
		m := at.Get(key)
		if m == nil || m.Type() == fastjson.TypeNull {
			return nil
		}
		if m.Type() != want && fault == "" {
			fault = fmt.Sprintf("%s must be of type %s, got %s", key, want, m.Type())
		}
		return m
	}
	if v.Type() != fastjson.TypeObject {
		return l, fmt.Sprintf("a record must be of type %s, got %s", fastjson.TypeObject, v.Type())
	}
	text := func(at *fastjson.Value, key string) string {
		return string(of(at, key, fastjson.TypeString).GetStringBytes())
	}
	number := func(at *fastjson.Value, key string) int64 { return of(at, key, fastjson.TypeNumber).GetInt64() }
	meta := of(v, "metadata", fastjson.TypeObject)
	l = line{
		phase: text(meta, "benchmark_phase"), name: text(meta, "phase_name"), cut: text(meta, "cut_reason") != "",
		start: number(meta, "request_start_ns"), end: number(meta, "request_end_ns"), metrics: of(v, "metrics", fastjson.TypeObject),
	}
	if e := of(v, "error", fastjson.TypeObject); e != nil {
		code := ""
		if of(e, "code", fastjson.TypeNumber) != nil {
			code = strconv.FormatInt(number(e, "code"), 10)
		}
		l.failure = group(code, text(e, "type"), text(e, "message"))
	}
	return l, fault
}

// tally holds the sums over the records of a phase.
type tally struct {
	good, failed int
	columns      map[string]*column
	groups       map[string]int // failures, by code, type and message
	first, last  float64        // of valid requests: the first start, the last content; Unix ns
}

// column holds the values of a metric over the requests that it covers.
type column struct {
	*metric.Metric // nil = this program does not know it
	values         []float64
}

// covers reports whether failed or valid requests have the metric.
func (c *column) covers(failed bool) bool {
	if c.Metric == nil {
		return !failed
	}
	return c.Flags&metric.EveryRecord != 0 || failed == (c.Flags&metric.ErrorOnly != 0)
}

// Records returns the records file next to a summary, and the phase that the summary covers ("" = all measured ones).
func Records(path string) (records, phase string) {
	dir, name := filepath.Split(filepath.Clean(path))
	lines := strings.TrimSuffix(name, filepath.Ext(name)) + ".jsonl"
	if name == summaryName {
		lines = recordsName
	}
	if up := filepath.Dir(filepath.Clean(dir)); filepath.Base(up) == "phases" {
		return filepath.Join(filepath.Dir(up), lines), filepath.Base(dir)
	}
	return filepath.Join(dir, lines), ""
}

// follow reports where the summary disagrees with its records. Without records nothing is checked.
func (s *summary) follow(tick func()) {
	path, phase := Records(s.path)
	measured, warm := newTally(), newTally()
	var parser fastjson.Parser
	err := rows.Read(path, func(l rows.Line) bool {
		tick()
		v, err := parser.ParseBytes(l.Text)
		if err != nil {
			return true // reported with the file itself
		}
		one, fault := newLine(v)
		if fault != "" {
			s.faults = append(s.faults, l.Where()+": "+fault)
			return true
		}
		if one.end > 0 && one.end < one.start {
			s.faults = append(s.faults, fmt.Sprintf("%s: request_end_ns is %d, before request_start_ns (%d)", l.Where(), one.end, one.start))
		}
		switch {
		case phase != "" && one.name == phase, phase == "" && (one.phase == "" || one.phase == "profiling"):
			measured.add(&one)
		case phase == "" && one.phase == "warmup":
			warm.add(&one)
		}
		return true
	})
	if err != nil && !errors.Is(err, rows.ErrNoRecords) {
		return
	}
	known := len(s.faults)
	s.counts(path, measured)
	if len(s.faults) > known { // almost every statistic would differ
		s.faults = append(s.faults, fmt.Sprintf("%s: its requests are not those of %s, so no other figures of the two are compared", path, filepath.Base(s.path)))
		return
	}
	s.distributions("", s.values, path, measured)
	if all, ok := s.values["warmup_metrics"].(map[string]any); ok {
		s.distributions("warmup_metrics.", all, path, warm)
	}
	s.totals(path, measured)
	s.groups(path, measured)
}

func newTally() *tally {
	return &tally{columns: map[string]*column{}, groups: map[string]int{}, first: math.Inf(1), last: math.Inf(-1)}
}

func (t *tally) add(l *line) {
	if l.cut { // it is in no metric
		return
	}
	failed := l.failure != ""
	if failed {
		t.failed++
		t.groups[l.failure]++
	} else {
		t.good++
	}
	l.metrics.GetObject().Visit(func(tag []byte, m *fastjson.Value) {
		c := t.column(tag)
		if !c.covers(failed) {
			return
		}
		switch v := m.Get("value"); {
		case v == nil:
		case v.Type() == fastjson.TypeNumber:
			c.values = append(c.values, v.GetFloat64())
		case v.Type() == fastjson.TypeArray:
			for _, one := range v.GetArray() {
				c.values = append(c.values, one.GetFloat64())
			}
		}
	})
	if latency := l.metrics.Get("request_latency", "value"); !failed && latency != nil {
		t.first = min(t.first, float64(l.start))
		t.last = max(t.last, float64(l.start)+latency.GetFloat64()*1e6)
	}
}

// column returns the column of a metric.
func (t *tally) column(tag []byte) *column {
	c := t.columns[string(tag)]
	if c == nil {
		def, _ := metric.Lookup(string(tag))
		c = &column{Metric: def}
		t.columns[string(tag)] = c
	}
	return c
}

// values returns the values of a metric.
func (t *tally) values(tag string) []float64 {
	if c := t.columns[tag]; c != nil {
		return c.values
	}
	return nil
}

func group(code, kind, message string) string {
	return strings.Join([]string{code, kind, message}, "\x00")
}

// counts compares the numbers of requests.
func (s *summary) counts(path string, t *tally) {
	_, some := s.value("request_count")
	if _, failed := s.value("error_request_count"); !some && !failed && s.version == "" {
		return // the summary has only a few metrics
	}
	for _, one := range []struct {
		tag  string
		held int
	}{{"request_count", t.good}, {"error_request_count", t.failed}} {
		said, there := s.value(one.tag)
		if (there || one.held > 0) && said != float64(one.held) {
			s.wrong(one.tag, "is %v, but %s has %d", said, path, one.held)
		}
	}
}

// distributions compares the statistics of every metric that occurs in the records.
func (s *summary) distributions(prefix string, all map[string]any, path string, t *tally) {
	tags := []string{}
	for tag, c := range t.columns {
		if len(c.values) > 0 {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	for _, tag := range tags {
		m, ok := all[tag].(map[string]any)
		switch {
		case !perRequest(tag):
		case ok:
			s.distribution(prefix+tag, m, path, t.values(tag))
		case s.version != "":
			s.wrong(prefix+tag, "is missing, but %s has %d values of it", path, len(t.values(tag)))
		}
	}
}

func (s *summary) distribution(key string, m map[string]any, path string, values []float64) {
	is := describe(values)
	for i, stat := range stats {
		switch said, there := m[stat].(float64); {
		case !there && m[stat] == nil && (s.version == "" || s.version < "1.1" && (stat == "count" || stat == "sum")):
		case !there && m[stat] == nil:
			s.wrong(key, "has no %s, but %s gives %v", stat, path, is[i])
		case there && !closeTo(said, is[i], is[maxAt]):
			s.wrong(key+"."+stat, "is %v, but %s gives %v", said, path, is[i])
		}
	}
}

// stats lists the statistics of a distribution, in the order of describe.
var stats = []string{"avg", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max", "std", "count", "sum"}

// maxAt is the index of max in stats. It gives the magnitude of a metric's values, on which the rounding of its deviation depends.
const maxAt = 11

// levels lists the percentiles in stats.
var levels = []float64{1, 5, 10, 25, 50, 75, 90, 95, 99}

// describe computes the statistics of values: population deviation, percentiles by linear interpolation between ranks (measurement, 6.2).
func describe(values []float64) []float64 {
	v := slices.Sorted(slices.Values(values))
	n := float64(len(v))
	if n == 0 {
		return make([]float64, len(stats))
	}
	sum, spread := 0.0, 0.0
	for _, x := range v {
		sum += x
	}
	mean := sum / n
	for _, x := range v {
		spread += (x - mean) * (x - mean)
	}
	out := []float64{mean}
	for _, q := range levels {
		at := q / 100 * (n - 1)
		low := int(at)
		high := min(low+1, len(v)-1)
		out = append(out, v[low]+(v[high]-v[low])*(at-float64(low)))
	}
	return append(out, v[0], v[len(v)-1], math.Sqrt(spread/n), n, sum)
}

// sums maps metrics of the whole run to the request metrics that they add up.
var sums = [][2]string{
	{"total_isl", "input_sequence_length"}, {"total_osl", "output_sequence_length"}, {"total_output_tokens", "output_token_count"},
	{"total_reasoning_tokens", "reasoning_token_count"}, {"total_error_isl", "error_isl"}, {"total_num_images", "num_images"},
	{"total_usage_prompt_tokens", "usage_prompt_tokens"}, {"total_usage_completion_tokens", "usage_completion_tokens"},
	{"total_usage_total_tokens", "usage_total_tokens"},
}

// rates lists the totals per second.
var rates = []struct {
	tag string
	of  []string
}{
	{"request_throughput", []string{"request_count"}}, {"output_token_throughput", []string{"total_osl"}}, {"input_token_throughput", []string{"total_isl"}},
	{"total_token_throughput", []string{"total_isl", "total_osl"}}, {"goodput", []string{"good_request_count"}},
}

// spanStep is the tolerance of a duration, in seconds: the Python tool stores instants in steps of 256 ns.
const spanStep = 1e-6

// totals compares sums, the duration, and rates.
func (s *summary) totals(path string, t *tally) {
	for _, pair := range sums {
		values := t.values(pair[1])
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		switch said, there := s.value(pair[0]); {
		case there && !closeTo(said, sum, 0):
			s.wrong(pair[0], "is %v, but %s in %s adds up to %v", said, pair[1], path, sum)
		case !there && sum > 0 && s.version != "" && s.values[pair[1]] != nil:
			s.wrong(pair[0], "is missing, but %s in %s adds up to %v", pair[1], path, sum)
		}
	}
	span := (t.last - t.first) / 1e9
	said, timed := s.value("benchmark_duration")
	switch {
	case t.last <= t.first: // valid requests have no duration
	case timed && math.Abs(said-span) > spanStep+1e-9*span:
		s.wrong("benchmark_duration", "is %v, but from the first start to the last answer %s has %v seconds", said, path, span)
	case !timed && s.version != "":
		s.wrong("benchmark_duration", "is missing, but from the first start to the last answer %s has %v seconds", path, span)
	}
	for _, r := range rates {
		s.rate(r.tag, r.of, said)
	}
}

// rate compares a rate. The Python tool divides by the time of the phase, which starts a little earlier.
func (s *summary) rate(tag string, of []string, duration float64) {
	said, there := s.value(tag)
	if !there {
		return
	}
	total := 0.0
	for _, part := range of {
		v, there := s.value(part)
		if !there {
			return
		}
		total += v
	}
	if duration > 0 && closeTo(said*duration, total, 0) {
		return
	}
	phase := s.phase()
	if phase > 0 && math.Abs(said*phase-total) <= total*2*spanStep/phase+1e-9*total {
		return
	}
	s.wrong(tag, "is %v, but %s is %v in %v seconds", said, strings.Join(of, " + "), total, duration)
}

// phase returns the time between the instants in the summary, in seconds.
func (s *summary) phase() float64 {
	at := func(key string) (time.Time, bool) {
		text, _ := s.values[key].(string)
		t, err := time.Parse("2006-01-02T15:04:05.999999", text)
		return t, err == nil
	}
	from, ok := at("start_time")
	to, also := at("end_time")
	if !ok || !also {
		return 0
	}
	return to.Sub(from).Seconds()
}

// groups compares the counts of every failure.
func (s *summary) groups(path string, t *tally) {
	list, ok := s.values["error_summary"].([]any)
	if !ok {
		return
	}
	said := map[string]int{}
	for _, g := range list {
		one, _ := g.(map[string]any)
		details, _ := one["error_details"].(map[string]any)
		code := ""
		if c, ok := details["code"].(float64); ok {
			code = fmt.Sprint(int(c))
		}
		kind, _ := details["type"].(string)
		message, _ := details["message"].(string)
		n, _ := one["count"].(float64)
		said[group(code, kind, message)] += int(n)
	}
	keys := []string{}
	for key := range said {
		keys = append(keys, key)
	}
	for key := range t.groups {
		if _, known := said[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if said[key] != t.groups[key] {
			s.wrong("error_summary", "counts %d of %q, but %s has %d", said[key], strings.ReplaceAll(key, "\x00", " "), path, t.groups[key])
		}
	}
}
