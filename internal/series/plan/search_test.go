package plan

import (
	"math"
	"slices"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
)

// searchOf is a search over one dimension.
func searchOf(planner, kind string, low, high float64) *config.Run {
	r := config.Default()
	seed := config.Seed("42")
	r.RandomSeed = &seed
	r.Sweep = config.DefaultSearch()
	r.Sweep.Planner, r.Sweep.MaxIterations = planner, 30
	r.Sweep.SearchSpace = []config.SearchDimension{{Path: "phases.profiling.concurrency", Low: low, High: high, Kind: kind, Prior: "log-uniform"}}
	r.Sweep.Objectives = []config.Objective{{Metric: "output_token_throughput", Stat: "avg", Direction: "maximize"}}
	return r
}

// explore lets a planner search a function of one value.
func explore(r *config.Run, f func(x float64) probe) (seen []probe, reason string) {
	p := newPlanner(r)
	for len(seen) < r.Sweep.MaxIterations {
		var x []float64
		if x, reason = p.next(seen); reason != "" {
			return seen, reason
		}
		one := f(x[0])
		one.values = x
		seen = append(seen, one)
	}
	return seen, "iterations"
}

// under keeps its condition up to a limit: the margin falls with the value.
func under(limit float64) func(x float64) probe {
	return func(x float64) probe {
		return probe{objective: x, verdict: verdict{feasible: x <= limit, margin: (limit - x) / limit}}
	}
}

// TestBoundary: the answer is the largest value that holds, found in the order of the contract: double, then halve.
func TestBoundary(t *testing.T) {
	for _, planner := range []string{"monotonic_sla", "smooth_isotonic"} {
		for _, limit := range []float64{1, 2, 7, 100, 337, 999} {
			seen, reason := explore(searchOf(planner, "int", 1, 1000), under(limit))
			pass, fail, _, at := boundary{trials: 2}.bracket(seen)
			if reason != "converged" || pass > limit || fail <= limit || (fail-pass)/fail > 0.05 && fail-pass > 1 {
				t.Errorf("%s, limit %v: %v to %v after %d (%s)", planner, limit, pass, fail, len(seen), reason)
			}
			if planner == "monotonic_sla" && (at[pass].passes != 2 || at[fail].fails != 2) {
				t.Errorf("limit %v: both ends were settled by %+v and %+v, want 2", limit, at[pass], at[fail])
			}
		}
	}
	seen, _ := explore(searchOf("monotonic_sla", "int", 1, 1000), under(100))
	for k, want := range []float64{1, 2, 4, 8, 16, 32, 64, 128, 96, 112, 104, 100} {
		if k >= len(seen) || seen[k].values[0] != want {
			t.Fatalf("probe %d of %v, want %v", k, seen, want)
		}
	}
	if _, reason := explore(searchOf("monotonic_sla", "int", 1, 1000), under(0.5)); reason != "infeasible at the lower bound" {
		t.Error(reason)
	}
	if seen, reason := explore(searchOf("monotonic_sla", "int", 1, 64), under(1e9)); reason != "upper bound not reached: the highest value meets all conditions" || seen[len(seen)-1].values[0] != 64 {
		t.Error(reason)
	}
	seen, _ = explore(searchOf("smooth_isotonic", "real", 0.5, 100), under(33.3))
	if pass, _, _, _ := (boundary{}).bracket(seen); pass > 33.3 || pass < 33.3*0.95 || len(seen) > 12 {
		t.Errorf("%v after %d", pass, len(seen))
	}
}

// hill rises to a top at 60 and breaks its condition above 200.
func hill(x float64) probe {
	return probe{objective: 100 - math.Pow(math.Log(x/60), 2)*20, verdict: verdict{feasible: x <= 200, margin: (200 - x) / 200}}
}

