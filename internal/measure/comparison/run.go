package comparison

import (
	"math"
	"slices"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
)

// Run holds the requests of one run.
type Run struct {
	Path          string
	Values        map[string][]float64 // values of good requests in the order of their starts, by metric tag, in the display unit
	Ends          []float64            // ends of good requests in any order, in s from the first start
	Output        []float64            // output tokens of each request, in the order of Ends; empty: not counted
	MetObjectives []float64            // 1 if the request met the objectives, in the order of Ends; empty: no objectives
	Failed        int
	Cancelled     int             // requests that the configuration cancelled, of the whole run; they are not part of Failed
	Starts        float64         // last start, in s from the first
	Skip          float64         // skipped time at the start, s
	Seconds       float64         // from the first start to the last end, s
	Tokens        float64         // output tokens of all requests
	Fixed         bool            // the load is a fixed rate, which determines the throughputs
	Settings      []Setting       // the settings that define the work
	Target        Target          // what was measured
	Objectives    string          // of goodput: "time_to_first_token:200", several joined by spaces in the order of their tags; "" = not known
	Doubt         string          // why the run must not be judged; empty if it may be
	Wall          int64           // first start, Unix ns
	ID            string          // benchmark id; "": unknown
	Machine       string          // the client's machine, from the summary; "": unknown
	Cache         metric.CacheUse // the server's reported use of its prefix cache
	// Bounds are the limits of the inexact statistics. Stated are the statistics in the summary. Both are in display units.
	Bounds metric.Bounds
	Stated map[string]map[metric.Stat]float64
	// Disturbed is the share of the time, 0 to 1, in which the machine delayed processes that affect the latencies; 0: none, or unknown.
	Disturbed float64
	// Wake is the mean delay of a wake-up on the servers' machine, in ms; 0: none, or unknown.
	Wake float64
	// Late is the share of late wake-ups, 0 to 1.
	Late float64
}

// Setting is a setting that must be equal in two compared runs.
type Setting struct{ Name, Value string }

// Doubts about runs that did not measure everything. A better machine does not help.
const (
	cutShort   = "the run was cut short"
	incomplete = "the run is not complete"
)

// remedy says how to get a run without the doubt.
func (r *Run) remedy() string {
	switch r.Doubt {
	case cutShort, incomplete:
		return "Repeat it"
	case metric.UnreadMessages, metric.EarlyUsage:
		return "Repair the server"
	case metric.MissingUsage:
		return "Repeat it without the token counts of the server"
	case metric.UncountedChoices:
		return "Repeat it with the token counts of the server"
	}
	return "Repeat it on a quieter machine"
}

// requests returns the number of good requests.
func (r *Run) requests() int { return len(r.Values["request_latency"]) }

// statistic is a statistic that can be compared.
type statistic struct {
	tag, stat      string
	unit           string
	p              float64 // quantile level; 0: the mean
	higherIsBetter bool    // higher values are better
	wide           bool    // the margin is doubled
}

