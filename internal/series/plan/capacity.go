package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/series/capacity"
)

// CapacityOptions holds the flags of a search for capacity.
type CapacityOptions struct {
	Objectives  []Objective
	Concurrency bool
	Start       float64
	Precision   float64
	Seconds     float64
	Cells       int
	Size        float64
	JSON        string // additional path for the result
	Entries     bool   // the user gave the number of prompts
}

// Exit statuses of a search for capacity besides 0 and 1.
const (
	notMet = 3 // not met even with one user
	bound  = 4 // only a bound is known
)

// Capacity finds the highest load at which a server meets objectives (comparison, section 3) and returns the exit status.
func Capacity(ctx context.Context, run *config.Run, o CapacityOptions, s Streams) int {
	status, err := findCapacity(ctx, run, o, s)
	if err != nil {
		fmt.Fprintf(s.Err, "error: %s\n", terminal.Text(s.Secrets.Text(err.Error())))
		return 1
	}
	return status
}

func findCapacity(ctx context.Context, run *config.Run, o CapacityOptions, s Streams) (status int, err error) {
	if s.Secrets == nil {
		s.Secrets = redact.NewSecrets()
	}
	s.Secrets.Add(run.Secrets()...)
	began := time.Now()
	t := &target{invocation: invocation{Streams: s, ctx: ctx, run: run, command: commandLine(s.Args)}, users: o.Concurrency, fixed: o.Entries}
	t.remainingTime = func() float64 { return o.Seconds - time.Since(began).Seconds() }
	t.runner = t.benchmark
	if t.fewest, err = fewestUsers(run); err != nil {
		return 1, err
	}
	options := capacity.Options{
		Concurrency: o.Concurrency, Fewest: t.fewest, Start: o.Start, Precision: o.Precision, Seconds: o.Seconds, Cells: o.Cells, Size: o.Size, MaxLooks: 4,
		Say:     func(c *capacity.Cell) { fmt.Fprintf(s.Err, "aiperf: %s\n", c.Line(t.unit())) },
		Elapsed: func() float64 { return time.Since(began).Seconds() },
	}
	t.objectives = o.Objectives
	for i := range o.Objectives {
		options.Objectives = append(options.Objectives, o.Objectives[i].Objective)
	}
	release, err := t.claim()
	if err != nil {
		return 1, err
	}
	defer release()
	hide, err := t.openLivePage(ctx)
	if err != nil {
		return 1, err
	}
	defer hide()
	t.place.noun = "cell"
	t.showSeries(0, false, nil)
	t.sayCaches()
	a, err := capacity.Find(ctx, t, options)
	if err = errors.Join(err, t.close()); err != nil {
		return 1, err
	}
	return t.report(a, &o)
}

// fewestUsers returns the smallest number of users that a search can try: one for each machine.
func fewestUsers(run *config.Run) (int, error) {
	if run.Machines.On == "" {
		return 1, nil
	}
	list, err := run.Machines.List()
	if err != nil {
		return 0, err
	}
	return list.Count, nil
}

// sayCaches reports what happens to the caches of the server between cells.
func (t *target) sayCaches() {
	d := t.run.Dataset()
	switch bust := d.CacheBustTarget(); {
	case bust != config.CacheBustNone && !strings.HasPrefix(bust, "warmup_isolation_"):
		fmt.Fprintln(t.Err, "aiperf: each session uses a new marker, so the server's prefix cache cannot help later steps")
	case d.Type != config.DatasetSynthetic:
		fmt.Fprintf(t.Err, "warning: all steps send the same prompts, so a server with a prefix cache answers later steps faster. To make them differ, add %s first_turn_prefix.\n",
			t.run.As("datasets.main.prompts.cache_bust.target"))
	case t.fixed:
		fmt.Fprintf(t.Err, "aiperf: each step uses its own %d prompts and repeats them, so the server's prefix cache holds them after the first time\n", d.Entries)
	default:
		fmt.Fprintln(t.Err, "aiperf: each request uses a new prompt, so the server's prefix cache cannot help later steps")
	}
}

// target is the server under test, with the loads that a search requests.
type target struct {
	invocation
	objectives    []Objective
	users         bool
	fewest        int            // users that can be tried; each machine needs one
	fixed         bool           // the user gave the number of prompts
	alone         float64        // latency of one user, s
	queued        int            // requests that the last cell left in the queue of the server
	remainingTime func() float64 // returns the remaining time of the search in s; nil: no limit
	cells         int
	results       []cellResult // results of the cells of the search, in their order
}

// cellResult holds what the report of a cell shows in addition to the data of the search.
type cellResult struct {
	dir        string
	throughput float64
	quantiles  map[string]comparison.Estimate
}