// TestBayesian finds the top of a hill within 1 % of its height, keeps to its patience, and never asks for a point twice.
func TestBayesian(t *testing.T) {
	for _, mode := range []string{"penalty", "eic"} {
		r := searchOf("bayesian", "int", 1, 1000)
		r.Sweep.ConstraintMode = mode
		seen, reason := explore(r, hill)
		best := math.Inf(-1)
		for k, p := range seen {
			if p.feasible {
				best = max(best, p.objective)
			}
			if visited(seen[:k], p.values) {
				t.Errorf("%s: %v was tried twice", mode, p.values)
			}
		}
		if best < 99 || len(seen) > 29 {
			t.Errorf("%s: best %v after %d (%s)", mode, best, len(seen), reason)
		}
	}
	r := searchOf("bayesian", "int", 1, 3)
	if seen, reason := explore(r, hill); len(seen) != 3 || reason == "iterations" {
		t.Errorf("%d tries of 3 points: %s", len(seen), reason)
	}
	flat := func(float64) probe { return probe{objective: 5, verdict: verdict{feasible: true, margin: 1}} }
	if seen, reason := explore(searchOf("bayesian", "real", 1, 1000), flat); len(seen) > 11 || reason == "iterations" {
		t.Errorf("a plateau ends after %d: %s", len(seen), reason)
	}
}

// TestTiers: the limits of several service levels are found together, with fewer cells than one search after the other, and each level has its own.
func TestTiers(t *testing.T) {
	limits := []float64{400, 37, 7.5, 0.5}
	r := searchOf("monotonic_sla", "int", 1, 1000)
	r.Sweep.SLATiers = make([]config.SLATier, len(limits))
	seen, reason := explore(r, func(x float64) probe {
		p := probe{objective: x, verdict: verdict{feasible: true, margin: 1}}
		for _, limit := range limits {
			p.tiers = append(p.tiers, verdict{feasible: x <= limit, margin: (limit - x) / limit})
		}
		return p
	})
	if reason != "every tier is settled" {
		t.Fatalf("%s after %d", reason, len(seen))
	}
	apart := 0
	for k, limit := range limits {
		pass, fail, _, _ := boundary{}.bracket(seenBy(seen, k))
		if pass > limit || fail <= limit || limit > 1 && (fail-pass)/fail > 0.05 && fail-pass > 1 {
			t.Errorf("limit %v: %v to %v", limit, pass, fail)
		}
		alone, _ := explore(searchOf("monotonic_sla", "int", 1, 1000), under(limit))
		apart += len(alone)
	}
	if len(seen) >= apart {
		t.Errorf("%d cells, one after the other %d", len(seen), apart)
	}
}

// TestNoEvidence: a cell that the client could not measure is not a failure: the planner asks for it again, and the third time ends the search with the reason.
func TestNoEvidence(t *testing.T) {
	r := searchOf("monotonic_sla", "int", 1, 1000)
	q := &search{invocation: &invocation{run: r}}
	plan := newPlanner(r)
	ask := func(p probe) string {
		x, done := plan.next(q.evidence())
		if done != "" {
			t.Fatal(done)
		}
		p.values = x
		q.probes, q.cells = append(q.probes, p), append(q.cells, config.Cell{Label: itoa(int(x[0]))})
		return q.cells[len(q.cells)-1].Label
	}
	kept, doubt := probe{verdict: verdict{feasible: true, margin: 1}}, probe{verdict: verdict{doubt: "uncertain"}}
	for i, want := range []string{"1", "2", "2", "2", "4", "8", "8", "8", "8", "8", "8"} {
		p := doubt
		if i == 0 || i == 3 || i == 4 {
			p = kept
		}
		if got := ask(p); got != want {
			t.Fatalf("cell %d is %s, not %s", i, got, want)
		}
		if said := q.givenUp(); (said != "") != (i == 10) {
			t.Fatalf("after cell %d: %q", i, said)
		}
	}
	if k := q.best(); q.cells[k].Label != "4" {
		t.Errorf("the best is %s", q.cells[k].Label)
	}
	if said := q.givenUp(); said != "8 was run 6 times without a valid measurement: uncertain" || q.tried() != "11 tried, 8 of them not measured" {
		t.Error(said)
	}
}

