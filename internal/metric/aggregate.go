package metric

import (
	"aiperf/internal/stats"
)

// Repeated is what several runs of the same benchmark add up to: the confidence interval of every statistic of every metric.
type Repeated struct {
	Version    string
	Confidence float64 // level of the intervals, 0 to 1
	Runs       int     // that were asked for
	Labels     []string
	Failed     []FailedRun
	Cooldown   float64 // seconds between runs
	Values     []RepeatedValue
	Cell       *SweptCell // of a sweep; nil: there is none
	Mode       string     // of the sweep: repeated or independent
	Submission *Submission
}

// FailedRun is a run without a result. Variation is the label of its cell, empty without a sweep.
type FailedRun struct{ Label, Error, Variation string }

// RepeatedValue is one statistic over the runs, in the display unit of its metric.
type RepeatedValue struct {
	*Metric
	Stat Stat
	stats.Interval
}

// Name is the key of the value in files.
func (v *RepeatedValue) Name() string { return v.Tag + "_" + v.Stat.String() }

// Repeat summarises successful runs, in the order of metrics and statistics. It is the mean of each run's own statistic, never a pooled
// percentile (measurement, section 12).
func Repeat(runs []*Run, confidence float64) []RepeatedValue {
	var out []RepeatedValue
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
				out = append(out, RepeatedValue{m, s, stats.Confidence(v, confidence)})
			}
		}
	}
	return out
}
