package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/artifact"
)

// postProcess computes and writes the results that a sweep asks for.
func (i *invocation) postProcess(dir string, p *config.PostProcess, s *metric.SweepSummary) error {
	var params processing
	if !p.Params.IsZero() {
		if err := p.Params.Decode(&params); err != nil {
			return fmt.Errorf("sweep.post_process.params: %w", err)
		}
	}
	out, err := handlers[p.Handler].compute(s, &params)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Handler, err)
	}
	data, ready := out.([]byte) // otherwise it is written as JSON
	if !ready {
		if data, err = json.MarshalIndent(out, "", "  "); err != nil {
			return err
		}
		data = append(data, '\n')
	}
	return artifact.WriteFile(filepath.Join(dir, p.Filename), data)
}

// sweepSpot is a cell at its swept value; y is NaN if the cell does not have the metric.
type sweepSpot struct {
	x, y float64
	cell *metric.SweepCell
}

// at returns the value of a cell at a path, or at its last part.
func at(c *metric.SweepCell, path string) (float64, bool) {
	for _, v := range c.Values {
		if v.Name == path || v.Name == path[strings.LastIndexByte(path, '.')+1:] {
			switch n := v.Value.(type) {
			case int:
				return float64(n), true
			case float64:
				return n, true
			}
		}
	}
	return 0, false
}

// spots returns the cells with results, sorted by value.
func spots(s *metric.SweepSummary, path, tag, statName string) ([]sweepSpot, error) {
	stat, ok := metric.StatByName(statName)
	if !ok {
		return nil, fmt.Errorf("there is no statistic %q", statName)
	}
	var list []sweepSpot
	for i := range s.Cells {
		c := &s.Cells[i]
		if x, ok := at(c, path); ok && len(c.Runs) > 0 {
			list = append(list, sweepSpot{x, c.Mean(tag, stat), c})
		}
	}
	sorting.Stable(list, func(a, b sweepSpot) int { return cmp.Compare(a.x, b.x) })
	return list, nil
}

// withValue returns the cells that have the metric.
func withValue(list []sweepSpot) []sweepSpot {
	return slices.DeleteFunc(slices.Clone(list), func(p sweepSpot) bool { return math.IsNaN(p.y) })
}

func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// degradationKnee finds the first value at which a metric is worse than at the lowest value by more than a share.
func degradationKnee(s *metric.SweepSummary, p *processing) (any, error) {
	list, err := spots(s, p.Swept, p.Metric, p.Stat)
	if err != nil {
		return nil, err
	}
	if list = withValue(list); len(list) == 0 || !(list[0].y > 0) {
		return nil, fmt.Errorf("no cell has a %s of %s above 0", p.Stat, p.Metric)
	}
	base, name := list[0], leaf(p.Swept)
	var kneeX, kneeY any
	points := []map[string]float64{}
	for _, one := range list {
		points = append(points, map[string]float64{name: one.x, p.Stat: one.y})
		if kneeX == nil && one.y > base.y*(1+p.Threshold) {
			kneeX, kneeY = one.x, one.y
		}
	}
	return map[string]any{
		"baseline_" + name: base.x, "baseline_" + p.Stat: base.y, "knee_" + name: kneeX, "knee_" + p.Stat: kneeY,
		"threshold_pct": p.Threshold, "swept_metric": p.Metric, "stat": p.Stat, "swept_param": p.Swept, "all_points": points,
	}, nil
}

// breach is a condition that a cell violates.
type breach struct {
	Metric    string   `json:"metric_tag"`
	Stat      string   `json:"stat"`
	Op        string   `json:"op"`
	Threshold float64  `json:"threshold"`
	Observed  *float64 `json:"observed"` // nil: not measured
}

func breachesOf(c *metric.SweepCell, conditions []metric.Condition) []breach {
	list := []breach{}
	for i := range conditions {
		if one := &conditions[i]; !one.Holds(c.Mean(one.Tag, one.Stat)) {
			list = append(list, breachOf(c, one))
		}
	}
	return list
}

