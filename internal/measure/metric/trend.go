package metric

import (
	"cmp"
	"math"
	"slices"
	"time"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/stats"
)

// Trend compares the first and the last requests of the phase, and the rate of answers with that of requests. It ignores stopped requests.
func (r *Reducer) Trend() Trend {
	type span struct{ start, duration float64 }
	all := make([]span, 0, r.rows)
	start, end := r.start.Cursor(), r.end.Cursor()
	for range r.rows {
		all = append(all, span{start.Next(), end.Next()})
	}
	sorting.Sort(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	n := len(all)
	if n < 3 || all[n-1].start <= all[0].start {
		return Trend{}
	}
	seconds := (all[n-1].start - all[0].start) / 1e9
	answered := 0
	for _, s := range all {
		if s.start+s.duration <= all[n-1].start {
			answered++
		}
	}
	median := func(part []span) time.Duration {
		took := make([]float64, len(part))
		for i := range part {
			took[i] = part[i].duration
		}
		slices.Sort(took)
		return time.Duration(math.Round(stats.Percentile(took, 50)))
	}
	return Trend{
		SentRate: float64(n-1) / seconds, AnsweredRate: float64(answered) / seconds,
		EarlyLatency: median(all[:n/3]), LateLatency: median(all[n-n/3:]),
	}
}
