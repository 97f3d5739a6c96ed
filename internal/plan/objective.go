package plan

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"aiperf/internal/assembly"
	"aiperf/internal/capacity"
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/setting"
	"aiperf/internal/suggest"
)

// Objective is what a search for capacity keeps: a quantile of a latency below a limit, or the share of failed requests.
type Objective struct {
	capacity.Objective
	text   string
	tag    string // errorRate, or a metric
	at     known
	factor float64 // of the metric's own unit, to the unit of the limit
}

// known says when it is certain whether a request keeps an objective.
type known int

const (
	atEnd   known = iota // when it has ended
	atLimit              // when the limit has passed since its start, at the latest
)

// errorRate is the share of failed requests.
const errorRate = "error_rate"

var (
	quantileForm = regexp.MustCompile(`^\s*([a-z0-9_]+):p([0-9.]+)\s*<=?\s*([0-9.eE+-]+?)\s*([a-zµ]+)?\s*$`)
	errorForm    = regexp.MustCompile(`^\s*error_rate\s*<=?\s*([0-9.eE+-]+)\s*%?\s*$`)
)

// waited are the metrics that only grow while a request goes on.
var waited = map[string]known{firstToken: atLimit, "request_latency": atLimit, firstOutput: atLimit}

// The waits for the first content of an answer, and for the first that is no reasoning.
const (
	firstToken  = "time_to_first_token"
	firstOutput = "time_to_first_output_token"
)

// isLatency tells whether a metric is a time of single requests that is better when it is smaller.
func isLatency(m *metric.Metric) bool {
	return m.Kind == metric.Record && m.Better == metric.Smaller && m.Unit == "ns"
}

// requestLatencies are the metrics that an objective may name in some run.
func requestLatencies() (tags []string) {
	for _, one := range metric.All() {
		if isLatency(one) {
			tags = append(tags, one.Tag)
		}
	}
	return tags
}

// InRun says why no answer of a run tells of the objective; nil = they do.
func (o *Objective) InRun(b *config.Benchmark) error {
	e, _, err := endpoint.Lookup(b.Endpoint.Type)
	if o.tag == errorRate || err != nil {
		return err
	}
	options := assembly.MetricOptions(b, e)
	options.Goodput = o.tag + ":1"
	var goal *metric.GoalError
	if _, err = metric.NewSelection(options); errors.As(err, &goal) {
		return fmt.Errorf("%q: %s %s", o.text, o.tag, goal.Why)
	}
	return err
}

// ParseObjective reads "time_to_first_token:p99<200" or "error_rate<1%".
func ParseObjective(text string) (o Objective, err error) {
	o.text = text
	if m := errorForm.FindStringSubmatch(text); m != nil {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil || !(v > 0 && v < 100) {
			return o, fmt.Errorf("%q: the error rate is above 0 and below 100 %%", text)
		}
		o.tag, o.Objective = errorRate, capacity.Objective{Name: text, Limit: 0.5, Allowed: v / 100}
		return o, nil
	}
	m := quantileForm.FindStringSubmatch(text)
	if m == nil {
		return o, fmt.Errorf("%q is no objective; write metric:p99<limit, as time_to_first_token:p99<200, or error_rate<1%%: a share of requests is what is estimated, so averages and throughputs are not taken", text)
	}
	q, err1 := strconv.ParseFloat(m[2], 64)
	limit, err2 := strconv.ParseFloat(m[3], 64)
	one, ok := metric.Lookup(m[1])
	switch {
	case err1 != nil || !(q >= 50 && q < 100):
		return o, fmt.Errorf("%q: the percentile is 50 or more and below 100", text)
	case err2 != nil || !(limit > 0):
		return o, fmt.Errorf("%q: the limit is above 0", text)
	case !ok || !isLatency(one):
		hint := "such are time_to_first_token, inter_token_latency, request_latency"
		if near := suggest.Name(m[1], requestLatencies()); near != "" {
			hint = "did you mean " + near + "?"
		}
		return o, fmt.Errorf("%q: %s is no latency of single requests; %s", text, m[1], hint)
	}
	own, _ := setting.UnitSeconds(one.Display)
	if m[4] != "" {
		unit, known := setting.UnitSeconds(m[4])
		if !known {
			return o, fmt.Errorf("%q: the unit %s is none of time; limits of %s are in %s, such as %s%s", text, m[4], m[1], one.Display, m[3], one.Display)
		}
		limit *= unit / own
	}
	o.tag, o.at, o.factor = m[1], waited[m[1]], 1e-6
	if one.Display == "sec" {
		o.factor = 1e-9
	}
	o.Objective = capacity.Objective{Name: m[1] + " p" + m[2] + " < " + strconv.FormatFloat(limit, 'g', -1, 64) + " " + one.Display, Limit: limit, Allowed: 1 - q/100}
	return o, nil
}
