package explanation

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"aiperf/internal/base/suggest"
	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/association"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/runfiles"
)

var fsNotExist = fs.ErrNotExist

func percentile(sorted []float64, level float64) float64 { return stats.Percentile(sorted, level) }

func plural(n int, noun string) string { return terminal.Plural(n, noun) }

// Metrics returns the tags of all metrics that can be explained: those with one value per request.
func Metrics() (tags []string) {
	for _, m := range metric.All() {
		if explainable(m) {
			tags = append(tags, m.Tag)
		}
	}
	return tags
}

func explainable(m *metric.Metric) bool {
	return m.Kind == metric.Record && m.InRecords && !m.Gaps() && !m.Hidden() && m.Flags&metric.ErrorOnly == 0 && m.Better != metric.Neither
}

// choose returns the values of the metric that is explained.
func (e *Explanation) choose(q *runfiles.Requests, o Options) ([]float64, error) {
	tag, given := o.Metric, o.Metric != ""
	if !given {
		if tag = DefaultMetric; !has(q, tag) { // answers were not streamed
			tag = "request_latency"
		}
	}
	m, err := Lookup(tag)
	if err != nil {
		return nil, err
	}
	v, ok := q.Column(m.Tag)
	if !ok {
		var there []string
		for _, one := range Metrics() {
			if has(q, one) {
				there = append(there, one)
			}
		}
		if !has(q, "request_latency") { // every answer that succeeded has it; there then holds facts of failed requests only
			return nil, errors.New("no request of the run succeeded, so there is nothing to explain; the error summary of its report lists why requests failed")
		}
		return nil, fmt.Errorf("no request of the run has the metric %s; it has %s", m.Tag, strings.Join(there, ", "))
	}
	e.Metric, e.Unit = m, m.Display
	return v, nil
}

func has(q *runfiles.Requests, tag string) bool { return q.Has(tag) }

// short are names that people type.
var short = map[string]string{"ttft": DefaultMetric, "itl": "inter_token_latency", "latency": "request_latency", "e2e": "request_latency", "ttst": "time_to_second_token"}

// Lookup returns the metric with a tag or a short name. The error suggests a similar one.
func Lookup(tag string) (*metric.Metric, error) {
	if long, ok := short[strings.ToLower(tag)]; ok {
		tag = long
	}
	m, ok := metric.Lookup(tag)
	if ok && explainable(m) {
		return m, nil
	}
	if ok {
		return nil, fmt.Errorf("%s is not a latency or speed of single requests; allowed are, for example, %s, inter_token_latency and request_latency", tag, DefaultMetric)
	}
	hint := ";"
	if near := suggest.Name(tag, slices.Concat(Metrics(), []string{"ttft", "itl", "latency"})); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	return nil, fmt.Errorf("there is no metric %q%s allowed are, for example, %s, inter_token_latency and request_latency", tag, hint, DefaultMetric)
}

// threshold sets the limit from which a request is slow.
func (e *Explanation) threshold(values []float64, o Options) error {
	sorted := slices.Sorted(slices.Values(values))
	e.Low = o.Low || o.Level == 0 && e.Metric.Better == metric.Larger
	at := func(level float64) float64 {
		if e.Low {
			return 100 - level
		}
		return level
	}
	try := levels
	if o.Level != 0 {
		try = []float64{o.Level}
		if o.Low {
			try[0] = 100 - o.Level
		}
	}
	if len(sorted) == 0 {
		e.Level = at(try[len(try)-1])
		return e.tooFew(0, needed(try[len(try)-1]))
	}
	for n, level := range try {
		e.Level, e.Lowered = at(level), n > 0
		e.Threshold = percentile(sorted, e.Level)
		slow, is := 0, make([]bool, len(values))
		for i, v := range values {
			if is[i] = e.isSlow(v); is[i] {
				slow++
			}
		}
		if slow >= association.FewestSlow && (association.Bunches(is) >= fewestBunches || n == len(try)-1) {
			return nil
		}
	}
	if need := needed(try[len(try)-1]); len(sorted) < need {
		return e.tooFew(len(sorted), need)
	}
	return fmt.Errorf("fewer than %d requests are beyond the p%g of %s (%s %s), because many have this very value; choose another percentile",
		association.FewestSlow, e.Level, e.Metric.Tag, terminal.Figure(e.Threshold), e.Unit)
}

// needed returns how many requests leave enough slow ones beyond a percentile.
func needed(level float64) int {
	return int(math.Ceil(association.FewestSlow/(1-level/100)-1e-9)) + 1
}
