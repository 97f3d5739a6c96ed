package cli

import (
	"strings"

	"aiperf/internal/config"
)

// profilingFlags shape the phase that is measured; over a file there must be one such phase only.
var profilingFlags = append([]string{
	"--request-count", "--num-sessions", "--benchmark-duration", "--measurement-interval", "--benchmark-grace-period", "--num-users", "--arrival-pattern",
	"--arrival-smoothness", "--concurrency-ramp-duration", "--prefill-concurrency-ramp-duration", "--request-rate-ramp-duration",
	"--request-cancellation-rate", "--request-cancellation-delay", "--failed-request-threshold",
	"--fixed-schedule", "--no-fixed-schedule", "--fixed-schedule-auto-offset", "--fixed-schedule-start-offset", "--fixed-schedule-end-offset",
}, loadFlagsOfPace...)

// phasesOver puts load flags over the measured phase of a file, and lets warm-up flags add a warm-up or take the place of the file's.
func (r *resolver) phasesOver() {
	warmup := r.warmup() // made of flags alone
	if given := r.given(profilingFlags...); len(given) > 0 {
		if names := r.measured(); len(names) != 1 {
			r.fail("%s: %s has the profiling phases %s; a flag cannot tell which one is meant", strings.Join(given, ", "), r.set.Text("--config", ""), strings.Join(names, ", "))
			return
		}
		r.phaseOver(r.run.Profiling())
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
		r.seen(p)
	}
}

// measured are the names of the profiling phases.
func (r *resolver) measured() []string {
	var names []string
	for _, p := range r.run.Phases {
		if p.Kind == config.KindProfiling {
			names = append(names, p.Name)
		}
	}
	return names
}

// phaseOver puts load flags over a phase.
func (r *resolver) phaseOver(p *config.Phase) {
	l := &r.load
	setFirst(&p.Concurrency, l.concurrency)
	setFirst(&p.PrefillConcurrency, l.prefill)
	switch {
	case l.fixed:
		p.Type = config.PhaseFixedSchedule
	case l.users:
		p.Type, p.Rate, p.Smoothness = config.PhaseUserCentric, &r.set.Floats("--user-centric-rate")[0], nil
	case l.rated:
		if l.rate != nil {
			p.Rate, p.RateSeries = &l.rate[0], ""
		} else {
			p.Rate, p.RateSeries = nil, r.set.Text("--request-rate-series", "")
		}
		if !p.Type.HasRate() {
			p.Type = config.PhasePoisson
		}
	}
	setFirst(&p.Users, r.set.Ints("--num-users"))
	if p.Type.HasRate() && (r.has("--arrival-pattern") || r.has("--arrival-smoothness")) {
		p.Type = r.arrival(r.set.Text("--arrival-pattern", ""))
		p.Smoothness = nil
	}
	if p.Type == config.PhaseGamma && (p.Smoothness == nil || r.has("--arrival-smoothness")) {
		p.Smoothness = r.smoothness(p.Type)
	}
	if p.Type == config.PhaseFixedSchedule && len(r.given("--fixed-schedule", "--fixed-schedule-auto-offset", "--fixed-schedule-start-offset", "--fixed-schedule-end-offset")) > 0 {
		r.offsets(p)
	}
	r.stopsOver(p)
	r.trim(p)
}

// stopsOver puts stop conditions over those of a phase.
func (r *resolver) stopsOver(p *config.Phase) {
	setFirst(&p.Requests, r.load.requests)
	setFirst(&p.Sessions, r.load.sessions)
	if d := r.load.duration; d != nil {
		length := config.Seconds(d[0])
		p.Duration = &length
		if p.GracePeriod == nil {
			grace := config.Seconds(30)
			p.GracePeriod = &grace
		}
	}
	if g := r.set.Floats("--benchmark-grace-period"); g != nil && p.Duration != nil {
		grace := config.Seconds(g[0])
		p.GracePeriod = &grace
	}
}

// seen lets the rules for combinations see what the file says where no flag speaks.
func (r *resolver) seen(p *config.Phase) {
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
