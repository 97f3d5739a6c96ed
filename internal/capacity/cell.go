package capacity

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"aiperf/internal/stats"
)

// Request is one of a cell. Instants in s from the cell's beginning; a request that was still under way when the cell ended has an End of +Inf.
type Request struct {
	Start, End float64
	// Values are its figures by objective, in the objective's unit; +Inf: a failed request, or one that is worse than its objective without
	// its figure being known. NaN: nothing is known of it.
	Values []float64
	// Known are the instants from which on it is certain whether each objective was kept, +Inf: never.
	Known []float64
}

// Objective is what is to be kept: the share of requests with a figure above Limit is Allowed at most.
type Objective struct {
	Name    string
	Limit   float64
	Allowed float64 // 0 to 1
}

// State is what a cell says of an objective.
type State string

// The states: the queue grows without end; the objective is certainly broken, certainly kept, perhaps kept (while the bracket is sought), open.
const (
	Over    State = "over"
	Fail    State = "fail"
	Pass    State = "pass"
	Perhaps State = "pass?"
	Open    State = "?"
)

// view is what is known of an objective at an instant of a cell.
type view struct {
	n                int
	share, effective float64
	growth, growthT  float64
}

// look judges an objective by the requests from wash on as far as they are known at an instant.
func look(list []Request, k int, o *Objective, wash, at float64) (v view) {
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
	for _, p := range []float64{90, 75} { // no bad request says nothing of how they cluster
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

// growth is how much of the arrivals piles up between wash and an instant, and how many deviations that is from none.
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

// clustering is by how much the variance of a share is above that of independent requests: the largest of batches of 20, 10 and 5, at least 1.
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

// limits are Clopper-Pearson limits of a share with an effective size, each at 97.5 %.
func limits(share float64, n int, effective float64) (low, high float64) {
	size := max(1, min(float64(n), effective))
	bad := share * size
	if bad > 0 {
		low = distuv.Beta{Alpha: bad, Beta: size - bad + 1}.Quantile(.025)
	}
	high = 1
	if size > bad {
		high = distuv.Beta{Alpha: bad + 1, Beta: size - bad}.Quantile(.975)
	}
	return low, high
}

// state is what a view says; settle false is the search for the bracket.
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

// String names a cell in one line.
func (c *Cell) String() string {
	if c.Limited {
		return fmt.Sprintf("%.4g: this client could not keep it", c.Load)
	}
	text := fmt.Sprintf("%.4g: %s %.2f %% of %d requests bad in %.0f s: %s", c.Load, c.Objective, 100*c.Bad, c.N, c.Seconds, c.State)
	if c.Lost >= 0.001 {
		text += fmt.Sprintf(" (this client stood still for %.1f %%)", 100*c.Lost)
	}
	return text
}
