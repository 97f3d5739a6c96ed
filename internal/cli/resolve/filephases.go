package resolve

import (
	"strings"

	"aiperf/internal/config"
)

// profilingFlags lists the flags that change the measured phase; with a file, there must be only one such phase.
var profilingFlags = flagsOf(withKey(measuredPhase))

// phasesOver applies load flags to the measured phase of a file. Warm-up flags add a warm-up or replace the file's.
func (r *resolver) phasesOver() {
	warmup := r.warmup() // made from flags alone
	if given := r.given(profilingFlags...); len(given) > 0 {
		if names := r.measured(); len(names) != 1 {
			r.fail("%s: %s has the profiling phases %s; a flag cannot tell which one is meant", strings.Join(given, ", "), r.set.Text("--config", ""), strings.Join(names, ", "))
			return
		}
		r.shape(r.run.Profiling())
	}
	if warmup != nil {
		kept := []config.Phase{*warmup}
		for _, p := range r.run.Phases {
			if p.Kind != config.KindWarmup {
				kept = append(kept, p)
			}
		}
		r.run.Phases = kept
	}
	if p := r.run.Profiling(); p != nil {
		r.copyForRules(p)
	}
}

// measured returns the names of the profiling phases.
func (r *resolver) measured() []string {
	var names []string
	for _, p := range r.run.Phases {
		if p.Kind == config.KindProfiling {
			names = append(names, p.Name)
		}
	}
	return names
}

// copyForRules copies settings of the file for the rules on combinations, where no flag is given.
func (r *resolver) copyForRules(p *config.Phase) {
	l := &r.load
	l.fixed, l.users, l.rated = p.Type == config.PhaseFixedSchedule, p.Type == config.PhaseUserCentric, p.Type.HasRate()
	for _, one := range []struct {
		values *[]int64
		file   *int
	}{{&l.concurrency, p.Concurrency}, {&l.prefill, p.PrefillConcurrency}, {&l.requests, p.Requests}, {&l.sessions, p.Sessions}} {
		if *one.values == nil && one.file != nil {
			*one.values = []int64{int64(*one.file)}
		}
	}
	if l.rate == nil && p.Rate != nil && p.Type.HasRate() {
		l.rate = []float64{*p.Rate}
	}
	if l.duration == nil && p.Duration != nil {
		l.duration = []float64{float64(*p.Duration)}
	}
}