// breachOf describes a condition that a cell violates.
func breachOf(c *metric.SweepCell, one *metric.Condition) breach {
	b := breach{one.Tag, one.Stat.String(), one.Op, one.Limit, nil}
	if v := c.Mean(one.Tag, one.Stat); !math.IsNaN(v) {
		b.Observed = &v
	}
	return b
}

// slaBreach finds the largest value that meets all conditions and the smallest that does not.
func slaBreach(s *metric.SweepSummary, p *processing) (any, error) {
	list, err := spots(s, p.Swept, "request_count", "avg")
	if err != nil {
		return nil, err
	}
	judged := s.Conditions
	if p.Filters != nil {
		if judged, err = conditions(p.Filters); err != nil {
			return nil, err
		}
	}
	name := leaf(p.Swept)
	var passing, failing, first any
	monotone, failed := true, false
	points := []map[string]any{}
	for _, one := range list {
		broken := breachesOf(one.cell, judged)
		points = append(points, map[string]any{name: one.x, "feasible": len(broken) == 0, "breaches": broken})
		switch {
		case len(broken) == 0:
			passing = one.x
			monotone = monotone && !failed
		case !failed:
			failing, first, failed = one.x, broken[0], true
		}
	}
	filters := []map[string]any{}
	for _, c := range judged {
		filters = append(filters, map[string]any{"metric_tag": c.Tag, "stat": c.Stat.String(), "op": c.Op, "threshold": c.Limit})
	}
	return map[string]any{
		"swept_param": p.Swept, "max_passing_" + name: passing, "first_failing_" + name: failing, "first_failing_breach": first,
		"all_points": points, "monotonicity_check": monotone, "filters": filters,
	}, nil
}

// ttftCurve fits a line, or a parabola if the line explains less than the floor and the parabola explains more.
func ttftCurve(s *metric.SweepSummary, p *processing) (any, error) {
	list, err := spots(s, p.Swept, p.Metric, p.Stat)
	if err != nil {
		return nil, err
	}
	floor := p.Floor
	if floor == 0 {
		floor = 0.85
	}
	raw := []map[string]float64{}
	list = withValue(list)
	for _, one := range list {
		raw = append(raw, map[string]float64{"isl": one.x, "ttft_ms": one.y})
	}
	out := map[string]any{
		"r_squared_floor": floor, "raw_points": raw, "swept_metric": p.Metric, "stat": p.Stat, "swept_param": p.Swept, "below_floor": true,
	}
	if len(list) < 2 {
		out["error_reason"] = fmt.Sprintf("%d cells have the metric; a curve needs 2", len(list))
		return out, nil
	}
	form, c := "linear", polynomial(list, 1)
	r2 := explained(list, c)
	if r2 < floor && len(list) >= 3 {
		if q := polynomial(list, 2); explained(list, q) > r2 {
			form, c, r2 = "quadratic", q, explained(list, q)
		}
	}
	out["fit_form"], out["coefficients"], out["r_squared"], out["below_floor"] = form, c, r2, !(r2 >= floor)
	return out, nil
}

// polynomial returns the coefficients of the least-squares fit, highest power first.
func polynomial(list []sweepSpot, degree int) []float64 {
	scale := list[len(list)-1].x // scales the powers to one magnitude
	a, y := make([][]float64, len(list)), make([]float64, len(list))
	for i, one := range list {
		y[i] = one.y
		for k := range degree + 1 {
			a[i] = append(a[i], math.Pow(one.x/scale, float64(degree-k)))
		}
	}
	c, independent := stats.LeastSquares(a, y)
	out := make([]float64, degree+1)
	if !independent { // all points have the same x: fit a constant
		for _, one := range list {
			out[degree] += one.y / float64(len(list))
		}
		return out
	}
	for k := range out {
		out[k] = c[k] / math.Pow(scale, float64(degree-k))
	}
	return out
}

