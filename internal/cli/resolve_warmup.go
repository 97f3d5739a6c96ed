package cli

import (
	"strings"

	"aiperf/internal/config"
)

// warmupTriggers are the flags that make a warm-up; the other warm-up flags only shape it.
var warmupTriggers = []string{"--warmup-request-count", "--num-warmup-sessions", "--warmup-duration"}

var warmupShape = []string{
	"--warmup-concurrency", "--warmup-prefill-concurrency", "--warmup-request-rate", "--warmup-arrival-pattern",
	"--warmup-concurrency-ramp-duration", "--warmup-prefill-concurrency-ramp-duration", "--warmup-request-rate-ramp-duration",
}

// warmup makes the warm-up phase, nil without a trigger. What is not given is inherited from the profiling phase, swept lists are not.
func (r *resolver) warmup() *config.Phase {
	if len(r.given(warmupTriggers...)) == 0 {
		if idle := r.given(warmupShape...); len(idle) > 0 {
			r.warn("%s without effect: a warm-up needs %s", strings.Join(idle, ", "), strings.Join(warmupTriggers, ", "))
		}
		return nil
	}
	p := config.Phase{Name: "warmup", Kind: config.KindWarmup, Type: config.PhaseConcurrency, ExcludeFromResults: true}
	p.Requests, p.Sessions = first(r.set.Ints("--warmup-request-count")), first(r.set.Ints("--num-warmup-sessions"))
	if d := r.set.Floats("--warmup-duration"); d != nil {
		length := config.Seconds(d[0])
		p.Duration = &length
	}
	if g := r.set.Floats("--warmup-grace-period"); g != nil {
		grace := config.Seconds(g[0])
		p.GracePeriod = &grace
	}
	p.Concurrency = first(own(r.set.Ints("--warmup-concurrency"), r.load.concurrency))
	r.warmupRate(&p)
	r.warmupPrefill(&p)
	if p.Concurrency == nil && p.PrefillConcurrency == nil && p.Type == config.PhaseConcurrency {
		one := 1
		p.Concurrency = &one
	}
	p.ConcurrencyRamp = r.ramp("--warmup-concurrency-ramp-duration", "--concurrency-ramp-duration")
	p.PrefillRamp = r.ramp("--warmup-prefill-concurrency-ramp-duration", "--prefill-concurrency-ramp-duration")
	if p.Type.HasRate() {
		p.RateRamp = r.ramp("--warmup-request-rate-ramp-duration", "--request-rate-ramp-duration")
	}
	return &p
}

// warmupRate turns the warm-up into a rate phase when a rate is in force; a written burst pattern drops an inherited rate. A rate series is
// the course of the measured phase and is not inherited.
func (r *resolver) warmupRate(p *config.Phase) {
	rate := own(r.set.Floats("--warmup-request-rate"), r.load.rate)
	pattern := r.set.Text("--warmup-arrival-pattern", r.set.Text("--arrival-pattern", "poisson"))
	if rate == nil || pattern == "concurrency_burst" {
		return
	}
	p.Type = r.arrival(pattern)
	p.Rate = &rate[0]
	p.Smoothness = r.smoothness(p.Type)
}

// warmupPrefill takes the prefill limit; an inherited one gives way to a smaller concurrency.
func (r *resolver) warmupPrefill(p *config.Phase) {
	p.PrefillConcurrency = first(own(r.set.Ints("--warmup-prefill-concurrency"), r.load.prefill))
	if p.PrefillConcurrency == nil || p.Concurrency == nil || r.has("--warmup-prefill-concurrency") {
		return
	}
	if *p.PrefillConcurrency > *p.Concurrency {
		p.PrefillConcurrency = p.Concurrency
	}
}

// own is the warm-up's own value, else the inherited one unless it is swept.
func own[T any](given, inherited []T) []T {
	if given != nil || len(inherited) != 1 {
		return given
	}
	return inherited
}
