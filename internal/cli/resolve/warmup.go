package resolve

import (
	"slices"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/run/rules"
)

// warmupTriggers lists the flags that add a warm-up; the other warm-up flags only change it.
var warmupTriggers = flagsOf(func(f *setting.Row) bool { return f.Trigger })

// warmupShape lists those others; a grace period without a duration is refused.
var warmupShape = flagsOf(func(f *setting.Row) bool {
	return withKey(warmupPhase)(f) && !f.Trigger && !strings.HasSuffix(f.Key, ".grace_period")
})

// warmup makes the warm-up phase, nil without a trigger. Missing settings are inherited from the profiling phase, except swept lists. If a file has
// exactly one warm-up, flags change only the settings that they name.
func (r *resolver) warmup() *config.Phase {
	if p := r.fileWarmup(); p != nil {
		return p
	}
	if len(r.given(warmupTriggers...)) == 0 {
		if idle := r.given(warmupShape...); len(idle) > 0 {
			r.warn("%s %s: a warm-up needs one of %s", strings.Join(idle, ", "), rules.Agree(len(idle), "has no effect"), strings.Join(warmupTriggers, ", "))
		}
		if r.has("--warmup-grace-period") && r.run.Scenario == "" {
			r.fail("%s needs --warmup-duration: there is no deadline without one", r.spelled("--warmup-grace-period"))
		}
		return nil
	}
	phases := r.run.Phases
	defer func() { r.run.Phases = phases }()
	r.run.Phases = []config.Phase{{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency, ExcludeFromResults: true}}
	p := &r.run.Phases[0]
	r.inherit()
	r.bind(warmupPhase)
	r.warmupRate(p)
	r.warmupPrefill(p)
	if p.Concurrency == nil && p.PrefillConcurrency == nil && p.Type == config.PhaseConcurrency {
		one := 1
		p.Concurrency = &one
	}
	if !p.Type.HasRate() && !r.has("--warmup-request-rate-ramp-duration") {
		p.RateRamp = nil
	}
	return p
}

// fileWarmup returns the warm-up of a file with the changes of flags; nil if no flag changes it, or if the file does not have exactly one.
func (r *resolver) fileWarmup() *config.Phase {
	var of []config.Phase
	for _, p := range r.run.Phases {
		if p.Kind == config.KindWarmup {
			of = append(of, p)
		}
	}
	if !r.fromFile || len(of) != 1 || len(r.given(slices.Concat(warmupTriggers, warmupShape, []string{"--warmup-grace-period"})...)) == 0 {
		return nil
	}
	phases := r.run.Phases
	defer func() { r.run.Phases = phases }()
	r.run.Phases = of
	r.bind(warmupPhase)
	p := &r.run.Phases[0]
	if r.has("--warmup-request-rate") || r.has("--warmup-arrival-pattern") && p.Rate != nil {
		r.warmupRate(p)
	}
	if r.has("--warmup-grace-period") && p.Duration == nil {
		r.fail("%s needs --warmup-duration: there is no deadline without one", r.spelled("--warmup-grace-period"))
	}
	return p
}

// warmupRate makes the warm-up a rate phase if a rate is given; an explicit burst pattern drops an inherited rate. A rate series belongs to the
// measured phase and is not inherited.
func (r *resolver) warmupRate(p *config.Phase) {
	rate := ownOrInherited(r.set.Floats("--warmup-request-rate"), r.load.rate)
	if rate == nil && p.Rate != nil {
		rate = []float64{*p.Rate}
	}
	pattern := r.set.Text("--warmup-arrival-pattern", r.set.Text("--arrival-pattern", "poisson"))
	if rate == nil || pattern == "concurrency_burst" {
		return
	}
	p.Type = r.arrival(pattern)
	p.Rate = &rate[0]
	p.Smoothness = r.smoothness(p.Type)
}

// warmupPrefill lowers an inherited prefill limit to a smaller concurrency.
func (r *resolver) warmupPrefill(p *config.Phase) {
	if p.PrefillConcurrency == nil || p.Concurrency == nil || r.has("--warmup-prefill-concurrency") {
		return
	}
	if *p.PrefillConcurrency > *p.Concurrency {
		p.PrefillConcurrency = p.Concurrency
	}
}

// ownOrInherited returns the warm-up's own value, else the inherited one unless it is swept.
func ownOrInherited[T any](given, inherited []T) []T {
	if given != nil || len(inherited) != 1 {
		return given
	}
	return inherited
}
