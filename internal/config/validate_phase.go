package config

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// Names of phases become names of directories.
var (
	phaseName  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	deviceName = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// maxConcurrency is the maximum number of sessions in flight. Each may use a connection, and no machine has more ports.
const maxConcurrency = 1 << 20

func (v *violations) phases(b *Benchmark) {
	known := !slices.ContainsFunc(b.Phases, func(p Phase) bool { return !p.Kind.known() })
	v.addIf(known && b.Profiling() == nil, "benchmark.phases", "hold no profiling phase")
	names := map[string]bool{}
	data := &Dataset{}
	if len(b.Datasets) == 1 {
		data = b.Dataset()
	}
	for i := range b.Phases {
		p := &b.Phases[i]
		path := "benchmark.phases." + p.Name
		v.addIf(p.Name == "", fmt.Sprintf("benchmark.phases[%d].name", i), "is empty")
		v.addIf(p.Name != "" && !phaseName.MatchString(p.Name), path, "is not a name: a letter or _, then letters, digits, _ and -")
		v.addIf(deviceName.MatchString(p.Name), path, "is the name of a device on some systems")
		v.addIf(names[strings.ToLower(p.Name)], path, "is listed twice")
		names[strings.ToLower(p.Name)] = true
		v.kind(path, p)
		v.addIf(p.Seamless && i == 0, path+".seamless", "is for phases that follow another")
		v.limits(path, p, b.Endpoint.Streaming)
		v.stops(path, p, b.Accuracy != nil && p.Kind == KindProfiling)
		if v.phaseType(path, p) {
			v.pace(path, p, data)
		}
		v.replay(path, p)
		v.adaptive(path, p)
	}
}

// known reports whether there is such a kind.
func (k PhaseKind) known() bool { return k == KindWarmup || k == KindProfiling }

// kind checks the kind of a phase. Nothing contradicts a kind that does not exist.
func (v *violations) kind(path string, p *Phase) {
	if !p.Kind.known() {
		v.oneOf(path+".kind", string(p.Kind), string(KindWarmup), string(KindProfiling))
		return
	}
	for _, kind := range []PhaseKind{KindWarmup, KindProfiling} {
		v.addIf(p.Name == string(kind) && p.Kind != kind, path+".kind", "%s contradicts the name, which means kind %s: rename the phase or change its kind", p.Kind, kind)
	}
	v.addIf(p.ExcludeFromResults != (p.Kind == KindWarmup), path+".exclude_from_results", "contradicts kind %s", p.Kind)
}

// phaseType checks the type of a phase and reports whether there is such a type.
func (v *violations) phaseType(path string, p *Phase) bool {
	_, external, err := p.Type.Plugin()
	v.addIf(err != nil, path+".type", "%v", err)
	if err != nil || external {
		return err == nil
	}
	v.oneOf(path+".type", string(p.Type), phaseTypes...)
	return slices.Contains(phaseTypes, string(p.Type))
}

// limits checks slots, ramps and cancellation.
func (v *violations) limits(path string, p *Phase, streaming bool) {
	v.addIf(p.Concurrency != nil && *p.Concurrency > maxConcurrency, path+".concurrency", "%d is above %d, more than one machine has ports for", Value(p.Concurrency), maxConcurrency)
	v.addIf(p.PrefillConcurrency != nil && !streaming, path+".prefill_concurrency", "needs %s: only a stream shows its first token", v.spelling("benchmark.endpoint.streaming"))
	v.addIf(p.PrefillConcurrency != nil && p.Concurrency != nil && *p.PrefillConcurrency > *p.Concurrency, path+".prefill_concurrency", "%d is above %s %d", Value(p.PrefillConcurrency), v.spelling(path+".concurrency"), Value(p.Concurrency))
	for name, r := range map[string]*Ramp{"concurrency_ramp": p.ConcurrencyRamp, "prefill_ramp": p.PrefillRamp, "rate_ramp": p.RateRamp} {
		v.addIf(r != nil && !(r.Duration > 0), path+"."+name+".duration", "must be > 0")
		if r != nil && r.Strategy != "" {
			v.oneOf(path+"."+name+".strategy", r.Strategy, "linear", "exponential", "poisson")
		}
	}
	v.addIf(p.RateRamp != nil && !p.Type.HasRate(), path+".rate_ramp.duration", "needs a request rate, which a phase of type %s does not have", p.Type)
	if c := p.Cancellation; c != nil {
		v.addIf(!(c.Rate >= 0 && c.Rate <= 100), path+".cancellation.rate", "must be >= 0 (off) and <= 100 percent")
	}
}

// stops checks the stop conditions of a phase. A phase that sends every problem of a benchmark ends with the last one.
func (v *violations) stops(path string, p *Phase, problems bool) {
	v.addIf(p.GracePeriod != nil && p.Duration == nil, path+".grace_period", "needs %s: there is no deadline without one", v.spelling(path+".duration"))
	none := p.Requests == nil && p.Sessions == nil && p.Duration == nil
	whose := path
	if p.Type == PhaseUserCentric {
		whose += ".rate"
	}
	v.addIf(none && !problems && p.Type != PhaseFixedSchedule, whose, "has no end: add %s, %s or %s", v.spelling(path+".requests"), v.spelling(path+".sessions"), v.spelling(path+".duration"))
}

// pace checks settings that belong to one type of phase.
func (v *violations) pace(path string, p *Phase, d *Dataset) {
	v.gaps(path, p)
	v.addIf(p.Type.HasRate() && p.Rate == nil && !p.HasSeries(), path, "of type %s needs rate or rate_series", p.Type)
	if err := checkSeries(p.RatePoints); err != nil {
		v.addIf(true, path+".rate_points", "%v", err)
	}
	v.addIf(p.RateSeries != "" && len(p.RatePoints) > 0, path+".rate_series", "and points: give a file or points")
	v.addIf(p.Rate != nil && p.HasSeries(), path+".rate", "and %s: give one of them", v.spelling(path+".rate_series"))
	users := p.Type == PhaseUserCentric
	v.addIf(p.Users != nil && !users, path+".users", "needs %s: users are for that mode only", v.spelling(path+".type=user_centric"))
	v.addIf(users && p.Rate == nil, path, "of type user_centric needs rate")
	v.addIf(users && p.Users == nil, path+".rate", "needs %s: say how many users share the rate", v.spelling(path+".users"))
	v.addIf(p.Rate != nil && !users && !p.Type.HasRate(), path+".rate", "is not for type %s", p.Type)
	v.addIf(p.HasSeries() && (p.Rate == nil || users) && !p.Type.HasRate(), path+".rate_series", "is not for type %s", p.Type)
	if users && p.Users != nil {
		v.addIf(p.Requests != nil && *p.Requests < *p.Users, path+".requests", "%d is below %s %d", Value(p.Requests), v.spelling(path+".users"), *p.Users)
		v.addIf(p.Sessions != nil && *p.Sessions < *p.Users, path+".sessions", "%d is below %s %d", Value(p.Sessions), v.spelling(path+".users"), *p.Users)
		v.addIf(d.Type == DatasetSynthetic && d.Turns.MeanOr(1) < 2, path+".rate", "with users needs conversations of at least 2 turns: %s 2 or more", v.spelling("benchmark.datasets."+d.Name+".turns.mean"))
	}
	v.schedule(path, p, d)
}

// gaps rejects a shape of gaps if the phase has no random gaps.
func (v *violations) gaps(path string, p *Phase) {
	switch at := path + ".smoothness"; {
	case p.Smoothness == nil || p.Type == PhaseGamma:
	case p.Type == PhaseUserCentric:
		v.addIf(true, at, "and %s: users do not arrive by a distribution of gaps", v.spelling(path+".type=user_centric"))
	case p.Type.HasRate():
		v.addIf(true, at, "is for gamma gaps, not for %s %s", v.spelling(path+".type"), p.Type)
	default:
		v.addIf(true, at, "needs %s: there are no gaps to shape", v.spelling(path+".rate"))
	}
}

// schedule checks the settings of a fixed schedule.
func (v *violations) schedule(path string, p *Phase, d *Dataset) {
	fixed := p.Type == PhaseFixedSchedule
	v.addIf(fixed && d.Type == DatasetSynthetic, path+".type", "replays the times of a recording: name its file with %s", v.spelling("benchmark.datasets."+d.Name+".path"))
	for key, given := range map[string]bool{"start_offset": p.StartOffset != nil, "end_offset": p.EndOffset != nil, "auto_offset": p.AutoOffset != nil} {
		v.addIf(!fixed && given, path+"."+key, "is for type fixed_schedule: there is no schedule to shift")
	}
	v.addIf(fixed && Value(p.AutoOffset) && p.StartOffset != nil, path+".auto_offset", "excludes %s: the start offset is the origin already", v.spelling(path+".start_offset"))
	v.addIf(p.StartOffset != nil && p.EndOffset != nil && *p.StartOffset > *p.EndOffset, path+".start_offset", "%d is after %s %d", Value(p.StartOffset), v.spelling(path+".end_offset"), Value(p.EndOffset))
}
