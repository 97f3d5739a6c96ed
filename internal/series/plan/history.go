package plan

import (
	"encoding/json"
	"math"
	"path/filepath"

	"aiperf/internal/config"
	"aiperf/internal/report/artifact"
)

// historyFile is the file of a search: its configuration, cells in their order, and the result (AIPerf 0.13, exporters/search_history.py). The reasons
// and first breaches of iterations are our additions.
const historyFile = "search_history.json"

// iteration is a cell of a search in the history.
type iteration struct {
	Index        int            `json:"iteration_idx"`
	Values       map[string]any `json:"variation_values"`
	Objectives   []float64      `json:"objective_values"` // null: not measured
	Feasible     bool           `json:"feasible"`
	NotMonotonic bool           `json:"non_monotonic_warning"` // a cell with a lower value missed the conditions and this one met them, or the reverse
	Breach       *breach        `json:"first_breach,omitempty"`
	Reason       string         `json:"reason,omitempty"`
}

// bestTrial is the best cell. A search here has one objective, so there is one best cell, and its rank is 0.
type bestTrial struct {
	Index         int            `json:"iteration_idx"`
	Objectives    []float64      `json:"objective_values"`
	Values        map[string]any `json:"variation_values"`
	Feasible      bool           `json:"feasible"`
	FeasibleCount int            `json:"feasible_count"`
	ParetoRank    int            `json:"pareto_rank"`
}

// boundarySummary is the boundary of the values that meet the conditions, in a search over one setting.
type boundarySummary struct {
	Path          string        `json:"swept_dim_path"`
	FeasibleMax   *boundaryEdge `json:"feasible_max"`
	InfeasibleMin *boundaryEdge `json:"infeasible_min"`
}

// boundaryEdge is one side of the boundary.
type boundaryEdge struct {
	Value     float64  `json:"value"`
	Index     int      `json:"iteration_idx"`
	Objective *float64 `json:"objective_value,omitempty"`
	Breach    *breach  `json:"first_breach,omitempty"`
}

// notMonotonic reports whether a cell of a search over one setting contradicts an earlier one.
func (q *search) notMonotonic(p *probe) bool {
	if len(p.values) != 1 || p.doubt != "" || len(q.conditions) == 0 {
		return false
	}
	for _, o := range q.evidence() {
		if p.feasible != o.feasible && (p.feasible == (p.values[0] >= o.values[0])) {
			return true
		}
	}
	return false
}

// bestTrials returns the best cell. If none meets all conditions, it returns that with the best objective; nil: nothing was measured.
func (q *search) bestTrials() []bestTrial {
	kept := 0
	for _, p := range q.probes {
		if p.feasible {
			kept++
		}
	}
	k := q.best()
	for i, p := range q.probes {
		if kept > 0 || math.IsNaN(p.objective) || p.doubt != "" {
			continue
		}
		if k < 0 || (p.objective > q.probes[k].objective) == (q.run.Sweep.Objectives[0].Direction != "minimize") {
			k = i
		}
	}
	if k < 0 {
		return nil
	}
	h := &q.history[k]
	return []bestTrial{{Index: h.Index, Objectives: h.Objectives, Values: h.Values, Feasible: h.Feasible, FeasibleCount: kept}}
}

// boundary returns the boundary found so far; nil: the search has no cell yet, or several settings. Without conditions every cell meets them.
func (q *search) boundary() *boundarySummary {
	s := q.run.Sweep
	if len(s.SearchSpace) != 1 || len(q.probes) == 0 {
		return nil
	}
	b := &boundarySummary{Path: s.SearchSpace[0].Path}
	pass, fail := q.highest(), math.NaN()
	if len(q.conditions) > 0 {
		pass, fail, _, _ = boundaryOf(s).bracket(q.evidence())
	}
	for k := range q.probes {
		p := &q.probes[k]
		switch {
		case p.doubt != "":
		case p.feasible && p.values[0] == pass && b.FeasibleMax == nil:
			b.FeasibleMax = &boundaryEdge{Value: pass, Index: k}
			if !math.IsNaN(p.objective) {
				b.FeasibleMax.Objective = &p.objective
			}
		case !p.feasible && p.values[0] == fail && b.InfeasibleMin == nil:
			b.InfeasibleMin = &boundaryEdge{Value: fail, Index: k, Breach: q.history[k].Breach}
		}
	}
	return b
}

// highest returns the highest value of a cell that counts; NaN if there is none.
func (q *search) highest() float64 {
	v := math.NaN()
	for k := range q.probes {
		if p := &q.probes[k]; p.doubt == "" && !(p.values[0] <= v) {
			v = p.values[0]
		}
	}
	return v
}

// configuration returns the settings of the search, with the keys of a file.
func (q *search) configuration() map[string]any {
	s := q.run.Sweep
	objectives, constraints, space := []any{}, []any{}, []any{}
	for _, o := range s.Objectives {
		objectives = append(objectives, map[string]any{"metric": o.Metric, "stat": o.Stat, "direction": o.Direction, "threshold": o.Threshold})
	}
	for _, c := range s.OutcomeConstraints {
		constraints = append(constraints, map[string]any{"metric": c.Metric, "op": c.Op, "bound": c.Bound})
	}
	for _, d := range s.SearchSpace {
		space = append(space, map[string]any{"path": d.Path, "lo": d.Low, "hi": d.High, "kind": d.Kind})
	}
	out := map[string]any{
		"planner": s.Planner, "objectives": objectives, "outcome_constraints": constraints, "search_space": space, "sla_filters": append([]config.SLAFilter{}, s.SLAFilters...),
		"max_iterations": s.MaxIterations, "n_initial_points": s.InitialPoints, "random_seed": s.SearchSeed, "improvement_patience": s.ImprovementPatience,
		"plateau_window": s.PlateauWindow, "plateau_threshold": s.PlateauThreshold,
	}
	if len(q.tiers) > 0 {
		tiers := []any{}
		for _, t := range s.SLATiers {
			tiers = append(tiers, map[string]any{"label": t.Label, "filters": t.Filters})
		}
		out["tiers"] = tiers
	}
	return out
}

// write writes the history. reason says why the search ended; empty = it continues.
func (q *search) write(reason string) error {
	orNull := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	out := map[string]any{
		"config": q.configuration(), "iterations": q.history, "best_trials": q.bestTrials(), "boundary_summary": q.boundary(),
		"recipe": orNull(q.run.Sweep.RecipeName), "convergence_reason": orNull(reason),
	}
	if len(q.tiers) > 0 {
		out["tier_results"] = q.tierResults()
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return artifact.WriteFile(filepath.Join(q.run.Artifacts.Dir, historyFile), append(data, '\n'))
}
