package capacity

import (
	"fmt"
	"math"
	"slices"

	"aiperf/internal/measure/stats"
)

// Request is one request of a cell. Instants are in s from the start of the cell. End is +Inf for a request that was still in flight when the cell
// ended.
type Request struct {
	Start, End float64
	// Values holds the request's figure for each objective, in the objective's unit. +Inf means a failed request, or one that is worse than the limit
	// while its figure is unknown. NaN means unknown.
	Values []float64
	// Known holds, for each objective, the instant from which it is certain whether the request meets it; +Inf: never.
	Known []float64
}

// Objective is a condition on the requests: at most the share Allowed may have a figure above Limit.
type Objective struct {
	Name    string
	Limit   float64
	Allowed float64 // 0 to 1
}

// State is the result of a cell for an objective.
type State string

// The states: the queue grows without end (Over), the objective is certainly violated (Fail), certainly met (Pass), perhaps met (Perhaps, during the
// search for the bracket), or undecided (Open).
const (
	Over    State = "over"
	Fail    State = "fail"
	Pass    State = "pass"
	Perhaps State = "pass?"
	Open    State = "?"
)

// view is what is known about an objective at an instant of a cell.
type view struct {
	n                int
	share, effective float64
	growth, growthT  float64
}

// evaluate evaluates an objective over the requests from wash on, as far as they are known at an instant.
func evaluate(list []Request, k int, o *Objective, wash, at float64) (v view) {
	v.growth, v.growthT = growth(list, wash, at)
	var bad, values []float64
	for i := range list {
		r := &list[i]
		if r.Start < wash || r.Known[k] > at || math.IsNaN(r.Values[k]) {
			continue
		}
		b := 0.0
		if r.Values[k] > o.Limit {
			b = 1
		}
		bad, values = append(bad, b), append(values, r.Values[k])
	}
	if v.n = len(bad); v.n == 0 {
		return v
	}
	v.share = stats.Mean(bad)
	inflation := clustering(bad)
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	for _, p := range []float64{90, 75} { // without a bad request, slow requests show how they cluster
		limit := stats.Percentile(sorted, p)
		above := make([]float64, len(values))
		for i, x := range values {
			if x > limit {
				above[i] = 1
			}
		}
		inflation = max(inflation, clustering(above))
	}
	v.effective = float64(v.n) / inflation
	return v
}

// growth returns the share of the arrivals between wash and an instant that is added to the queue, and how many standard deviations that is from zero.
func growth(list []Request, wash, at float64) (share, t float64) {
	const instants = 17
	inflight := make([]float64, instants)
	arrivals := 0.0
	for i := range list {
		r := &list[i]
		if r.Start >= wash && r.Start <= at {
			arrivals++
		}
		for k := range inflight {
			u := wash + (at-wash)*float64(k)/(instants-1)
			if r.Start <= u && r.End > u {
				inflight[k]++
			}
		}
	}
	first, last := stats.Mean(inflight[:5]), stats.Mean(inflight[instants-5:])
	rate := max(1, arrivals) / max(1e-9, at-wash)
	return (last - first) / (0.75 * (at - wash) * rate), (last - first) / math.Sqrt(max(first, 4))
}

// clustering returns the ratio of the variance of a share to that of independent requests: the largest over batches of 20, 10 and 5, at least 1.
func clustering(y []float64) float64 {
	n, sum := len(y), 0.0
	for _, v := range y {
		sum += v
	}
	p, best := (sum+.5)/float64(n+1), 1.0
	for _, k := range []int{20, 10, 5} {
		if n < 2*k {
			continue
		}
		means := make([]float64, k)
		for i := range means {
			means[i] = stats.Mean(y[i*n/k : (i+1)*n/k])
		}
		s := stats.SampleStd(means)
		best = max(best, s*s/float64(k)/(p*(1-p)/float64(n)))
	}
	return best
}

// limits returns the Clopper-Pearson limits of a share with an effective sample size, each at 97.5 %.
func limits(share float64, n int, effective float64) (low, high float64) {
	size := max(1, min(float64(n), effective))
	bad := share * size
	if bad > 0 {
		low = stats.BetaQuantile(.025, bad, size-bad+1)
	}
	high = 1
	if size > bad {
		high = stats.BetaQuantile(.975, bad+1, size-bad)
	}
	return low, high
}

// state returns the state of an objective. settle is false during the search for the bracket.
func (v *view) state(o *Objective, settle bool) State {
	if v.growth > .02 && v.growthT > 4 {
		return Over
	}
	if v.n < 5 {
		return Open
	}
	low, high := limits(v.share, v.n, v.effective)
	switch {
	case low > o.Allowed:
		return Fail
	case high < o.Allowed:
		return Pass
	case !settle && v.share <= o.Allowed:
		return Perhaps
	}
	return Open
}

// outcomes says what the states mean for a load.
var outcomes = map[State]string{
	Over: "the server's queue grows", Fail: "the objective is missed", Pass: "the objective is met", Perhaps: "the objective is probably met", Open: "undecided",
}

// Line describes a cell in one line: the load with its unit, the outcome, and the figures behind it.
func (c *Cell) Line(unit string) string {
	if c.Limited {
		return fmt.Sprintf("%.4g %s: not counted, because this client could not send that fast", c.Load, unit)
	}
	text := fmt.Sprintf("%.4g %s: %s; %.2f %% of %d requests missed %s in %.0f s", c.Load, unit, outcomes[c.State], 100*c.Bad, c.N, c.Objective, c.Seconds)
	if c.Lost >= 0.001 {
		text += fmt.Sprintf(" (this client was paused %.1f %% of the time)", 100*c.Lost)
	}
	return text
}
