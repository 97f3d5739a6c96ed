package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"aiperf/internal/artifact"
	"aiperf/internal/capacity"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/stats"
	"aiperf/internal/terminal"
)

// CapacityOptions are the flags of a search for capacity.
type CapacityOptions struct {
	Objectives  []string
	Concurrency bool
	Start       float64
	Precision   float64
	Seconds     float64
	Cells       int
	Size        float64
	JSON        string // one more place for the result
}

// The exit statuses of a search for capacity beside 0 and 1.
const (
	notMet = 3 // not even by one user
	bound  = 4 // there is only a bound
)

// Capacity finds the highest load at which a server keeps objectives (comparison, section 3) and returns the exit status.
func Capacity(ctx context.Context, run *config.Run, o CapacityOptions, s Streams) int {
	status, err := findCapacity(ctx, run, o, s)
	if err != nil {
		fmt.Fprintf(s.Err, "error: %s\n", terminal.Text(s.Secrets.Text(err.Error())))
		return 1
	}
	return status
}

func findCapacity(ctx context.Context, run *config.Run, o CapacityOptions, s Streams) (int, error) {
	if s.Secrets == nil {
		s.Secrets = redact.NewSecrets()
	}
	s.Secrets.Add(run.Secrets()...)
	t := &target{invocation: invocation{Streams: s, ctx: ctx, run: run, command: commandLine(s.Args)}, users: o.Concurrency}
	t.runner, t.observe = t.benchmark, &t.rows
	options := capacity.Options{
		Concurrency: o.Concurrency, Start: o.Start, Precision: o.Precision, Seconds: o.Seconds, Cells: o.Cells, Size: o.Size, Looks: 1,
		Say: func(c *capacity.Cell) { fmt.Fprintf(s.Err, "aiperf: %s\n", c) },
	}
	for _, text := range o.Objectives {
		one, err := parseObjective(text)
		if err != nil {
			return 1, fmt.Errorf("%s: %w", run.As("slo"), err)
		}
		t.objectives, options.Objectives = append(t.objectives, one), append(options.Objectives, one.Objective)
	}
	release, err := t.claim()
	if err != nil {
		return 1, err
	}
	defer release()
	if run.Dataset().Type == config.DatasetSynthetic {
		fmt.Fprintln(s.Err, "aiperf: every cell has prompts of its own, so that none finds its prompts in a cache that the one before has warmed")
	} else {
		fmt.Fprintln(s.Err, "warning: cells send the same prompts: a server that caches prompts answers later cells faster")
	}
	a, err := capacity.Find(ctx, t, options)
	if err != nil {
		return 1, err
	}
	return t.report(a, &o)
}

// target is the server of a search, under loads that it asks for.
type target struct {
	invocation
	objectives []objective
	users      bool
	rows       rowList
	cells      int
	results    []cellResult
}

// cellResult is what a cell's report shows beside the objectives.
type cellResult struct {
	dir        string
	throughput float64
	quantiles  map[string]float64
}

// rowList keeps rows.
type rowList struct{ list []*metric.Row }

// Observe implements pipeline.Observer.
func (l *rowList) Observe(row *metric.Row) {
	if !row.Meta.Warmup {
		l.list = append(l.list, row)
	}
}

// phase runs one phase and gives its requests. limited tells that the client could not keep the load.
func (t *target) phase(ctx context.Context, name string, p config.Phase) (list []capacity.Request, limited bool, err error) {
	b := t.run.Benchmark
	p.Name, p.Kind = "profiling", config.KindProfiling
	b.Phases = []config.Phase{p}
	b.Artifacts.Dir = filepath.Join(t.run.Artifacts.Dir, "cells", name)
	b.Runtime.UI = config.UINone
	if err := artifact.RemoveCell(b.Artifacts.Dir); err != nil {
		return nil, false, err
	}
	t.rows.list = nil
	cell := config.Cell{Label: name}
	seed := trialSeed(t.run.RandomSeed, &cell, t.cells)
	t.cells++
	b.Datasets = slices.Clone(b.Datasets)
	if d := b.Dataset(); d.RandomSeed != nil {
		d.RandomSeed = seed
	}
	done, err := t.runner(ctx, &b, seed, metric.RunInfo{RandomSeed: digits(seed), RunLabel: name}, id())
	if err != nil {
		return nil, false, err
	}
	if done == nil || ctx.Err() != nil {
		return nil, false, errors.Join(errNothing, ctx.Err())
	}
	if done.Profiling.Valid == 0 {
		return nil, false, fmt.Errorf("%s: no request succeeded", name)
	}
	r := cellResult{dir: b.Artifacts.Dir, throughput: done.Profiling.Value("request_throughput", metric.Avg), quantiles: map[string]float64{}}
	for _, o := range t.objectives {
		if o.tag != errorRate {
			r.quantiles[o.text] = t.quantile(&o)
		}
	}
	t.results = append(t.results, r)
	v := done.Validity
	return t.requests(), v != nil && v.Verdict == metric.VerdictClientLimited, nil
}

