package comparison

import (
	"math"
	"slices"

	"aiperf/internal/metric"
	"aiperf/internal/stats"
)

// Run is the requests of one run.
type Run struct {
	Path     string
	Values   map[string][]float64 // of good requests in the order of their starts, by metric tag, in its display unit
	Ends     []float64            // of good requests in any order, in s from the first start
	Output   []float64            // tokens of each, as Ends; empty: not counted
	Kept     []float64            // 1 where it kept the objectives, as Ends; empty: there are none
	Failed   int
	Starts   float64         // the last start, in s from the first
	Skip     float64         // s at the start that are left out
	Seconds  float64         // from the first start to the last end
	Tokens   float64         // of all answers
	Fixed    bool            // the load is a rate: throughputs follow from it
	Settings []Setting       // of its configuration: what makes it the same work
	Doubt    string          // why it must not be judged, empty: nothing
	Wall     int64           // of the first start, Unix ns
	ID       string          // benchmark id, "": not known
	Machine  string          // of the client, as far as its summary tells; "": it does not
	Cache    metric.CacheUse // what its server reported of its prefix cache
	// Bounds are the limits of the statistics that are not exact, Stated the statistics themselves as the summary has them, both in display units.
	Bounds metric.Bounds
	Stated map[string]map[metric.Stat]float64
	// Disturbed is the share of the time in which the machine kept processes waiting that the latencies depend on, 0 to 1; 0: it did not, or nobody knows.
	Disturbed float64
	// Wake is how late a process that was due was woken on the servers' machine, mean in ms; 0: in time, or nobody knows.
	Wake float64
	// Late is the share of such a process' instants that were not kept, 0 to 1.
	Late float64
}

// Setting is a setting that two runs must share to be compared.
type Setting struct{ Name, Value string }

// requests is the number of good ones.
func (r *Run) requests() int { return len(r.Values["request_latency"]) }

// statistic is one that is compared.
type statistic struct {
	tag, stat string
	unit      string
	p         float64 // quantile; 0: the mean
	more      bool    // more is better
	wide      bool    // twice the margin
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

// all are the statistics that can be compared.
func allStatistics() (list []statistic) {
	for _, tag := range timed {
		for _, s := range stat {
			list = append(list, statistic{tag, s.name, "ms", s.p, false, s.p >= .9})
		}
	}
	return append(append(list, throughput...), errorShare)
}

// usualFamily are those that are compared unless others are named.
func usualFamily() []statistic {
	return slices.DeleteFunc(allStatistics(), func(s statistic) bool { return s.p == .95 })
}

// value is a statistic of a run; false: the run lacks it.
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

// rate estimates a throughput of a run as its report has it: what ended, over the time from the first start to the last end.
func (s *statistic) rate(r *Run) (Estimate, bool) {
	weights := []float64(nil)
	switch s.tag {
	case "output_token_throughput":
		weights = r.Output
	case "goodput":
		weights = r.Kept
	}
	if len(r.Ends) == 0 || r.Starts <= r.Skip || s.tag != "request_throughput" && len(weights) == 0 {
		return Estimate{}, false
	}
	e := Rate(r.Ends, weights, r.Skip, r.Starts)
	s.toTheEnd(&e, r, weights)
	return e, e.Value > 0
}

// toTheEnd makes the rate until the last start the rate of the report: until the last end. In between nothing is sent any more, so that spans of time there are
// no sample of the rate. How long the last requests take is chance: the interval has room for an end as short as the median latency and as long as p99.
func (s *statistic) toTheEnd(e *Estimate, r *Run, weights []float64) {
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

// estimate is the statistic with its interval.
func (s *statistic) estimate(r *Run) Estimate {
	var e Estimate
	switch {
	case s.more:
		e, _ = s.rate(r)
	case s.p == 0:
		e = Mean(r.Values[s.tag])
	default:
		e = Quantile(r.Values[s.tag], s.p)
	}
	s.calmer(&e, r)
	s.widen(&e, r)
	return e
}

// errorsOf is the share of errors with its interval.
func errorsOf(r *Run) Estimate {
	n := r.requests() + r.Failed
	p := float64(r.Failed) / float64(n)
	return Estimate{Value: p, Effective: float64(n), Batches: n, limits: func(level float64) (float64, float64) {
		low, high, _ := shareLimits(p, n, n, 0, level)
		return low, high
	}}
}

// drifting tells whether a metric of a run was still changing by more than half a margin and what its machine may have made of it by a change of its own.
func drifting(r *Run, tag string, margin float64) (change float64, yes bool) {
	if !slices.Contains(timed, tag) {
		return 0, false
	}
	y := r.Values[tag]
	z, change := Drift(y)
	machine := (&statistic{tag: tag}).added(r) / stats.Mean(y)
	return change, math.Abs(z) > 2.576 && math.Abs(change) > margin/2+machine
}
