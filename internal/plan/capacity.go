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

	"aiperf/internal/capacity"
	"aiperf/internal/comparison"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/terminal"
)

// CapacityOptions are the flags of a search for capacity.
type CapacityOptions struct {
	Objectives  []Objective
	Concurrency bool
	Start       float64
	Precision   float64
	Seconds     float64
	Cells       int
	Size        float64
	JSON        string // one more place for the result
	Entries     bool   // the user says how many prompts there are
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
	began := time.Now()
	t := &target{invocation: invocation{Streams: s, ctx: ctx, run: run, command: commandLine(s.Args)}, users: o.Concurrency, fixed: o.Entries}
	t.left = func() float64 { return o.Seconds - time.Since(began).Seconds() }
	t.runner = t.benchmark
	options := capacity.Options{
		Concurrency: o.Concurrency, Start: o.Start, Precision: o.Precision, Seconds: o.Seconds, Cells: o.Cells, Size: o.Size, Looks: 4,
		Say:     func(c *capacity.Cell) { fmt.Fprintf(s.Err, "aiperf: %s\n", c) },
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
	t.sayCaches()
	a, err := capacity.Find(ctx, t, options)
	if err != nil {
		return 1, err
	}
	return t.report(a, &o)
}

// sayCaches says what becomes of the caches of a server between cells.
func (t *target) sayCaches() {
	d := t.run.Dataset()
	switch bust := d.CacheBustTarget(); {
	case bust != config.CacheBustNone && !strings.HasPrefix(bust, "warmup_isolation_"):
		fmt.Fprintln(t.Err, "aiperf: every session of every cell has a marker of its own, so that no cell finds its prompts in a cache that another has warmed")
	case d.Type != config.DatasetSynthetic:
		fmt.Fprintf(t.Err, "warning: cells send the same prompts: a server that caches prompts answers later cells faster; %s first_turn_prefix makes them differ\n",
			t.run.As("datasets.main.prompts.cache_bust.target"))
	case t.fixed:
		fmt.Fprintf(t.Err, "aiperf: every cell has prompts of its own; a cell sends its %d again and again, so that a server's cache knows them after the first time\n", d.Entries)
	default:
		fmt.Fprintln(t.Err, "aiperf: every request has a prompt of its own, so that no cell finds its prompts in a cache that another has warmed")
	}
}

// target is the server of a search, under loads that it asks for.
type target struct {
	invocation
	objectives []Objective
	users      bool
	fixed      bool           // the user says how many prompts there are
	alone      float64        // s, latency of one user
	behind     int            // requests that the last cell left waiting at the server
	left       func() float64 // s of the search that are left; nil: nobody counts them
	cells      int
	results    []cellResult // of the cells of the search, in their order
}

// cellResult is what a cell's report shows beside what the search keeps of it.
type cellResult struct {
	dir        string
	throughput float64
	quantiles  map[string]comparison.Estimate
}

// remaining is the time of the search that is left, in s; below 0 where it is over.
func (t *target) remaining() float64 {
	if t.left == nil {
		return math.Inf(1)
	}
	return t.left()
}

// mostEntries is how many prompts a cell makes at most.
const mostEntries = 20_000

// benchmarkOf is a cell as a run of its own, and its seed. Its prompts are its own, and as many as its requests where that is left to the search:
// a server would find in its cache what it is sent twice.
func (t *target) benchmarkOf(name string, p config.Phase, most float64) (config.Benchmark, *config.Seed) {
	b := t.run.Benchmark
	p.Name, p.Kind = "profiling", config.KindProfiling
	b.Phases = []config.Phase{p}
	b.Artifacts.Dir = filepath.Join(t.run.Artifacts.Dir, "cells", name)
	b.Runtime.UI = config.UINone
	b.Environment.Timing.MaxCatchup = config.Default().Environment.Timing.MaxCatchup // what a cell offered is known where its schedule begins anew
	cell := config.Cell{Label: name}
	seed := trialSeed(t.run.RandomSeed, &cell, t.cells)
	t.cells++
	b.Datasets = slices.Clone(b.Datasets)
	d := b.Dataset()
	if d.RandomSeed != nil {
		d.RandomSeed = seed
	}
	if d.Type == config.DatasetSynthetic && !t.fixed {
		d.Entries = int(min(mostEntries, max(float64(d.Entries), math.Ceil(1.2*most))))
	}
	return b, seed
}

// phase runs one phase of most requests or so, followed by f.
func (t *target) phase(ctx context.Context, name string, p config.Phase, most float64, f *follower) (r cellResult, kept capacity.Kept, err error) {
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
		if list := f.values(o); o.tag != errorRate && len(list) >= leastOfQuantile {
			r.quantiles[o.Name] = comparison.Quantile(list, 1-o.Allowed)
		}
	}
	kept = keptOf(done.Validity)
	kept.Limited = kept.Limited || t.unclear(done)
	return r, kept, nil
}