// quantile is that of an objective over the requests of the last phase, in the unit of its limit; NaN: there are none.
func (t *target) quantile(o *objective) float64 {
	var values []float64
	for _, row := range t.rows.list {
		if v, ok := row.Value(o.tag); ok {
			values = append(values, v*o.factor)
		}
	}
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return stats.Percentile(values, 100*(1-o.Allowed))
}

// requests are the rows as the search knows requests. What was cut by the end of a cell is bad where its limit had passed by then.
func (t *target) requests() []capacity.Request {
	rows := t.rows.list
	slices.SortStableFunc(rows, func(a, b *metric.Row) int { return int(min(1, max(-1, a.Start-b.Start))) })
	out := make([]capacity.Request, 0, len(rows))
	for _, row := range rows {
		r := capacity.Request{Start: float64(row.Start-rows[0].Start) / 1e9, End: float64(row.End-rows[0].Start) / 1e9}
		age := r.End - r.Start
		for i := range t.objectives {
			v, at := t.objectives[i].judge(row, age)
			if math.IsInf(at, 0) {
				at = r.End
			} else {
				at += r.Start
			}
			r.Values, r.Known = append(r.Values, v), append(r.Known, at)
		}
		if row.Class == metric.Cut {
			r.End = math.Inf(1)
		}
		out = append(out, r)
	}
	return out
}

// judge is the figure of a request and from when on it is known, in s after its start; +Inf: when it ended.
func (o *objective) judge(row *metric.Row, age float64) (value, at float64) {
	at = math.Inf(1)
	if o.tag == errorRate {
		switch row.Class {
		case metric.Failed:
			return 1, at
		case metric.Cut:
			return math.NaN(), at
		}
		return 0, at
	}
	if row.Class == metric.Failed {
		return math.Inf(1), at
	}
	v, ok := row.Value(o.tag)
	limit := o.Limit / o.factor * 1e-9 // in s
	switch {
	case ok && o.at == atLimit:
		return v * o.factor, limit
	case ok:
		return v * o.factor, at
	case row.Class == metric.Cut && o.at == atLimit && age > limit:
		return math.Inf(1), limit
	}
	return math.NaN(), at
}

// grace is how long the answers of a cell may take after it: until every latency is settled.
func (t *target) grace() *config.Seconds {
	longest := 1.0
	for _, o := range t.objectives {
		if o.at == atLimit {
			longest = max(longest, o.Limit/o.factor*1e-9+0.5)
		} else {
			longest = max(longest, 5)
		}
	}
	g := config.Seconds(min(longest, 30))
	return &g
}

// Alone implements capacity.Server.
func (t *target) Alone(ctx context.Context) (float64, []capacity.Request, error) {
	one, n := 1, 5
	list, _, err := t.phase(ctx, "one_user", config.Phase{Type: config.PhaseConcurrency, Concurrency: &one, Requests: &n})
	if err != nil {
		return 0, nil, err
	}
	var latency []float64
	for i := range list {
		latency = append(latency, list[i].End-list[i].Start)
	}
	slices.Sort(latency)
	return max(1e-4, stats.Percentile(latency, 50)), list, nil
}

// Cell implements capacity.Server.
func (t *target) Cell(ctx context.Context, load float64, looks []float64, done func(float64, []capacity.Request) bool) (bool, error) {
	end := looks[len(looks)-1]
	length := config.Seconds(end)
	p := config.Phase{Type: config.PhasePoisson, Rate: &load, Duration: &length, GracePeriod: t.grace()}
	name := fmt.Sprintf("cell_%02d_rate_%.4g", t.cells, load)
	if t.users {
		n := int(math.Round(load))
		p = config.Phase{Type: config.PhaseConcurrency, Concurrency: &n, Duration: &length, GracePeriod: t.grace()}
		name = fmt.Sprintf("cell_%02d_concurrency_%d", t.cells, n)
	}
	list, limited, err := t.phase(ctx, name, p)
	if err != nil || limited {
		return limited, err
	}
	done(end, list)
	return false, nil
}

