package cli

import (
	"slices"
	"sort"
	"strings"

	"aiperf/internal/config"
)

// consistentSeed is the seed of repeated and swept runs for which nobody gave one.
const consistentSeed config.Seed = "42"

// sweepKeys are the flags that a comma list sweeps, with the key of each axis.
var sweepKeys = []struct{ flag, path string }{
	{"--concurrency", "phases.profiling.concurrency"},
	{"--prefill-concurrency", "phases.profiling.prefill_concurrency"},
	{"--request-rate", "phases.profiling.rate"},
	{"--request-count", "phases.profiling.requests"},
	{"--num-sessions", "phases.profiling.sessions"},
	{"--benchmark-duration", "phases.profiling.duration"},
	{"--num-users", "phases.profiling.users"},
	{"--isl", "datasets.main.prompts.isl.mean"},
	{"--isl-stddev", "datasets.main.prompts.isl.stddev"},
	{"--osl", "datasets.main.prompts.osl.mean"},
	{"--osl-stddev", "datasets.main.prompts.osl.stddev"},
	{"--session-turns-mean", "datasets.main.turns.mean"},
}

// swept lists the flags that hold several values, as the user spelled them.
func (r *resolver) swept() []string {
	var names []string
	for _, k := range sweepKeys {
		if len(r.set.Ints(k.flag)) > 1 || len(r.set.Floats(k.flag)) > 1 {
			names = append(names, r.as(k.flag))
		}
	}
	return names
}

// repetition fills repeats, sweeps and the seed that they share.
func (r *resolver) repetition() {
	m := &r.run.MultiRun
	if n := r.set.Ints("--num-profile-runs"); n != nil {
		m.NumRuns = int(n[0])
	}
	if f := r.set.Floats("--profile-run-cooldown-seconds"); f != nil {
		m.Cooldown = config.Seconds(f[0])
	}
	if f := r.set.Floats("--confidence-level"); f != nil {
		m.ConfidenceLevel = f[0]
	}
	m.DisableWarmupAfterFirst = r.set.True("--profile-run-disable-warmup-after-first", m.DisableWarmupAfterFirst)
	m.SetConsistentSeed = r.set.True("--set-consistent-seed", m.SetConsistentSeed)
	m.VarySeedPerTrial = r.set.True("--vary-seed-per-trial", m.VarySeedPerTrial)
	r.run.NoSweepTable = r.set.True("--no-sweep-table", r.run.NoSweepTable)
	r.sweep()
	if s := r.randomSeed(); s != nil {
		r.run.RandomSeed = s
	} else if r.run.RandomSeed == nil && (m.NumRuns > 1 || r.run.Sweep != nil) && m.SetConsistentSeed {
		seed := consistentSeed
		r.run.RandomSeed = &seed
	}
}

// randomSeed is the seed of the command line, nil = none is given.
func (r *resolver) randomSeed() *config.Seed {
	text := r.set.Text("--random-seed", "")
	if text == "" {
		return nil
	}
	seed := config.Seed(text)
	return &seed
}

func (r *resolver) sweep() {
	var axes config.Axes
	for _, k := range sweepKeys {
		if g := r.set.Get(k.flag); g != nil && g.Repeated {
			r.warn("%s names a value twice; each is run once", r.as(k.flag))
		}
		var values []any
		for _, n := range r.set.Ints(k.flag) {
			values = append(values, int(n))
		}
		for _, f := range r.set.Floats(k.flag) {
			values = append(values, f)
		}
		if len(values) == 1 && r.run.Sweep != nil && slices.ContainsFunc(r.run.Sweep.Parameters, func(a config.Axis) bool { return a.Path == r.axisPath(k.path) }) {
			r.fail("%s: %s sweeps it; a list of values takes the place of that", r.as(k.flag), r.set.Text("--config", ""))
		}
		if len(values) > 1 {
			axes = append(axes, config.Axis{Path: r.axisPath(k.path), Values: values})
		}
	}
	s := &config.Sweep{Type: config.SweepGrid, IterationOrder: "repeated"}
	if r.run.Sweep != nil {
		s = r.run.Sweep
		for _, a := range s.Parameters {
			if !slices.ContainsFunc(axes, func(b config.Axis) bool { return a.Path == b.Path }) {
				axes = append(axes, a)
			}
		}
	}
	if len(axes) == 0 {
		return
	}
	sort.Slice(axes, func(i, j int) bool { return axes[i].Path < axes[j].Path })
	s.Type = config.SweepType(r.set.Text("--sweep-type", string(s.Type)))
	s.Parameters = axes
	s.IterationOrder = r.set.Text("--parameter-sweep-mode", s.IterationOrder)
	s.SameSeed = r.set.True("--parameter-sweep-same-seed", s.SameSeed)
	if f := r.set.Floats("--parameter-sweep-cooldown-seconds"); f != nil {
		s.Cooldown = config.Seconds(f[0])
	}
	l := &r.load
	s.DeriveRequests = s.DeriveRequests || l.requests == nil && l.sessions == nil && l.duration == nil && !l.fixed && !l.users &&
		(len(l.concurrency) > 1 || len(l.prefill) > 1)
	r.run.Sweep = s
}

// axisPath puts the names that a file gave to its phase and its dataset into the path of an axis.
func (r *resolver) axisPath(path string) string {
	if p := r.run.Profiling(); p != nil {
		if rest, ok := strings.CutPrefix(path, "phases.profiling."); ok {
			return "phases." + p.Name + "." + rest
		}
	}
	if rest, ok := strings.CutPrefix(path, "datasets.main."); ok && len(r.run.Datasets) == 1 {
		return "datasets." + r.run.Dataset().Name + "." + rest
	}
	return path
}
