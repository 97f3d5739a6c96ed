package run

import (
	"fmt"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/trace"
	"aiperf/internal/workload/load"
)

// scenario converts the phases of a run to a scenario of the load generator.
func scenario(b *config.Benchmark) (load.Scenario, error) {
	tuning := b.Environment.Timing
	p := load.Scenario{
		Sampling:    load.Sampling(b.Dataset().Sampling),
		URLs:        len(b.Endpoint.URLs),
		CatchUp:     noneIfZero(duration(&tuning.MaxCatchup)),
		CancelDrain: duration(&tuning.CancelDrainTimeout),
		FailFast:    !tuning.NoFailFast,

		GraphFailFast: b.Environment.DAG.FailFast,
	}
	cut := cancellation(b.Phases)
	phases := b.PhasesSent()
	for i := range phases {
		phase, err := phaseOf(&phases[i], b.As)
		if err != nil {
			return p, err
		}
		if phases[i].Cancellation == nil {
			phase.Cancellation = cut // never applied in a warm-up
		}
		if phase.Mode == load.AgenticReplay {
			phase.Replay = replayOf(b, &phases[i])
		}
		if t := b.Dataset().Synthesis; t != nil { // the start offset is a time of the file, which the speedup moves like those of its rows
			phase.Schedule.Start = trace.Synthesis{Speedup: t.SpeedupRatio}.Instant(phase.Schedule.Start)
		}
		p.Phases = append(p.Phases, phase)
	}
	return p, nil
}

// replayOf returns how recorded agents are started in the middle of their recordings.
func replayOf(b *config.Benchmark, c *config.Phase) load.Replay {
	r := load.Replay{Together: c.BurstStarts, IdleCap: -1, LeadCap: -1, Pressure: duration(c.CacheWarmup)}
	r.From, r.To = c.Entry()
	if c.SystemIdleCap != nil {
		r.IdleCap = duration(c.SystemIdleCap)
	}
	if longest := b.Dataset().TraceIdleGapCap; longest != nil {
		r.LeadCap = duration(longest)
	}
	return r
}

// cancellation returns the cancellation of phases that define none: the first one that a profiling phase defines.
func cancellation(phases []config.Phase) load.Cancellation {
	for i := range phases {
		if c := phases[i].Cancellation; c != nil && phases[i].Kind == config.KindProfiling {
			return cancellationOf(c)
		}
	}
	return load.Cancellation{}
}

func cancellationOf(c *config.Cancellation) load.Cancellation {
	return load.Cancellation{Percent: c.Rate, Delay: duration(&c.Delay)}
}

// noneIfZero converts 0 to the value that means "none" in package load, where 0 means the default.
func noneIfZero(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// modes maps the type of a phase to the algorithm and, if it has one, the distribution of its arrivals.
var modes = map[config.PhaseType]struct {
	mode    load.Mode
	pattern load.Pattern
}{
	config.PhaseConcurrency:   {load.ClosedLoop, ""},
	config.PhaseConstant:      {load.Rate, load.Constant},
	config.PhasePoisson:       {load.Rate, load.Poisson},
	config.PhaseGamma:         {load.Rate, load.Gamma},
	config.PhaseUserCentric:   {load.UserCentric, ""},
	config.PhaseFixedSchedule: {load.FixedSchedule, ""},
}

func phaseOf(c *config.Phase, as func(key string) string) (load.Phase, error) {
	m, ok := modes[c.Type]
	if c.Type.External() {
		m.mode, m.pattern, ok = load.Rate, load.External, true
	}
	if !ok {
		return load.Phase{}, fmt.Errorf("phase %s: type %q is not known", c.Name, c.Type)
	}
	p := load.Phase{
		Name:             c.Name,
		Warmup:           c.Kind == config.KindWarmup,
		Mode:             m.mode,
		Pattern:          m.pattern,
		Rate:             config.Value(c.Rate),
		Smoothness:       config.Value(c.Smoothness),
		RateRamp:         ramp(c.RateRamp),
		Concurrency:      config.Value(c.Concurrency),
		ConcurrencyRamp:  ramp(c.ConcurrencyRamp),
		Prefill:          config.Value(c.PrefillConcurrency),
		PrefillRamp:      ramp(c.PrefillRamp),
		Users:            config.Value(c.Users),
		Requests:         int64(config.Value(c.Requests)),
		Sessions:         int64(config.Value(c.Sessions)),
		Duration:         duration(c.Duration),
		Grace:            grace(c.GracePeriod),
		Seamless:         c.Seamless,
		FailureThreshold: c.FailedRequestThreshold,
	}
	if c.Replays() {
		p.Mode = load.AgenticReplay
	}
	if m.mode == load.FixedSchedule {
		p.Schedule = load.ScheduleZero{Auto: config.Value(c.AutoOffset), Start: float64(config.Value(c.StartOffset))}
	}
	if c.Cancellation != nil {
		p.Cancellation = cancellationOf(c.Cancellation)
	}
	if c.AdaptiveScale {
		adapt(&p, c.Adaptive())
	}
	points, err := c.Series()
	if err != nil {
		return p, fmt.Errorf("%s: %w", as("phases."+c.Name+".rate_series"), err)
	}
	for _, one := range points {
		p.Series = append(p.Series, load.RatePoint{At: one.TimeS, Rate: one.QPS})
	}
	return p, nil
}

// adapt makes the load of a phase adjustable up to its highest value.
func adapt(p *load.Phase, a *config.Adaptive) {
	p.Moving = load.MovableQuantity{Quantity: load.Quantity(a.Variable), From: a.Min}
	switch p.Moving.Quantity {
	case load.SessionSlots:
		p.Concurrency = int(a.Max)
	case load.PrefillSlots:
		p.Prefill = int(a.Max)
	case load.RequestRate:
		p.Rate = a.Max
	case load.UserCount:
		p.Users = int(a.Max)
	}
}

func duration(s *config.Seconds) time.Duration {
	if s == nil {
		return 0
	}
	return s.Duration()
}

// grace returns how long answers may arrive after the duration; negative = without limit.
func grace(s *config.Seconds) time.Duration {
	if s == nil || s.Infinite() {
		return -1
	}
	return s.Duration()
}

func ramp(r *config.Ramp) load.Ramp {
	if r == nil {
		return load.Ramp{}
	}
	return load.Ramp{Duration: duration(&r.Duration), Strategy: load.RampStrategy(r.Strategy)}
}
