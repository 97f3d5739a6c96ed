package gate

import (
	"math"
	"strings"

	"aiperf/internal/measure/metric"
)

// networkAdjusted is the prefix of metrics from which the network round trip is subtracted.
const networkAdjusted = "network_adjusted_"

// anyValue is the range of an unknown value: any time that is not negative.
func anyValue(v float64) metric.Range { return metric.Range{Low: min(0, v), High: math.Inf(1)} }

// RangeOf returns the range of a statistic of a run, in the metric's display unit; {NaN, NaN}: the run does not have it.
func RangeOf(run *metric.Run, tag string, stat metric.Stat) metric.Range {
	return rangeOf(run.Validity, run.Profiling, tag, stat, run.Profiling.Value(tag, stat))
}

// rangeOf returns the range of a statistic of a run; value is its stated value. A run without a verdict is taken as exact. If a run has bounds, a
// statistic without bounds is exact. Only a metric minus the network round trip gets a range as wide as that of the original metric.
func rangeOf(v *metric.Validity, s *metric.Summary, tag string, stat metric.Stat, value float64) metric.Range {
	exact := metric.Range{Low: value, High: value}
	if v == nil || math.IsNaN(value) {
		return exact
	}
	if len(v.Bounds) == 0 {
		if v.Verdict == metric.VerdictUncertain && !v.Warm() && isTime(tag) { // written by a version without bounds
			return anyValue(value)
		}
		return exact
	}
	if base, ok := strings.CutPrefix(tag, networkAdjusted); ok && v.Bounds[tag] == nil {
		stated := s.Value(base, stat)
		of := v.Bounds.Of(base, stat, stated)
		if math.IsNaN(stated) {
			return exact
		}
		return metric.Range{Low: value - (stated - of.Low), High: value + (of.High - stated)}
	}
	return v.Bounds.Of(tag, stat, value)
}

// isTime reports whether a metric is computed from instants of messages.
func isTime(tag string) bool {
	m, ok := metric.Lookup(tag)
	return ok && (m.Unit == "ns" || m.Display == "ms" || strings.Contains(tag, "throughput_per_user"))
}
