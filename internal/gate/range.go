package gate

import (
	"math"
	"strings"

	"aiperf/internal/metric"
)

// networkAdjusted is the prefix of metrics that are others less the round trip of the network.
const networkAdjusted = "network_adjusted_"

// anyValue is the range of a value of which nothing is known but that it is no negative time.
func anyValue(v float64) metric.Range { return metric.Range{Low: min(0, v), High: math.Inf(1)} }

// rangeOf is what a statistic of a run may be, v being its stated value. A run without a verdict is taken at its word. In a run with bounds a statistic
// without them is exact, but for a metric that is another one less the network's round trip: its range is as wide as that one's.
func rangeOf(v *metric.Validity, s *metric.Summary, tag string, stat metric.Stat, value float64) metric.Range {
	exact := metric.Range{Low: value, High: value}
	if v == nil || math.IsNaN(value) {
		return exact
	}
	if len(v.Bounds) == 0 {
		if v.Verdict == metric.VerdictUncertain && isTime(tag) { // of a version without bounds
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

// isTime tells whether a metric is made of instants of messages.
func isTime(tag string) bool {
	m, ok := metric.Lookup(tag)
	return ok && (m.Unit == "ns" || m.Display == "ms" || strings.Contains(tag, "throughput_per_user"))
}
