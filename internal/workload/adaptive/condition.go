package adaptive

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/measure/stats"
)

// Condition is one condition of a service level: a bound on a statistic of a metric over the requests of a window.
type Condition struct {
	Metric    string
	Stat      string // avg, min, max or p1 to p99; rates have only avg, min and max, which are all the window's single value
	Op        string // lt, le, gt, ge
	Threshold float64
}

// Key returns the condition's name in files: metric:stat:op:threshold, the threshold with 6 digits.
func (c Condition) Key() string {
	return c.Metric + ":" + c.Stat + ":" + c.Op + ":" + strconv.FormatFloat(c.Threshold, 'g', 6, 64)
}

// holds reports whether a value meets the condition.
func (c Condition) holds(v float64) bool {
	switch c.Op {
	case "lt":
		return v < c.Threshold
	case "le":
		return v <= c.Threshold
	case "gt":
		return v > c.Threshold
	}
	return v >= c.Threshold
}

// margin returns how far a value is on the good side of the threshold, as a fraction of it. ok is false for a threshold of 0.
func (c Condition) margin(v float64) (share float64, ok bool) {
	if c.Threshold == 0 {
		return 0, false
	}
	share = (c.Threshold - v) / math.Abs(c.Threshold)
	if c.Op == "gt" || c.Op == "ge" {
		share = -share
	}
	return share, true
}

// measure is a metric of windows: a value per request, or a rate of the whole window.
type measure struct {
	rate   func(w *Window, all []Condition) float64 // nil = perRequest returns a value per request
	stream bool                                     // requires streamed answers
	judges bool                                     // it counts good requests, which the conditions on per-request metrics define
}

var (
	latency    = measure{}
	streamed   = measure{stream: true}
	throughput = measure{rate: func(w *Window, _ []Condition) float64 { return w.perSecond(float64(len(w.Requests))) }}
	tokens     = measure{rate: func(w *Window, _ []Condition) float64 { return w.perSecond(w.tokens()) }}
	goodput    = measure{judges: true, rate: func(w *Window, all []Condition) float64 { return w.perSecond(w.good(all)) }}
	goodShare  = measure{judges: true, rate: func(w *Window, all []Condition) float64 { return share(w.good(all), w.total()) }}
	success    = measure{rate: func(w *Window, _ []Condition) float64 { return share(float64(len(w.Requests)), w.total()) }}
	// failures is the percentage of failed requests among those that were not cancelled.
	failures = measure{rate: func(w *Window, _ []Condition) float64 {
		return 100 * share(float64(w.Errors), len(w.Requests)+w.Errors)
	}}
	cancellations = measure{rate: func(w *Window, _ []Condition) float64 { return share(float64(w.Cancelled), w.total()) }}
)

// measures holds the metrics by name.
var measures = map[string]*measure{
	"request_latency": &latency, "time_to_first_token": &streamed, "ttft": &streamed,
	"inter_token_latency": &streamed, "itl": &streamed, "tpot": &streamed,
	"throughput": &throughput, "request_throughput": &throughput, "completed_request_throughput": &throughput, "output_token_throughput": &tokens,
	"goodput": &goodput, "goodput_ratio": &goodShare, "success_rate": &success, "request_success_rate": &success,
	"error_rate": &failures, "request_error_rate": &failures, "cancellation_rate": &cancellations, "request_cancellation_rate": &cancellations,
}

// perRequest returns the function for a metric with one value per request, in ms. The function returns NaN for a request without the metric. nil =
// not such a metric.
func perRequest(metric string) func(r *Request) float64 {
	switch metric {
	case "request_latency":
		return func(r *Request) float64 { return r.Latency }
	case "time_to_first_token", "ttft":
		return func(r *Request) float64 { return r.FirstToken }
	case "inter_token_latency", "itl", "tpot":
		return func(r *Request) float64 { return r.InterToken }
	}
	return nil
}

// share returns part / whole as a percentage, or 0 if whole is 0.
func share(part float64, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return part / float64(whole)
}

// statistics are the statistics of a per-request metric.
var statistics = []string{"avg", "min", "max", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99"}

// Metrics returns the valid metric names of conditions, sorted.
func Metrics() []string {
	var list []string
	for name := range measures {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// NeedsStream reports whether a metric requires streamed answers.
func NeedsStream(metric string) bool { m := measures[metric]; return m != nil && m.stream }

// Check returns what is wrong with condition i of a service level; "" = nothing.
func Check(all []Condition, i int) string {
	c := all[i]
	m := measures[c.Metric]
	switch {
	case m == nil:
		return fmt.Sprintf("metric_tag %q is not supported; allowed are %s", c.Metric, strings.Join(Metrics(), ", "))
	case !slices.Contains([]string{"lt", "le", "gt", "ge"}, c.Op):
		return fmt.Sprintf("op %q is not allowed; allowed are lt, le, gt, ge", c.Op)
	case m.rate == nil && !slices.Contains(statistics, c.Stat):
		return fmt.Sprintf("stat %q is not allowed; allowed are %s", c.Stat, strings.Join(statistics, ", "))
	case m.rate != nil && !slices.Contains(statistics[:3], c.Stat):
		return fmt.Sprintf("stat %q: a window has only one value of %s; allowed are %s", c.Stat, c.Metric, strings.Join(statistics[:3], ", "))
	case m == &failures && !(c.Threshold >= 0 && c.Threshold <= 100):
		return fmt.Sprintf("threshold %g: %s is a percentage; allowed are 0 to 100", c.Threshold, c.Metric)
	case m.judges && !slices.ContainsFunc(all, func(o Condition) bool { return perRequest(o.Metric) != nil }):
		return c.Metric + " needs a second condition, on request_latency, time_to_first_token or inter_token_latency, which decides which requests are good"
	}
	return ""
}

// value returns the condition's statistic for a window; +Inf if no request has the metric.
func (c Condition) value(w *Window, all []Condition) float64 {
	if each := perRequest(c.Metric); each != nil {
		return statistic(w.values(each), c.Stat)
	}
	return measures[c.Metric].rate(w, all)
}

// statistic returns a statistic of ascending values; +Inf if there are none.
func statistic(sorted []float64, stat string) float64 {
	switch {
	case len(sorted) == 0:
		return math.Inf(1)
	case stat == "avg":
		return stats.Mean(sorted)
	case stat == "min":
		return sorted[0]
	case stat == "max":
		return sorted[len(sorted)-1]
	}
	level, err := strconv.Atoi(strings.TrimPrefix(stat, "p"))
	if err != nil { // Check has excluded an error
		return math.Inf(1)
	}
	return stats.Percentile(sorted, float64(level))
}
