package plan

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/preflight"
	"aiperf/internal/series/gate"
)

func itoa(n int) string { return strconv.Itoa(n) }

// search is the state of a search.
type search struct {
	*invocation
	conditions []metric.Condition
	tiers      []tier
	objective  metric.Stat
	probes     []probe
	history    []iteration
	cells      []config.Cell
	trials     []trial
}

// newSearch returns an error for a search that is impossible.
func (i *invocation) newSearch() (*search, error) {
	s := i.run.Sweep
	q := &search{invocation: i}
	var err error
	if q.conditions, err = conditions(s.SLAFilters); err != nil {
		return nil, err
	}
	for _, c := range s.OutcomeConstraints {
		op := map[string]string{"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}[c.Op]
		if op == "" {
			op = c.Op
		}
		stat := c.Stat
		if stat == "" {
			stat = "avg"
		}
		more, err := conditions([]config.SLAFilter{{MetricTag: c.Metric, Stat: stat, Op: op, Threshold: c.Bound}})
		if err != nil {
			return nil, err
		}
		q.conditions = append(q.conditions, more...)
	}
	if q.tiers, err = tiersOf(s, q.conditions); err != nil {
		return nil, err
	}
	o := s.Objectives[0]
	if o.Stat == "" {
		o.Stat = "avg"
	}
	var ok bool
	if q.objective, ok = metric.StatByName(o.Stat); !ok {
		return nil, fmt.Errorf("sweep.objectives[0].stat %q is not known", o.Stat)
	}
	if _, ok := metric.Lookup(o.Metric); !ok {
		return nil, fmt.Errorf("sweep.objectives[0].metric: there is no metric %s", o.Metric)
	}
	if s.Planner == "optuna" {
		fmt.Fprintln(i.Err, "note: planner optuna is this program's own Bayesian search")
	}
	return q, nil
}

// searching executes a search.
func (i *invocation) searching() (int, error) {
	q, err := i.newSearch()
	if err != nil {
		return 1, err
	}
	release, err := i.claim()
	if err != nil {
		return 1, fmt.Errorf("%s: %w", i.run.As("artifacts.dir"), err)
	}
	defer release()
	plan, stop, err := openPlanner(i.ctx, i.run, func(line string) { fmt.Fprintln(i.Err, terminal.Line(line)) })
	if err != nil {
		return 1, fmt.Errorf("%s: %w", i.run.As("sweep.planner"), err)
	}
	defer stop()
	i.showSeries(q.runs()*i.run.Sweep.MaxIterations, true, nil)
	sweepID, reason := rng.UUID(), ""
	for n := 0; n < i.run.Sweep.MaxIterations && reason == "" && i.ctx.Err() == nil; n++ {
		var x []float64
		if x, reason = plan.next(q.evidence()); reason != "" {
			break
		}
		if err := q.try(n, x, sweepID); err != nil {
			return 1, err
		}
		if err := q.write(""); err != nil {
			return 1, err
		}
		if reason = q.givenUp(); reason != "" {
			return q.end(reason)
		}
	}
	external, _ := plan.(*externalPlanner)
	switch {
	case i.ctx.Err() != nil:
		reason = interrupted
	case external != nil && external.err != nil:
		_, err := q.end(reason)
		return 1, errors.Join(external.err, err)
	case reason == "" && external == nil:
		_, reason = plan.next(q.evidence())
	}
	if reason == "" {
		reason = "the iterations are used up"
	}
	return q.end(reason)
}

// runs returns the number of runs of an iteration.
func (q *search) runs() int { return max(q.run.MultiRun.NumRuns, 1+q.run.Sweep.SLAReplicates, 1) }

// axes returns the values of a cell, one for each dimension of the search.
func (q *search) axes(x []float64) (list []config.Axis) {
	for d, v := range x {
		one := config.Axis{Path: q.run.Sweep.SearchSpace[d].Path, Values: []any{v}}
		if q.run.Sweep.SearchSpace[d].Kind == "int" {
			one.Values[0] = int(v)
		}
		list = append(list, one)
	}
	return list
}

// try executes one cell.
func (q *search) try(n int, x []float64, sweepID string) error {
	cell, err := q.run.CellAt(n, q.axes(x))
	if err != nil {
		return err
	}
	if q.run.RandomSeed != nil && q.run.Sweep.SameSeed {
		cell.Run.RandomSeed = q.run.RandomSeed
	}
	name := fmt.Sprintf("search_iter_%04d", n)
	if n > 0 && q.run.RandomSeed != nil && !q.run.Sweep.SameSeed {
		seed := config.Seed(rng.NewDecimal(string(*q.run.RandomSeed)).Variation(name).Seed())
		cell.Run.RandomSeed = &seed
		if d := cell.Run.Dataset(); d.RandomSeed != nil {
			d.RandomSeed = &seed
		}
	}
	cell.Variation = name
	q.cells = append(q.cells, cell)
	base, until := filepath.Join(q.run.Artifacts.Dir, name), newConvergence(q.run)
	for k := range q.runs() {
		t := trial{cell: n, n: k, label: cell.Label, dir: filepath.Join(base, "profile_runs", runLabel(k))}
		if k > 0 {
			t.label += " " + runLabel(k)
			t.pause = q.run.MultiRun.Cooldown.Duration()
		} else if n > 0 {
			t.pause = q.run.Sweep.Cooldown.Duration()
		}
		if !q.pause(t.pause) {
			break
		}
		fmt.Fprintf(q.Err, "aiperf: iteration %d of at most %d: %s\n", n+1, q.run.Sweep.MaxIterations, terminal.Line(t.label))
		if err := q.reuse(&t, &cell); err != nil {
			return err
		}
		if !t.reused {
			t.run, t.err = q.trial(&t, &cell, sweepID)
			if t.run != nil {
				t.err = errors.Join(t.err, q.showOne(&t))
			}
		}
		if errors.As(t.err, new(preflight.HopelessError)) {
			return t.err
		}
		if t.err != nil {
			fmt.Fprintf(q.Err, "error: %s: %s\n", terminal.Text(t.label), terminal.Text(q.Secrets.Text(t.err.Error())))
		}
		q.trials = append(q.trials, t)
		if k >= q.run.Sweep.SLAReplicates && until.converged(ofCell(q.trials, n)) {
			break
		}
	}
	q.judgeCell(n, x, &cell)
	return nil
}

// judgeCell adds the result of a cell to the history.
func (q *search) judgeCell(n int, x []float64, cell *config.Cell) {
	swept := sweptCell(cell, nil, ofCell(q.trials, n))
	p := probe{values: x, objective: q.value(&swept, ofCell(q.trials, n))}
	it := iteration{Index: n, Values: map[string]any{}}
	for _, a := range cell.Values {
		it.Values[a.Path] = a.Values[0]
	}
	p.verdict = judgeConditions(&swept, q.conditions)
	for _, t := range q.tiers {
		p.tiers = append(p.tiers, judgeConditions(&swept, t.conditions))
	}
	if slices.ContainsFunc(p.tiers, func(v verdict) bool { return v.doubt == "" }) { // it is evidence for that level
		p.doubt = ""
	}
	if p.doubt == "" {
		p.doubt = q.objectiveDoubt(&swept, p.feasible)
	}
	if p.doubt != "" {
		p.feasible, it.Reason = false, p.doubt
	}
	if !math.IsNaN(p.objective) {
		it.Objectives = []float64{p.objective}
	}
	if p.breach != nil {
		violated := breachOf(&swept, p.breach)
		it.Breach = &violated
	}
	if len(swept.Runs) == 0 {
		it.Reason = "no run succeeded"
	}
	it.Feasible, it.NotMonotonic = p.feasible, q.notMonotonic(&p)
	q.probes, q.history = append(q.probes, p), append(q.history, it)
}

// best returns the index of the best cell: the highest value that meets all conditions, or the best objective among the cells that do; -1: none does.
func (q *search) best() int {
	best := -1
	s := q.run.Sweep
	edge := seeksBoundary(s)
	pass, _, _, _ := boundaryOf(s).bracket(q.evidence())
	for k, p := range q.probes {
		if !p.feasible || !edge && math.IsNaN(p.objective) || edge && p.values[0] > pass {
			continue
		}
		better := best < 0
		switch {
		case better:
		case edge:
			better = p.values[0] > q.probes[best].values[0]
		case s.Objectives[0].Direction == "minimize":
			better = p.objective < q.probes[best].objective
		default:
			better = p.objective > q.probes[best].objective
		}
		if better {
			best = k
		}
	}
	return best
}

// tried says how many cells were tried, and how many of them are not counted.
func (q *search) tried() string {
	text := fmt.Sprintf("%d tried", len(q.probes))
	if lost := len(q.probes) - len(q.evidence()); lost > 0 {
		text += fmt.Sprintf(", %d of them not measured", lost)
	}
	return text
}

// end reports the result of the search.
func (q *search) end(reason string) (int, error) {
	if err := q.write(reason); err != nil {
		return 1, err
	}
	byCell := make([][]*trial, len(q.cells))
	for k := range q.cells {
		byCell[k] = ofCell(q.trials, k)
	}
	if len(q.cells) > 0 {
		if err := q.sweep(q.cells, byCell); err != nil {
			return 1, err
		}
	}
	if reason == interrupted {
		fmt.Fprintf(q.Out, "\nInterrupted after %s. %s\n", terminal.Plural(len(q.cells), "cell"), q.resumeHint())
	}
	if len(q.tiers) > 0 {
		fmt.Fprintf(q.Out, "\nSearch for %s: %s, %s\n", terminal.Plural(len(q.tiers), "tier"), q.tried(), reason)
		if q.sayTiers(q.Out) == 0 {
			return 1, nil
		}
		return q.judge(q.subjects(q.cells, byCell), 0)
	}
	k := q.best()
	if k < 0 {
		fmt.Fprintf(q.Out, "\nSearch: no cell meets all conditions (%s; %s)\n", q.tried(), reason)
		return 1, nil
	}
	fmt.Fprintf(q.Out, "\nSearch: best is %s", terminal.Line(q.cells[k].Label))
	if v := q.probes[k].objective; !math.IsNaN(v) {
		fmt.Fprintf(q.Out, ", %s %s", q.run.Sweep.Objectives[0].Metric, terminal.Figure(v))
	}
	fmt.Fprintf(q.Out, " (%s; %s)\n", q.tried(), reason)
	return q.judge([]gate.Subject{q.subjects(q.cells[k:k+1], byCell[k:k+1])[0]}, 0)
}