// TestClientIsTheLimit: a client that cannot send a load cannot send it the third time either.
func TestClientIsTheLimit(t *testing.T) {
	q := &search{}
	for i, doubt := range []string{"uncertain", "client limited", "uncertain", "client limited", "client limited"} {
		q.probes, q.cells = append(q.probes, probe{values: []float64{8}, verdict: verdict{doubt: doubt}}), append(q.cells, config.Cell{Label: "8"})
		if said := q.givenUp(); (said != "") != (i == 4) {
			t.Errorf("after %d: %q", i+1, said)
		}
	}
}

// TestUnluckyCells: a cell that fails by bad luck, or passes by good, costs cells and not the answer.
func TestUnluckyCells(t *testing.T) {
	for name, odd := range map[string][]float64{"the first": {1}, "early": {4}, "two": {2, 96}, "a failure": {128}, "the answer": {100}, "above it": {104}} {
		lied := map[float64]bool{}
		seen, reason := explore(searchOf("monotonic_sla", "int", 1, 1000), func(x float64) probe {
			p := under(100)(x)
			if slices.Contains(odd, x) && !lied[x] {
				lied[x], p.feasible, p.margin = true, !p.feasible, -p.margin
			}
			return p
		})
		if pass, fail, _, _ := (boundary{trials: 2}).bracket(seen); reason != "converged" || pass > 100 || fail <= 100 || (fail-pass)/fail > 0.05 {
			t.Errorf("%s: %v to %v after %d: %s", name, pass, fail, len(seen), reason)
		}
	}
	seen, reason := explore(searchOf("monotonic_sla", "int", 1, 1000), under(0.5))
	if reason != "infeasible at the lower bound" || len(seen) != 2 {
		t.Errorf("%s after %d", reason, len(seen))
	}
}

// TestBayesianOddOutcomes: whatever comes of cells, a search stays in its space, asks for no point twice, and ends with a reason.
func TestBayesianOddOutcomes(t *testing.T) {
	testhome.Slow(t)
	nothing := probe{objective: math.NaN(), verdict: verdict{margin: math.NaN()}}
	n := 0
	for name, f := range map[string]func(x float64) probe{
		"constant":   func(float64) probe { return probe{objective: 7, verdict: verdict{feasible: true, margin: 1}} },
		"constant 0": func(float64) probe { return probe{verdict: verdict{feasible: true, margin: math.NaN()}} },
		"all fail":   func(float64) probe { return nothing },
		"every other": func(x float64) probe {
			if n++; n%2 == 0 {
				return nothing
			}
			return hill(x)
		},
		"never kept": func(x float64) probe { return probe{objective: x, verdict: verdict{margin: -x}} },
		"kept, unmeasured": func(float64) probe {
			return probe{objective: math.NaN(), verdict: verdict{feasible: true, margin: math.NaN()}}
		},
		"huge": func(x float64) probe {
			return probe{objective: 1e300 * x, verdict: verdict{feasible: true, margin: 1e300}}
		},
		"tiny": func(x float64) probe {
			return probe{objective: 1e-300 * x, verdict: verdict{feasible: x < 50, margin: -1e-300}}
		},
		"step": func(x float64) probe {
			return probe{objective: math.Floor(x / 500), verdict: verdict{feasible: true, margin: 0}}
		},
	} {
		for mode, direction := range map[string]string{"penalty": "maximize", "eic": "minimize"} {
			r := searchOf("bayesian", "real", 0.001, 1000)
			r.Sweep.ConstraintMode, r.Sweep.Objectives[0].Direction = mode, direction
			r.Sweep.SearchSpace = append(r.Sweep.SearchSpace, config.SearchDimension{Path: "datasets.main.prompts.isl.mean", Low: 10, High: 11, Kind: "int"})
			r.Sweep.MaxIterations = 14
			seen, reason := explore(r, f)
			for k, p := range seen {
				if x, y := p.values[0], p.values[1]; !(x >= 0.001 && x <= 1000) || y != 10 && y != 11 || visited(seen[:k], p.values) {
					t.Errorf("%s, %s, %s: %v", name, mode, direction, p.values)
				}
			}
			if len(seen) == 0 || reason == "" {
				t.Errorf("%s, %s, %s: %d probes, %q", name, mode, direction, len(seen), reason)
			}
		}
	}
}