// Known metrics of single requests and their statistics; rates; the share of errors comes last.
var (
	timed = []string{"time_to_first_token", "inter_token_latency", "request_latency"}
	stat  = []struct {
		name string
		p    float64
	}{{"mean", 0}, {"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99}}
	throughput = []statistic{
		{"request_throughput", "avg", "requests/sec", 0, true, false}, {"output_token_throughput", "avg", "tokens/sec", 0, true, false},
		{"goodput", "avg", "requests/sec", 0, true, false},
	}
	errorShare = statistic{"error_rate", "share", "", 0, false, false}
)

// allStatistics returns all statistics that can be compared.
func allStatistics() (list []statistic) {
	for _, tag := range timed {
		for _, s := range stat {
			list = append(list, statistic{tag, s.name, "ms", s.p, false, s.p >= .9})
		}
	}
	return append(append(list, throughput...), errorShare)
}

// usualFamily returns the statistics that are compared by default.
func usualFamily() []statistic {
	return slices.DeleteFunc(allStatistics(), func(s statistic) bool { return s.p == .95 })
}

// value returns a statistic of a run; false if the run does not have it.
func (s *statistic) value(r *Run) (float64, bool) {
	ok := float64(r.requests())
	switch s.tag {
	case "error_rate":
		return float64(r.Failed) / (ok + float64(r.Failed)), ok+float64(r.Failed) > 0
	case "request_throughput", "output_token_throughput", "goodput":
		e, has := s.rate(r)
		return e.Value, has
	}
	y := r.Values[s.tag]
	if len(y) == 0 {
		return 0, false
	}
	if s.p == 0 {
		return stats.Mean(y), true
	}
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	return stats.Percentile(sorted, 100*s.p), true
}

// rate estimates a throughput of a run as its report does: the amount over the time from the first start to the last end.
func (s *statistic) rate(r *Run) (Estimate, bool) {
	weights := []float64(nil)
	switch s.tag {
	case "output_token_throughput":
		weights = r.Output
	case "goodput":
		weights = r.MetObjectives
	}
	if len(r.Ends) == 0 || r.Starts <= r.Skip || s.tag != "request_throughput" && len(weights) == 0 {
		return Estimate{}, false
	}
	e := Rate(r.Ends, weights, r.Skip, r.Starts)
	s.rateToEnd(&e, r, weights)
	return e, e.Value > 0
}

// rateToEnd converts the rate up to the last start to the report's rate up to the last end. After the last start nothing is sent, so that time is not
// a sample of the rate. The duration of the last requests is random. The interval therefore allows for an end phase between the median latency and
// p99.
func (s *statistic) rateToEnd(e *Estimate, r *Run, weights []float64) {
	sum := 0.0
	end := slices.Max(r.Ends)
	for i, at := range r.Ends {
		switch {
		case at < r.Skip:
		case weights != nil:
			sum += weights[i]
		default:
			sum++
		}
	}
	sending, drain := r.Starts-r.Skip, end-r.Starts
	value := sum / (sending + drain)
	if stated := r.Stated[s.tag][metric.Avg]; r.Skip == 0 && stated > 0 {
		value = stated
	}
	latency := slices.Clone(r.Values["request_latency"])
	slices.Sort(latency)
	shortest, longest := drain, drain
	if len(latency) > 0 {
		shortest, longest = min(drain, stats.Percentile(latency, 50)/1000), max(drain, stats.Percentile(latency, 99)/1000)
	}
	steady, plain := e.Value, e.limits
	e.Value = value
	e.limits = func(level float64) (float64, float64) {
		low, high := plain(level)
		scale := value / steady
		return low * scale * (sending + drain) / (sending + longest), high * scale * (sending + drain) / (sending + shortest)
	}
}

// estimate returns the statistic with its interval.
func (s *statistic) estimate(r *Run) Estimate {
	var e Estimate
	switch {
	case s.higherIsBetter:
		e, _ = s.rate(r)
	case s.p == 0:
		e = Mean(r.Values[s.tag])
	default:
		e = Quantile(r.Values[s.tag], s.p)
	}
	s.widenForDisturbance(&e, r)
	s.widen(&e, r)
	return e
}

// errorsOf returns the share of errors with its interval.
func errorsOf(r *Run) Estimate {
	n := r.requests() + r.Failed
	p := float64(r.Failed) / float64(n)
	return Estimate{Value: p, Effective: float64(n), Batches: n, limits: func(level float64) (float64, float64) {
		low, high, _ := shareLimits(p, n, n, 0, level)
		return low, high
	}}
}

// drifting reports whether a metric of a run was still changing, and by how much. The change must exceed half a margin plus the possible effect of
// the machine.
func drifting(r *Run, tag string, margin float64) (change float64, yes bool) {
	if !slices.Contains(timed, tag) {
		return 0, false
	}
	y := r.Values[tag]
	z, change := Drift(y)
	machine := (&statistic{tag: tag}).added(r) / stats.Mean(y)
	return change, math.Abs(z) > 2.576 && math.Abs(change) > margin/2+machine
}
