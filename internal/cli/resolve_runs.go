package cli

import (
	"sort"

	"aiperf/internal/config"
)

// consistentSeed is the seed of repeated and swept runs for which nobody gave one.
const consistentSeed = 42

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
	m.DisableWarmupAfterFirst = r.set.True("--profile-run-disable-warmup-after-first", true)
	m.SetConsistentSeed = r.set.True("--set-consistent-seed", true)
	m.VarySeedPerTrial = r.on("--vary-seed-per-trial")
	r.run.NoSweepTable = r.on("--no-sweep-table")
	r.sweep()
	if s := r.set.Ints("--random-seed"); s != nil {
		r.run.RandomSeed = &s[0]
	} else if (m.NumRuns > 1 || r.run.Sweep != nil) && m.SetConsistentSeed {
		seed := int64(consistentSeed)
		r.run.RandomSeed = &seed
	}
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
		if len(values) > 1 {
			axes = append(axes, config.Axis{Path: k.path, Values: values})
		}
	}
	if len(axes) == 0 {
		return
	}
	sort.Slice(axes, func(i, j int) bool { return axes[i].Path < axes[j].Path })
	s := &config.Sweep{
		Type:           config.SweepType(r.set.Text("--sweep-type", string(config.SweepGrid))),
		Parameters:     axes,
		IterationOrder: r.set.Text("--parameter-sweep-mode", "repeated"),
		SameSeed:       r.on("--parameter-sweep-same-seed"),
	}
	if f := r.set.Floats("--parameter-sweep-cooldown-seconds"); f != nil {
		s.Cooldown = config.Seconds(f[0])
	}
	l := &r.load
	s.DeriveRequests = l.requests == nil && l.sessions == nil && l.duration == nil && !l.fixed && !l.users &&
		(len(l.concurrency) > 1 || len(l.prefill) > 1)
	r.run.Sweep = s
}
