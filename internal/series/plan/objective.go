package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
	"aiperf/internal/run/results"
	"aiperf/internal/series/capacity"
	"aiperf/internal/wire/endpoint"
)

// Objective is a condition for a search for capacity: a quantile of a latency below a limit, or the share of failed requests.
type Objective struct {
	capacity.Objective
	text   string
	tag    string // errorRate, or a metric
	at     known
	factor float64 // from the metric's own unit to the unit of the limit
}

// known says when it is certain whether a request meets an objective.
type known int

const (
	atEnd   known = iota // when it has ended
	atLimit              // at the latest when the limit has passed since its start
)

// errorRate is the share of failed requests.
const errorRate = objective.ErrorRate

// waited lists the metrics that only grow while a request is in flight.
var waited = map[string]known{firstToken: atLimit, "request_latency": atLimit, firstOutput: atLimit}

// Times to the first content of an answer, and to the first that is not reasoning.
const (
	firstToken  = "time_to_first_token"
	firstOutput = "time_to_first_output_token"
)

// isLatency reports whether a metric is a time of single requests that is better if it is smaller.
func isLatency(m *metric.Metric) bool {
	return m.Kind == metric.Record && m.Better == metric.Smaller && m.Unit == "ns"
}

// InRun returns an error if the answers of a run cannot provide the objective.
func (o *Objective) InRun(b *config.Benchmark) error {
	e, _, err := endpoint.Lookup(b.Endpoint.Type)
	if o.tag == errorRate || err != nil {
		return err
	}
	options := results.MetricOptions(b, e)
	options.Goodput = o.tag + ":1"
	var goal *metric.GoalError
	if _, err = metric.NewSelection(options); errors.As(err, &goal) {
		return fmt.Errorf("%q: %s %s", o.text, o.tag, goal.Why)
	}
	return err
}

// isObjective reports whether a search for capacity can judge a metric.
func isObjective(tag string) bool {
	one, known := metric.Lookup(tag)
	return tag == errorRate || known && isLatency(one)
}

// ParseObjective reads a percentile of a latency below a limit, or the share of failed requests.
func ParseObjective(text string) (o Objective, err error) {
	o.text = text
	l, err := objective.Parse(text)
	switch {
	case err != nil:
		return o, err
	case l.Op[0] == '>' && !isObjective(l.Tag):
		return o, o.percentile(&l)
	case l.Op[0] == '>':
		return o, fmt.Errorf("%q: an objective states what must hold, so latencies are below a limit; write %s", text, l.Opposite())
	case l.Tag == errorRate && (l.Stat != "" || !(l.Value > 0 && l.Value < 100)):
		return o, fmt.Errorf("%q: the error rate is above 0 and below 100 %%, without a statistic; write for example error_rate<1%%", text)
	case l.Tag == errorRate:
		o.tag, o.Objective = errorRate, capacity.Objective{Name: text, Limit: 0.5, Allowed: l.Value / 100}
		return o, nil
	}
	return o, o.percentile(&l)
}

// percentile sets the objective to a percentile of a latency.
func (o *Objective) percentile(l *objective.Limit) error {
	one, _ := metric.Lookup(l.Tag)
	if !isLatency(one) {
		return fmt.Errorf("%q: %s is not a latency of single requests; such are time_to_first_token, inter_token_latency, request_latency. Write for example ttft:p99<200ms", o.text, l.Tag)
	}
	q, err := strconv.ParseFloat(strings.TrimPrefix(l.Stat, "p"), 64)
	switch {
	case err != nil && l.Stat == "":
		return fmt.Errorf("%q names no percentile; write %s:p99<%s", o.text, l.Tag, strconv.FormatFloat(l.Value, 'g', -1, 64))
	case err != nil:
		return fmt.Errorf("%q: the search estimates the share of slow requests, so %s cannot be used; write a percentile: %s:p99<%s", o.text, l.Stat, l.Tag, strconv.FormatFloat(l.Value, 'g', -1, 64))
	case q < 50 || q >= 100:
		return fmt.Errorf("%q: the percentile is 50 or more and below 100; write for example %s:p99<%s", o.text, l.Tag, strconv.FormatFloat(l.Value, 'g', -1, 64))
	case !(l.Value > 0):
		return fmt.Errorf("%q: the limit is above 0; write for example %s:p99<200", o.text, l.Tag)
	}
	o.tag, o.at, o.factor = l.Tag, waited[l.Tag], 1e-6
	if one.Display == "sec" {
		o.factor = 1e-9
	}
	o.Objective = capacity.Objective{Name: l.Tag + " " + l.Stat + " < " + strconv.FormatFloat(l.Value, 'g', -1, 64) + " " + one.Display, Limit: l.Value, Allowed: 1 - q/100}
	return nil
}