// remaining returns the remaining time of the search in s; negative when it is over.
func (t *target) remaining() float64 {
	if t.remainingTime == nil {
		return math.Inf(1)
	}
	return t.remainingTime()
}

// maxEntries is the largest number of prompts that a cell generates.
const maxEntries = 20_000

// benchmarkOf returns a cell as a run, and its seed. Every cell has its own prompts, as many as it has requests unless the user gave their number: the
// server would answer repeated prompts from its cache.
func (t *target) benchmarkOf(name string, p config.Phase, most float64) (config.Benchmark, *config.Seed) {
	b := t.run.Benchmark
	p.Name, p.Kind = "profiling", config.KindProfiling
	b.Phases = []config.Phase{p}
	b.Artifacts.Dir = filepath.Join(t.run.Artifacts.Dir, "cells", name)
	b.Runtime.UI = config.UINone
	b.Environment.Timing.MaxCatchup = config.Default().Environment.Timing.MaxCatchup // the offered load of a cell is known only if its schedule restarts
	cell := config.Cell{Label: name}
	seed := trialSeed(t.run.RandomSeed, &cell, t.cells)
	t.cells++
	b.Datasets = slices.Clone(b.Datasets)
	d := b.Dataset()
	if d.RandomSeed != nil {
		d.RandomSeed = seed
	}
	if d.Type == config.DatasetSynthetic && !t.fixed {
		d.Entries = int(min(maxEntries, max(float64(d.Entries), math.Ceil(1.2*most))))
	}
	return b, seed
}

// phase runs one phase of about most requests, observed by f.
func (t *target) phase(ctx context.Context, name string, p config.Phase, most float64, f *requestFollower) (r cellResult, kept capacity.LoadFidelity, err error) {
	b, seed := t.benchmarkOf(name, p, most)
	t.observe, t.watch = f, f
	done, err := t.runner(ctx, &b, seed, metric.RunInfo{RandomSeed: digits(seed), RunLabel: name}, id())
	switch {
	case err != nil:
		return r, kept, err
	case done == nil || ctx.Err() != nil:
		return r, kept, errors.Join(errNothing, ctx.Err())
	case done.IncompleteReason != "":
		return r, kept, fmt.Errorf("%s: %s", name, done.IncompleteReason)
	}
	r = cellResult{dir: b.Artifacts.Dir, throughput: done.Profiling.Value("request_throughput", metric.Avg), quantiles: map[string]comparison.Estimate{}}
	for i := range t.objectives {
		o := &t.objectives[i]
		if list := f.values(o); o.tag != errorRate && len(list) >= minForQuantile {
			r.quantiles[o.Name] = comparison.Quantile(list, 1-o.Allowed)
		}
	}
	kept = keptOf(done.Validity)
	kept.Limited = kept.Limited || t.unclear(done)
	return r, kept, nil
}

// unclear reports whether the limit of an objective lies within the range of its quantile, because instants are only approximate. Such a cell shows
// neither that the objective was met nor that it was violated. A request that the end of the cell cuts off is judged by how long it had waited, so it
// makes nothing unclear.
func (t *target) unclear(run *metric.Run) bool {
	bounds := run.Profiling.Bounds
	for i := range t.objectives {
		o := &t.objectives[i]
		if o.tag == errorRate || bounds[o.tag] == nil {
			continue
		}
		below, above := around(100 * (1 - o.Allowed))
		low := bounds.Of(o.tag, below, run.Profiling.Value(o.tag, below)).Low
		high := bounds.Of(o.tag, above, run.Profiling.Value(o.tag, above)).High
		certain := bounds.Certain(o.tag, below, run.Profiling.Value(o.tag, below)) && bounds.Certain(o.tag, above, run.Profiling.Value(o.tag, above))
		if !certain && low <= o.Limit && o.Limit < high {
			return true
		}
	}
	return false
}

// around returns the statistics between which a percentile lies; both are the percentile itself if summaries have it. Summaries have only a few
// percentiles.
func around(q float64) (below, above metric.Stat) {
	below, above = metric.Min, metric.Max
	for x := 1; x <= 99; x++ {
		stat, ok := metric.StatByName(fmt.Sprintf("p%d", x))
		switch p := float64(x); {
		case !ok:
		case p <= q+1e-9:
			below = stat
			if p >= q-1e-9 {
				return stat, stat
			}
		case above == metric.Max:
			above = stat
		}
	}
	return below, above
}

// keptOf returns how well the client generated a load. Pauses of its machine alone do not limit the client: their cost is known, and the cell counts
// as one at a correspondingly smaller load.
func keptOf(v *metric.Validity) (k capacity.LoadFidelity) {
	if v != nil {
		k.Lost, k.Limited = v.GivenUp(), v.IsBottleneck()
	}
	return k
}