// explained returns the share of the variance that a polynomial explains, r squared.
func explained(list []sweepSpot, c []float64) float64 {
	mean := 0.0
	for _, one := range list {
		mean += one.y / float64(len(list))
	}
	rest, all := 0.0, 0.0
	for _, one := range list {
		fit := 0.0
		for _, k := range c {
			fit = fit*one.x + k
		}
		rest += (one.y - fit) * (one.y - fit)
		all += (one.y - mean) * (one.y - mean)
	}
	if all == 0 {
		return 1
	}
	return 1 - rest/all
}

// itlSurface lists a metric over concurrency and output length, and the grid for bilinear interpolation.
func itlSurface(s *metric.SweepSummary, p *processing) (any, error) {
	stat, ok := metric.StatByName(p.Stat)
	if !ok {
		return nil, fmt.Errorf("there is no statistic %q", p.Stat)
	}
	raw := []map[string]float64{}
	var cs, os []float64
	value := map[[2]float64]float64{}
	for i := range s.Cells {
		c := &s.Cells[i]
		x, okX := at(c, p.Concurrency)
		o, okO := at(c, p.OSL)
		y := c.Mean(p.Metric, stat)
		if !okX || !okO || math.IsNaN(y) {
			continue
		}
		raw = append(raw, map[string]float64{"concurrency": x, "osl": o, "itl_ms": y})
		cs, os, value[[2]float64{x, o}] = append(cs, x), append(os, o), y
	}
	slices.Sort(cs)
	slices.Sort(os)
	cs, os = slices.Compact(cs), slices.Compact(os)
	grid := [][]*float64{}
	for _, x := range cs {
		row := make([]*float64, len(os))
		for k, o := range os {
			if y, ok := value[[2]float64{x, o}]; ok {
				row[k] = &y
			}
		}
		grid = append(grid, row)
	}
	return map[string]any{
		"fit_form": "bilinear_grid", "raw_points": raw, "surface": map[string]any{"concurrency": cs, "osl": os, "itl_ms": grid},
		"swept_metric": p.Metric, "stat": p.Stat,
	}, nil
}

// paretoExport lists every cell with two metrics, and marks those that no other cell dominates: less of the first, more of the second.
func paretoExport(s *metric.SweepSummary, p *processing) (any, error) {
	xs, ok1 := metric.StatByName(p.XStat)
	ys, ok2 := metric.StatByName(p.YStat)
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("there is no statistic %q or %q", p.XStat, p.YStat)
	}
	keys := [3]string{cmp.Or(p.ISLKey, "isl"), cmp.Or(p.OSLKey, "osl"), cmp.Or(p.LoadKey, "concurrency")}
	type point struct {
		ISL         *float64       `json:"isl,omitempty"`
		OSL         *float64       `json:"osl,omitempty"`
		Concurrency *float64       `json:"concurrency,omitempty"`
		Parameters  map[string]any `json:"parameters"`
		X           float64        `json:"x"`
		Y           float64        `json:"y"`
		Pareto      bool           `json:"pareto_optimal"`
	}
	points := []point{}
	for i := range s.Cells {
		c := &s.Cells[i]
		one := point{Parameters: map[string]any{}, X: c.Mean(p.XMetric, xs), Y: c.Mean(p.YMetric, ys), Pareto: true}
		for _, v := range c.Short {
			one.Parameters[v.Name] = v.Value
		}
		for k, to := range []**float64{&one.ISL, &one.OSL, &one.Concurrency} {
			if v, ok := at(c, keys[k]); ok {
				*to = &v
			}
		}
		if !math.IsNaN(one.X) && !math.IsNaN(one.Y) {
			points = append(points, one)
		}
	}
	for i := range points {
		a := &points[i]
		a.Pareto = !slices.ContainsFunc(points, func(b point) bool { return b.X <= a.X && b.Y >= a.Y && (b.X < a.X || b.Y > a.Y) })
	}
	return map[string]any{"x_metric": p.XMetric, "x_stat": p.XStat, "y_metric": p.YMetric, "y_stat": p.YStat, "cells": points}, nil
}