// unclear tells whether the limit of an objective lies within what its quantile may be, because instants are known only approximately: then a cell says
// neither that the objective was kept nor that it was not.
func (t *target) unclear(run *metric.Run) bool {
	v := run.Validity
	if v == nil {
		return false
	}
	for i := range t.objectives {
		o := &t.objectives[i]
		if o.tag == errorRate || v.Bounds[o.tag] == nil {
			continue
		}
		below, above := around(100 * (1 - o.Allowed))
		low := v.Bounds.Of(o.tag, below, run.Profiling.Value(o.tag, below)).Low
		high := v.Bounds.Of(o.tag, above, run.Profiling.Value(o.tag, above)).High
		certain := v.Bounds.Certain(o.tag, below, run.Profiling.Value(o.tag, below)) && v.Bounds.Certain(o.tag, above, run.Profiling.Value(o.tag, above))
		if !certain && low <= o.Limit && o.Limit < high {
			return true
		}
	}
	return false
}

// around are the statistics between which a percentile lies, twice itself where it is one: summaries have a few percentiles only.
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

// keptOf is how well the client kept a load. Pauses of its machine are no limit of the client by themselves: what they cost is known, and a cell without
// that is a cell at a load that is smaller by it.
func keptOf(v *metric.Validity) (k capacity.Kept) {
	if v != nil {
		k.Lost, k.Limited = v.GivenUp(), v.Hindered()
	}
	return k
}

// leastOfQuantile is how many requests a cell's quantile needs to be shown.
const leastOfQuantile = 5

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
	if _, _, err := t.phase(ctx, name, p, float64(n), f); err != nil {
		return 0, nil, err
	}
	latency := f.median()
	if math.IsNaN(latency) {
		return 0, nil, fmt.Errorf("%s: no request succeeded", name)
	}
	for i := range t.objectives {
		if o := &t.objectives[i]; o.tag != errorRate && len(f.values(o)) == 0 {
			return 0, nil, fmt.Errorf("%s: no answer tells its %s, so nothing can be said of %s (%s?)", name, o.tag, o.Name, t.run.As("endpoint.streaming"))
		}
	}
	t.alone = max(1e-4, latency)
	return t.alone, f.all(), nil
}

// Cell implements capacity.Server.
func (t *target) Cell(ctx context.Context, load float64, looks []float64, done func(float64, []capacity.Request) bool) (kept capacity.Kept, err error) {
	if err := t.settle(ctx); err != nil {
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
	t.behind = f.waiting()
	t.results = append(t.results, r)
	f.conclude()
	return kept, nil
}

// looksWithin are the looks at a cell that fall into the time that is left, in s; a last one at its end takes the place of those after it. nil: not even the
// first look does.
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

// mostSettling is how often a single user asks at most whether the server has got rid of what a cell left behind, and calm how many times as long as
// that of one user alone its latency may be then.
const (
	mostSettling = 5
	calm         = 1.5
)

// settle waits until a server has got rid of requests that the last cell cut while they waited: not every server notices that nobody waits for them any
// more, and the next cell would stand in their queue. One user asks; its answer comes behind them.
func (t *target) settle(ctx context.Context) error {
	if t.behind == 0 {
		return nil
	}
	one, n, none := 1, 1, config.Seconds(0)
	for range mostSettling {
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
		if _, _, err := t.phase(ctx, fmt.Sprintf("cell_%02d_settling", t.cells), p, 1, f); err != nil && t.remaining() > 0 {
			return err
		}
		if f.median() <= calm*t.alone {
			break
		}
	}
	return nil
}