// minForQuantile is the number of requests that a cell's quantile needs to be shown.
const minForQuantile = 5

// Alone implements capacity.Server.
func (t *target) Alone(ctx context.Context) (float64, []capacity.Request, error) {
	one, n, length := 1, 5, config.Seconds(3)
	f := newFollower(t.objectives, []float64{3}, nil)
	name := "one_user"
	p := config.Phase{Type: config.PhaseConcurrency, Concurrency: &one, Requests: &n, Duration: &length}
	if left := t.remaining(); !math.IsInf(left, 1) {
		grace := config.Seconds(max(0, left-3))
		p.GracePeriod = &grace
	}
	if err := t.oneUser(ctx, name, p, n, f); err != nil {
		return 0, nil, err
	}
	latency := f.median()
	if math.IsNaN(latency) {
		return 0, nil, fmt.Errorf("%s: no request succeeded", name)
	}
	for i := range t.objectives {
		if o := &t.objectives[i]; o.tag != errorRate && len(f.values(o)) == 0 {
			return 0, nil, fmt.Errorf("%s: no answer has a %s, so %s cannot be judged (%s missing?)", name, o.tag, o.Name, t.run.As("endpoint.streaming"))
		}
	}
	t.alone = max(1e-4, latency)
	return t.alone, f.all(), nil
}

// oneUser runs a phase of n requests of a single user. This process sends them: several machines would need a user each.
func (t *target) oneUser(ctx context.Context, name string, p config.Phase, n int, f *requestFollower) error {
	t.onlyHere = true
	defer func() { t.onlyHere = false }()
	_, _, err := t.phase(ctx, name, p, float64(n), f)
	return err
}

// Cell implements capacity.Server.
func (t *target) Cell(ctx context.Context, load float64, looks []float64, done func(float64, []capacity.Request) bool) (kept capacity.LoadFidelity, err error) {
	if err := t.awaitIdle(ctx); err != nil {
		return kept, err
	}
	if looks = looksWithin(looks, t.remaining()); looks == nil {
		return kept, capacity.ErrTime
	}
	end, none := looks[len(looks)-1], config.Seconds(0)
	length := config.Seconds(end)
	p := config.Phase{Type: config.PhasePoisson, Rate: &load, Duration: &length, GracePeriod: &none}
	name, most := fmt.Sprintf("cell_%02d_rate_%.4g", t.cells, load), load*end
	if t.users {
		n := int(math.Round(load))
		p = config.Phase{Type: config.PhaseConcurrency, Concurrency: &n, Duration: &length, GracePeriod: &none}
		name, most = fmt.Sprintf("cell_%02d_concurrency_%d", t.cells, n), load*end/t.alone
	}
	f := newFollower(t.objectives, looks, done)
	r, kept, err := t.phase(ctx, name, p, most, f)
	if err != nil {
		return kept, err
	}
	t.queued = f.waiting()
	t.results = append(t.results, r)
	f.conclude()
	return kept, nil
}

// looksWithin returns the looks at a cell that fall into the remaining time, in s. One at its end replaces the later ones. It returns nil if not even
// the first look fits.
func looksWithin(looks []float64, left float64) (list []float64) {
	for _, at := range looks {
		if at > left {
			break
		}
		list = append(list, at)
	}
	if n := len(list); n > 0 && n < len(looks) && left > list[n-1] {
		list = append(list, left)
	}
	return list
}

// maxSettling is the largest number of requests of a single user that test whether the server has finished what a cell left behind. idleFactor is the
// factor by which their latency may exceed that of a single user.
const (
	maxSettling = 5
	idleFactor  = 1.5
)

// awaitIdle waits until a server has finished requests that the last cell cancelled while they waited. Some servers do not notice cancelled requests, and
// the next cell would wait in their queue. A single user sends requests; they are answered after those in the queue.
func (t *target) awaitIdle(ctx context.Context) error {
	if t.queued == 0 {
		return nil
	}
	one, n, none := 1, 1, config.Seconds(0)
	for range maxSettling {
		left := t.remaining()
		if left <= 0 {
			return capacity.ErrTime
		}
		f := newFollower(t.objectives, []float64{0}, nil)
		p := config.Phase{Type: config.PhaseConcurrency, Concurrency: &one, Requests: &n}
		if !math.IsInf(left, 1) {
			length := config.Seconds(left)
			p.Duration, p.GracePeriod = &length, &none
		}
		if err := t.oneUser(ctx, fmt.Sprintf("cell_%02d%s", t.cells, runfiles.SettlingSuffix), p, n, f); err != nil && t.remaining() > 0 {
			return err
		}
		if f.median() <= idleFactor*t.alone {
			break
		}
	}
	return nil
}
