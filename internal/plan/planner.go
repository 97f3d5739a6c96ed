package plan

import (
	"math"
	"slices"

	"aiperf/internal/config"
	"aiperf/internal/metric"
)

// probe is one cell of a search and what came of it.
type probe struct {
	values    []float64 // one a dimension
	objective float64   // NaN: not measured
	feasible  bool      // all conditions held
	margin    float64   // the smallest relative distance to a condition's limit, below 0 where it is broken; NaN: not measured
	breach    *metric.Condition
	doubt     string    // why the cell is no evidence; empty: it is
	tiers     []verdict // of the service levels of a search for several
}

// planner chooses the cell after those that were seen, the same for the same history. done says why there is none, and next is nil then.
type planner interface {
	next(seen []probe) (next []float64, done string)
}

// newPlanner is the planner of a search.
func newPlanner(r *config.Run) planner {
	s := r.Sweep
	switch {
	case len(s.SLATiers) > 0:
		return tiered{each: boundaryOf(s), n: len(s.SLATiers)}
	case seeksBoundary(s):
		return boundaryOf(s)
	}
	return newBayesian(r)
}

// seeksBoundary reports whether a search looks for the highest value of one setting that keeps its conditions.
func seeksBoundary(s *config.Sweep) bool {
	return s.Planner == "monotonic_sla" || s.Planner == "smooth_isotonic"
}

// boundaryOf is the planner of such a search.
func boundaryOf(s *config.Sweep) boundary {
	if s.Planner == "monotonic_sla" {
		return boundary{dim: s.SearchSpace[0], trials: max(1, s.MonotonicStabilityTrials), precision: 0.05}
	}
	return boundary{dim: s.SearchSpace[0], trials: 1, smooth: true, precision: map[string]float64{"tight": 0.02, "coarse": 0.10}[s.SLAPrecision]}
}

// boundary looks for the highest value of one dimension that keeps all conditions (spec: timing, section 14.1): doubled from the lowest until one
// fails, then halved between the last that passed and the first that failed. smooth halves where the margins, made monotone, cross 0. Both ends of the
// answer are evaluated trials times in all: one unlucky run must not end the search far below the limit.
type boundary struct {
	dim       config.SearchDimension
	trials    int // evaluations that agree at both ends of the answer; 0 = 1
	smooth    bool
	precision float64 // relative width at which it ends; 0 = 5 %
}

// outcomes is how often a value passed and failed. What happened more often counts.
type outcomes struct{ passes, fails int }

// bracket is the largest value that passed and the smallest that failed, with how often they did so; open is the smallest value that did both equally
// often, NaN: none.
func (b boundary) bracket(seen []probe) (pass, fail, open float64, at map[float64]outcomes) {
	at = map[float64]outcomes{}
	for _, p := range seen {
		t := at[p.values[0]]
		switch {
		case max(t.passes, t.fails) >= max(1, b.trials) && t.passes != t.fails: // it is settled; another level of service asked for it
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
		return nil, "upper bound not reached: the highest value keeps all conditions"
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

// crossing is where margins that never rise with the value cross 0, on a logarithmic scale and at least a tenth away from both ends.
func (b boundary) crossing(seen []probe, pass, fail float64) float64 {
	type level struct{ x, y, w float64 }
	var levels []level
	sorted := slices.Clone(seen)
	slices.SortStableFunc(sorted, func(a, c probe) int {
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
