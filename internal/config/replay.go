package config

// TimingReplay is the timing mode of a phase that resumes recorded agents in the middle of their recordings.
const TimingReplay = "agentic_replay"

// AgentX is the scenario that replays the recorded agents of one published data set.
const AgentX = "inferencex-agentx-mvp"

// Scenarios are the names of the benchmarks with locked settings.
var Scenarios = []string{AgentX}

// Replays reports whether the phase is a replay.
func (p *Phase) Replays() bool { return p.TimingMode == TimingReplay }

// Entry returns the range of the start position in a recording, as shares of its length.
func (p *Phase) Entry() (from, to float64) {
	from, to = 0.25, 0.75
	if p.StartMin != nil {
		from = *p.StartMin
	}
	if p.StartMax != nil {
		to = *p.StartMax
	}
	return from, to
}

// longestDrain is the maximum default of WarmupGrace, s.
const longestDrain = 300

// Drain returns how long the warm-up of a replay waits for its last answers; nil means without limit.
func (p *Phase) Drain() *Seconds {
	switch {
	case p.WarmupGrace != nil:
		return p.WarmupGrace
	case p.CacheWarmup == nil:
		return nil
	}
	drain := min(*p.CacheWarmup, longestDrain)
	if p.GracePeriod != nil {
		drain = max(drain, *p.GracePeriod)
	}
	return &drain
}

// replay checks the settings of a replay. Package rules rejects them in other phases.
func (v *violations) replay(path string, p *Phase) {
	if p.TimingMode != "" {
		v.oneOf(path+".timing_mode", p.TimingMode, TimingReplay)
	}
	from, to := p.Entry()
	v.addIf(from > to, path+".trajectory_start_min_ratio", "%v is above %s %v", from, v.spelling(path+".trajectory_start_max_ratio"), to)
	if !p.Replays() {
		return
	}
	v.addIf(p.Type != PhaseConcurrency, path+".timing_mode", "%s is for phases of type concurrency, not %s", TimingReplay, p.Type)
	v.addIf(p.Type == PhaseConcurrency && p.Concurrency == nil, path+".timing_mode", "%s needs %s: the number of agents", TimingReplay, v.spelling(path+".concurrency"))
	v.addIf(p.Kind == KindWarmup, path+".timing_mode", "%s is for the measured phase: the warm-up starts by itself", TimingReplay)
}

// ReplayWarmup is the name of the warm-up of a replay, as in the Python tool; no phase of a file can have it.
const ReplayWarmup = "agentic.warmup"

// PhasesSent returns the phases that a run sends. A replay has its own warm-up, which replaces all others.
func (b *Benchmark) PhasesSent() (list []Phase) {
	if p := b.Profiling(); p == nil || !p.Replays() {
		return b.Phases
	}
	for _, p := range b.Phases {
		switch {
		case p.Kind == KindWarmup:
			continue
		case p.Replays():
			w := Phase{Name: ReplayWarmup, Kind: KindWarmup, Type: p.Type, Concurrency: p.Concurrency, PrefillConcurrency: p.PrefillConcurrency,
				TimingMode: p.TimingMode, StartMin: p.StartMin, StartMax: p.StartMax, BurstStarts: p.BurstStarts, SystemIdleCap: p.SystemIdleCap,
				CacheWarmup: p.CacheWarmup, GracePeriod: p.Drain()}
			list = append(list, w)
			p.CacheWarmup = nil
		}
		list = append(list, p)
	}
	return list
}
