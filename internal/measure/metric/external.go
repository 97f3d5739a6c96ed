package metric

import (
	"cmp"
	"math"
	"slices"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
)

// put adds a value of the run that does not come from its requests. It ignores values that are not finite, and metrics that no output shows.
func (s *Summary) put(tag string, v float64) {
	values := noStats()
	values[Avg] = v
	s.putAll(tag, values)
}

func (s *Summary) putAll(tag string, values [Stats]float64) {
	if m, ok := Lookup(tag); ok && !math.IsNaN(values[Avg]) && !math.IsInf(values[Avg], 0) {
		s.Results = append(s.Results, Result{m, values})
	}
}

// sort sorts the results in the order of the exports.
func (s *Summary) sort() {
	sorting.Stable(s.Results, func(a, b Result) int { return cmp.Compare(index[a.Tag], index[b.Tag]) })
	for i := range s.Results {
		s.byTag[s.Results[i].Tag] = i
	}
}

// known returns the values of a metric without missing ones, in its unit.
func (r *Reducer) known(tag string) []float64 {
	values := make([]float64, 0, r.rows)
	for c := r.column(tag).Cursor(); len(values) < r.rows; {
		values = append(values, c.Next())
	}
	return slices.DeleteFunc(values, math.IsNaN)
}

// networkAdjusted are the latencies from which the network latency is subtracted.
var networkAdjusted = []string{"request_latency", "time_to_first_token", "time_to_first_output_token"}

// AddNetwork adds the network's round-trip time, in ns, and the latencies without it: max(value - rtt, 0) for every request (telemetry, section 3).
func (r *Reducer) AddNetwork(s *Summary, rtt float64) {
	one := stats.Describe([]float64{rtt})
	s.putAll("network_rtt", distribution(&one, 1e6))
	for _, tag := range networkAdjusted {
		values := r.known(tag)
		for i, v := range values {
			values[i] = max(v-rtt, 0)
		}
		if d := stats.Describe(values); d.Count > 0 {
			s.putAll("network_adjusted_"+tag, distribution(&d, 1e6))
		}
	}
	s.sort()
}
