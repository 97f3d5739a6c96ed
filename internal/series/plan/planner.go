package plan

import (
	"math"
	"slices"

	"aiperf/internal/base/sorting"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
)

// probe is one cell of a search with its result.
type probe struct {
	values    []float64 // one per dimension
	objective float64   // NaN: not measured
	verdict             // for the conditions of the search
	tiers     []verdict // for the named service levels of the search
}

// verdict is the result of a cell for conditions.
type verdict struct {
	feasible bool              // all conditions hold
	margin   float64           // smallest relative distance to a limit, negative if it is violated; NaN: not measured
	breach   *metric.Condition // a condition that does not hold
	doubt    string            // why the cell is not counted; empty = it is counted
}

// planner chooses the next cell from the earlier ones, always the same for the same history. If there is none, next is nil and done is the reason.
type planner interface {
	next(seen []probe) (next []float64, done string)
}

// newPlanner returns the planner of a search.
func newPlanner(r *config.Run) planner {
	s := r.Sweep
	switch {
	case len(s.SLATiers) > 0:
		return tierSearch{each: boundaryOf(s), n: len(s.SLATiers)}
	case seeksBoundary(s):
		return boundaryOf(s)
	}
	return newBayesian(r)
}

// seeksBoundary reports whether a search looks for the highest value of one setting that meets its conditions.
func seeksBoundary(s *config.Sweep) bool {
	return s.Planner == "monotonic_sla" || s.Planner == "smooth_isotonic"
}

// boundaryOf returns the planner of such a search.
func boundaryOf(s *config.Sweep) boundary {
	if s.Planner == "monotonic_sla" {
		return boundary{dim: s.SearchSpace[0], trials: max(1, s.MonotonicStabilityTrials), precision: 0.05}
	}
	return boundary{dim: s.SearchSpace[0], trials: 1, smooth: true, precision: map[string]float64{"tight": 0.02, "coarse": 0.10}[s.SLAPrecision]}
}

// boundary searches for the highest value of one dimension that meets all conditions (spec: timing, section 14.1). It doubles the lowest value until
// one fails, then bisects between the last pass and the first failure. smooth places the next value where the margins, made monotone, cross 0. Both
// ends of the answer are evaluated trials times: one unlucky run must not end the search far below the limit.
type boundary struct {
	dim       config.SearchDimension
	trials    int // consistent evaluations needed at both ends of the answer; 0 = 1
	smooth    bool
	precision float64 // relative width at which the search ends; 0 = 5 %
}

// outcomes counts how often a value passed and failed. The more frequent outcome counts.
type outcomes struct{ passes, fails int }

// bracket returns the largest value that passed and the smallest that failed, with their outcomes. open is the smallest value with equally many passes
// and failures, NaN: none.
func (b boundary) bracket(seen []probe) (pass, fail, open float64, at map[float64]outcomes) {
	at = map[float64]outcomes{}
	for _, p := range seen {
		t := at[p.values[0]]
		switch {
		case max(t.passes, t.fails) >= max(1, b.trials) && t.passes != t.fails: // it is settled; another service level requested it
		case p.feasible:
			t.passes++
		default:
			t.fails++
		}
		at[p.values[0]] = t
	}
	pass, fail, open = math.Inf(-1), math.Inf(1), math.NaN()
	for x, t := range at {
		switch {
		case t.fails > t.passes:
			fail = min(fail, x)
		case t.fails == t.passes && !(x >= open):
			open = x
		}
	}
	for x, t := range at {
		if t.passes > t.fails && x < fail && x > pass {
			pass = x
		}
	}
	return pass, fail, open, at
}

func (b boundary) next(seen []probe) (next []float64, done string) {
	pass, fail, open, at := b.bracket(seen)
	whole := b.dim.Kind == "int"
	round := func(x float64) []float64 {
		if whole {
			x = math.Round(x)
		}
		return []float64{x}
	}
	width := b.precision
	if width == 0 {
		width = 0.05
	}
	switch {
	case len(seen) == 0:
		return round(b.dim.Low), ""
	case !math.IsNaN(open):
		return []float64{open}, ""
	case math.IsInf(pass, -1):
		if fail <= b.dim.Low && at[fail].fails >= b.trials {
			return nil, "infeasible at the lower bound"
		}
		return round(b.dim.Low), ""
	case math.IsInf(fail, 1) && pass >= b.dim.High:
		return nil, "upper bound not reached: the highest value meets all conditions"
	case math.IsInf(fail, 1):
		return round(min(b.dim.High, max(2*pass, pass+map[bool]float64{true: 1}[whole]))), ""
	case whole && fail-pass <= 1, (fail-pass)/fail < width:
		switch {
		case at[pass].passes < b.trials:
			return []float64{pass}, ""
		case at[fail].fails < b.trials:
			return []float64{fail}, ""
		}
		return nil, "converged"
	}
	x := pass + (fail-pass)/2
	if b.smooth {
		x = b.crossing(seen, pass, fail)
	}
	if whole {
		x = min(max(math.Floor(x), pass+1), fail-1)
	}
	return []float64{x}, ""
}

// crossing returns where the margins, made non-increasing, cross 0 on a logarithmic scale, at least a tenth away from both ends.
func (b boundary) crossing(seen []probe, pass, fail float64) float64 {
	type level struct{ x, y, w float64 }
	var levels []level
	sorted := slices.Clone(seen)
	sorting.Stable(sorted, func(a, c probe) int {
		switch {
		case a.values[0] < c.values[0]:
			return -1
		case a.values[0] > c.values[0]:
			return 1
		}
		return 0
	})
	for _, p := range sorted {
		if math.IsNaN(p.margin) {
			continue
		}
		levels = append(levels, level{math.Log(max(p.values[0], 1e-9)), p.margin, 1})
		for n := len(levels); n > 1 && levels[n-2].y < levels[n-1].y; n = len(levels) { // pool adjacent violators
			a, c := levels[n-2], levels[n-1]
			w := a.w + c.w
			levels = append(levels[:n-2], level{(a.x*a.w + c.x*c.w) / w, (a.y*a.w + c.y*c.w) / w, w})
		}
	}
	low, high := math.Log(max(pass, 1e-9)), math.Log(fail)
	x := (low + high) / 2
	for i := 1; i < len(levels); i++ {
		if a, c := levels[i-1], levels[i]; a.y >= 0 && c.y < 0 {
			x = a.x + (c.x-a.x)*a.y/(a.y-c.y)
		}
	}
	tenth := (high - low) / 10
	return math.Exp(min(max(x, low+tenth), high-tenth))
}
