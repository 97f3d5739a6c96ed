package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/config"
)

// plannerCategory is the category of plug-ins that choose the cells of a search.
const plannerCategory = "search_planner"

// openPlanner returns the planner of a search. stop ends the program of one that is a plug-in. It runs during the whole search, so that it may remember
// what it computed; what it needs comes with every call, so that a search can be resumed.
func openPlanner(ctx context.Context, r *config.Run, log func(line string)) (p planner, stop func(), err error) {
	e, ok, err := plugin.Installed().Choose(plannerCategory, r.Sweep.Planner, slices.Contains(config.Planners, r.Sweep.Planner))
	if err != nil || !ok {
		return newPlanner(r), func() {}, err
	}
	running, err := program.Under(ctx, log)(&e, "next")
	if err != nil {
		return nil, nil, err
	}
	stop = func() { _ = running.Close() } // a fault has failed its call, which was reported
	return &externalPlanner{program: running, plugin: e.ID(), run: r}, stop, nil
}

// externalPlanner is a plug-in that chooses the next cell.
type externalPlanner struct {
	program *program.Bound
	plugin  string
	run     *config.Run
	err     error // why the search cannot continue
}

// next implements planner. After a failure the search ends with what it has found.
func (p *externalPlanner) next(seen []probe) (next []float64, done string) {
	var answer struct {
		Values map[string]float64 `json:"values"`
		Done   bool               `json:"done"`
		Reason string             `json:"reason"`
	}
	err := p.program.Call("next", p.params(seen), &answer)
	if err == nil && answer.Done {
		if answer.Reason == "" {
			answer.Reason = "the planner " + p.run.Sweep.Planner + " has finished"
		}
		return nil, answer.Reason
	}
	if err == nil {
		if next, err = p.point(answer.Values); err != nil {
			err = &program.Error{Plugin: p.plugin, Method: "next", Err: err}
		}
	}
	if err != nil {
		p.err = err
		return nil, "the planner failed"
	}
	return next, ""
}

// point checks the values of the next cell.
func (p *externalPlanner) point(values map[string]float64) ([]float64, error) {
	if len(values) == 0 {
		return nil, errors.New(`the result has neither "values" nor "done": true`)
	}
	point := make([]float64, 0, len(values))
	for _, d := range p.run.Sweep.SearchSpace {
		v, ok := values[d.Path]
		switch {
		case !ok:
			return nil, fmt.Errorf("the values lack %q", d.Path)
		case !(v >= d.Low && v <= d.High):
			return nil, fmt.Errorf("the value of %s is %v, but must be between %v and %v", d.Path, v, d.Low, d.High)
		case d.Kind == "int" && v != math.Trunc(v):
			return nil, fmt.Errorf("the value of %s is %v, but must be an integer", d.Path, v)
		}
		point = append(point, v)
	}
	if len(values) > len(point) {
		return nil, fmt.Errorf("there are %d values for the %d parameters of the search", len(values), len(point))
	}
	return point, nil
}

// params are the search and its history. A metric that was not measured is null.
func (p *externalPlanner) params(seen []probe) map[string]any {
	s := p.run.Sweep
	o := s.Objectives[0]
	parameters, history := []any{}, []any{}
	for _, d := range s.SearchSpace {
		kind, prior := "real", "uniform"
		if d.Kind != "" {
			kind = d.Kind
		}
		if d.Prior != "" {
			prior = d.Prior
		}
		parameters = append(parameters, map[string]any{"name": d.Path, "kind": kind, "min": d.Low, "max": d.High, "prior": prior})
	}
	for _, one := range seen {
		values := map[string]float64{}
		for i, v := range one.values {
			values[s.SearchSpace[i].Path] = v
		}
		history = append(history, map[string]any{"values": values, "metrics": map[string]any{o.Metric: finite(one.objective)}, "feasible": one.feasible, "margin": finite(one.margin)})
	}
	return map[string]any{
		"parameters": parameters, "objective": map[string]any{"metric": o.Metric, "stat": o.Stat, "direction": o.Direction}, "history": history,
		"seed": p.run.DesignSeed(s.SearchSeed),
	}
}

// finite returns a number for JSON; null if it is unknown.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}