// unit of the load.
func (t *target) unit() string {
	if t.users {
		return "users"
	}
	return "requests/s"
}

// report says and writes the answer.
func (t *target) report(a *capacity.Answer, o *CapacityOptions) (int, error) {
	w := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tseconds\trequests\tbad %%\tstate\t\n", t.unit())
	cells := slices.Clone(a.Cells)
	slices.SortStableFunc(cells, func(x, y capacity.Cell) int { return int(math.Copysign(1, x.Load-y.Load)) })
	for _, c := range cells {
		state := string(c.State)
		if c.Limited {
			state = "client limited"
		}
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%.2f\t%s\t\n", terminal.Figure(c.Load), c.Seconds, c.N, 100*c.Bad, state)
	}
	if err := w.Flush(); err != nil {
		return 1, ignoreGone(err)
	}
	sentence, status := t.sentence(a)
	fmt.Fprintf(t.Out, "\n%s\n", sentence)
	text, err := t.json(a)
	if err != nil {
		return 1, err
	}
	path := filepath.Join(t.run.Artifacts.Dir, "capacity.json")
	err = artifact.WriteFile(path, text)
	if o.JSON != "" {
		err = errors.Join(err, artifact.WriteFile(o.JSON, text))
	}
	fmt.Fprintf(t.Out, "Result: %s\n", path)
	return status, err
}

// sentence is the answer in words, and its exit status.
func (t *target) sentence(a *capacity.Answer) (string, int) {
	tail := ""
	if a.Failed > 0 {
		tail = fmt.Sprintf(" At %s %s the queue grows without end.", terminal.Figure(a.Failed), t.unit())
	}
	switch {
	case a.Why == capacity.NotMet:
		return fmt.Sprintf("Not met even by one user: %s.", a.Binding), notMet
	case a.Why == capacity.Client && a.AtLeast == 0:
		return fmt.Sprintf("Nothing can be said: at %s %s this client could not keep the schedule. Use more client cores or machines.", terminal.Figure(a.Ceiling), t.unit()), bound
	case a.Why == capacity.Client:
		return fmt.Sprintf("At least %s %s: at %s this client could not keep the schedule. More is not known; use more client cores or machines.",
			terminal.Figure(a.AtLeast), t.unit(), terminal.Figure(a.Ceiling)), bound
	case a.Capacity == 0:
		return fmt.Sprintf("At least %s %s keep %s: nothing failed in %d cells, %.0f s.", terminal.Figure(a.AtLeast), t.unit(), a.Binding, len(a.Cells), a.Seconds), bound
	case a.Why != capacity.Settled:
		return fmt.Sprintf("Not settled in %.0f s, %d cells: between %s and %s %s.%s", a.Seconds, len(a.Cells), terminal.Figure(a.Low), terminal.Figure(a.High), t.unit(), tail), bound
	}
	return fmt.Sprintf("Capacity: %s %s keep %s (90 %% interval %s to %s). %d cells, %.0f s.%s", terminal.Figure(a.Capacity), t.unit(), a.Binding,
		terminal.Figure(a.Low), terminal.Figure(a.High), len(a.Cells), a.Seconds, tail), 0
}

// json is the answer as a file; unbounded ends are null.
func (t *target) json(a *capacity.Answer) ([]byte, error) {
	end := func(v float64) any {
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return v
	}
	vary := "rate"
	if t.users {
		vary = "concurrency"
	}
	curve := []map[string]any{}
	for _, r := range t.results {
		one := map[string]any{"directory": r.dir, "request_throughput": end(r.throughput)}
		for name, v := range r.quantiles {
			one[name] = end(v)
		}
		curve = append(curve, one)
	}
	var names []string
	for _, o := range t.objectives {
		names = append(names, strings.TrimSpace(o.text))
	}
	text, err := json.MarshalIndent(map[string]any{
		"schema_version": "1.0", "kind": "capacity", "objective": names, "vary": vary, "capacity": end(a.Capacity), "low": end(a.Low), "high": end(a.High),
		"at_least": end(a.AtLeast), "confidence": 0.9, "binding": a.Binding, "why": a.Why, "seconds": a.Seconds, "cells": a.Cells, "curve": curve,
	}, "", "  ")
	return append(text, '\n'), err
}
