package htmlreport

import (
	"cmp"
	"math"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/explanation"
	"aiperf/internal/report/runfiles"
)

// Limits of bands: shorter stretches cannot be seen in a lane, and more pauses than mostPauses have no room for their names.
const (
	leastPause = 250e6 // ns
	leastDrain = 0.01  // share of the run
	mostPauses = 5

	fewestDrain = 20 // requests: in a shorter run every answer is the last one
)

// pauses returns the stretches in which no answer received anything, the longest ones if there are many.
func (c *clock) pauses(q *runfiles.Requests) (list []band) {
	all := explanation.Pauses(q, leastPause)
	sorting.Stable(all, func(a, b metric.Window) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	for _, p := range all[:min(len(all), mostPauses)] {
		list = append(list, band{From: c.at(p.From), To: c.at(p.To), Name: "no answers for " + seconds(float64(p.To-p.From)/1e9), Hue: hueFail})
	}
	sorting.Stable(list, func(a, b band) int { return cmp.Compare(a.From, b.From) })
	return list
}

// draining returns the stretch after the last request was sent, if it is long enough to see.
func (c *clock) draining(q *runfiles.Requests) []band {
	last, end, n := int64(0), int64(0), 0
	for i := range q.Len() {
		if !q.Warmup[i] {
			n++
			last, end = max(last, q.Start[i]), max(end, q.End[i])
		}
	}
	if n < fewestDrain || c.at(end)-c.at(last) < leastDrain*c.seconds {
		return nil
	}
	return []band{{From: c.at(last), To: c.at(end), Name: "draining", Hue: huePhase}}
}

// measured returns when the first request of a measured phase was sent, in s.
func (c *clock) measured(q *runfiles.Requests) float64 {
	at := math.Inf(1)
	for i := range q.Len() {
		if !q.Warmup[i] {
			at = min(at, c.at(q.Start[i]))
		}
	}
	return at
}
