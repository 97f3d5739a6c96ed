package metric

import "aiperf/internal/measure/stats"

// RepeatSummary combines several runs of the same benchmark: the confidence interval of every statistic of every metric.
type RepeatSummary struct {
	Version    string
	Confidence float64 // confidence level of the intervals, 0 to 1
	Runs       int     // number of requested runs
	Labels     []string
	Failed     []FailedRun
	Cooldown   float64 // seconds between runs
	Values     []RepeatValue
	Cell       *SweepCell // cell of a sweep; nil without a sweep
	Mode       string     // order of the sweep: repeated or independent
	Submission *Submission
	// Convergence is the result of the convergence rule; nil = the user set no rule.
	Convergence *Convergence
}

// Convergence is the result of a convergence rule, which ends the repetitions once a statistic is known well enough.
type Convergence struct {
	Metric, Stat string  // what the rule looks at; Stat is "" for a distribution
	Mode         string  // ci_width, cv or distribution
	Limit        float64 // Value must be below it; in the mode distribution above
	Value        float64 // relative width of the interval, coefficient of variation or p-value; NaN = it cannot be computed
	Runs         int     // successful runs that have the metric
	Reached      bool
	Sentence     string // the result in words
}

// FailedRun is a run without a result. Variation is the label of its cell; empty without a sweep.
type FailedRun struct{ Label, Error, Variation string }

// RepeatValue is one statistic over several runs, in the display unit of its metric.
type RepeatValue struct {
	*Metric
	Stat Stat
	stats.Interval
}

// Name returns the key of the value in files.
func (v *RepeatValue) Name() string { return v.Tag + "_" + v.Stat.String() }

// Repeat summarises successful runs, in the order of metrics and statistics. Each value is the mean of the runs' own statistics, never a pooled
// percentile (measurement, section 12).
func Repeat(runs []*Run, confidence float64) []RepeatValue {
	var out []RepeatValue
	for _, m := range All() {
		if m.Hidden() {
			continue
		}
		for s := Avg; s < Stats; s++ {
			if s == Count {
				continue
			}
			var v []float64
			for _, run := range runs {
				if r, ok := run.Profiling.Get(m.Tag); ok && r.Has(s) {
					v = append(v, r.Values[s])
				}
			}
			if len(v) > 0 {
				out = append(out, RepeatValue{m, s, stats.Confidence(v, confidence)})
			}
		}
	}
	return out
}
