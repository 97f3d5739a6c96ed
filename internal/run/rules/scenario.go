package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/public"
)

// lockedSetting checks the settings that a scenario fixes and collects the findings.
type lockedSetting struct {
	s     *Subject
	found []Finding
	fatal bool // a finding that cannot be overridden
}

// Values of the scenario AgentX.
const (
	agentxRepository = "semianalysisai/cc-traces-weka-062126"
	agentxDuration   = 1800 // s, the default
	agentxShortest   = 900
	agentxIdleCap    = 10
	agentxMarker     = "first_turn_prefix"
)

// Lock sets the settings of a run's scenario that the user did not give, and reports those that break its locks. With unsafe_override the user's
// values stay, the findings are warnings, and the run is marked as Unlocked. A run without recordings is refused even then. seed draws a seed for a
// run that has none.
func Lock(s *Subject, seed func() config.Seed) []Finding {
	if s.Scenario != config.AgentX {
		return nil
	}
	l := &lockedSetting{s: s}
	l.pace()
	l.requests()
	l.data()
	if s.RandomSeed == nil { // a submission must be reproducible
		drawn := seed()
		s.RandomSeed = &drawn
	}
	s.Unlocked = len(l.found) > 0
	if s.UnsafeOverride && !l.fatal {
		for i := range l.found {
			l.found[i].Warning = true
			l.found[i].Text += ": the result is not a valid submission"
		}
		return l.found
	}
	for i := range l.found {
		if !l.fatal {
			l.found[i].Text += "; " + s.Spell.As("unsafe_override") + " runs it anyway, but the result is not a valid submission"
		}
	}
	return l.found
}

// breaks adds a finding: a setting breaks a lock. is is its value; "" = it has none to show.
func (l *lockedSetting) breaks(key, is, want string) {
	text := l.s.Spell.As(key)
	if given := l.s.given(key); len(given) > 0 {
		var names []string
		for _, one := range given {
			names = append(names, one.Text)
		}
		text = strings.Join(names, ", ")
	}
	if is != "" {
		text += " " + is
	}
	l.found = append(l.found, Finding{Text: fmt.Sprintf("%s: %s %s %s", text, l.s.Spell.As("scenario"), l.s.Scenario, want)})
}

// pace locks the phases: a replay that is long enough, starts anywhere in the recordings, and has no long pauses of all agents.
func (l *lockedSetting) pace() {
	s := l.s
	if s.Sweep != nil {
		l.breaks("sweep", "", "is one fixed run and takes no sweep")
	}
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.Kind != config.KindProfiling {
			continue
		}
		at := "phases." + p.Name + "."
		if p.Type != config.PhaseConcurrency {
			key := at + "rate"
			if p.Type == config.PhaseFixedSchedule {
				key = at + "type=fixed_schedule"
			}
			l.breaks(key, "", "replays agents at their own pace, not by "+strings.ReplaceAll(string(p.Type), "_", " "))
			l.short(p, at)
			continue
		}
		p.TimingMode = config.TimingReplay
		if p.Concurrency == nil {
			one := 1
			p.Concurrency = &one
		}
		l.length(p, at)
		if p.StartMin == nil {
			p.StartMin = new(float64)
		}
		if p.StartMax == nil {
			most := 1.0
			p.StartMax = &most
		}
		switch least := config.Seconds(agentxIdleCap); {
		case p.SystemIdleCap == nil:
			p.SystemIdleCap = &least
		case *p.SystemIdleCap != least:
			l.breaks(at+"system_idle_gap_cap_seconds", config.FormatFloat(float64(*p.SystemIdleCap)), fmt.Sprintf("locks it to %d s", agentxIdleCap))
		}
	}
}

// length sets the usual length of a phase if none is given, and checks that it is at least as long as a steady state.
func (l *lockedSetting) length(p *config.Phase, at string) {
	if p.Duration == nil {
		usual := config.Seconds(agentxDuration)
		p.Duration = &usual
	}
	if p.GracePeriod == nil {
		grace := config.Seconds(30)
		p.GracePeriod = &grace
	}
	l.short(p, at)
}

// short reports a given duration that is shorter than a steady state.
func (l *lockedSetting) short(p *config.Phase, at string) {
	if p.Duration != nil && *p.Duration < agentxShortest {
		l.breaks(at+"duration", config.FormatFloat(float64(*p.Duration)), fmt.Sprintf("takes %d s or more to reach a steady state", agentxShortest))
	}
}

// requests locks what is requested from the server: streams of the recorded length.
func (l *lockedSetting) requests() {
	e := &l.s.Run.Endpoint
	switch {
	case e.Streaming:
	case l.s.Mentioned("endpoint.streaming"):
		l.breaks("endpoint.streaming", "false", "needs streams: it measures the first token and those between")
	default:
		e.Streaming = true
	}
	switch raw, there := e.Extra.Get("ignore_eos"); {
	case !there || bytes.Equal(raw, []byte("null")):
		e.Extra.Set("ignore_eos", json.RawMessage("true"))
	case falsy(raw):
		l.breaks("endpoint.extra", "ignore_eos:"+strings.Trim(string(raw), `"`), "needs ignore_eos true: answers have their recorded length")
	}
}

// falsy reports whether a value in a body turns something off.
func falsy(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return slices.Contains([]string{"false", "0", "no"}, strings.ToLower(strings.TrimSpace(v)))
	}
	return false
}

// data locks what is replayed: recordings of known origin, with their own times and lengths, and a marker in every session.
func (l *lockedSetting) data() {
	s, d := l.s, l.s.Dataset()
	set := s.publicSet()
	const origin = "replays recorded agents of known origin: {datasets.main.dataset} semianalysis_cc_traces_weka_062126 (or another of its name), or " +
		"{datasets.main.hf_weka_dataset} " + agentxRepository
	want := s.Spell.Text(origin)
	switch {
	case set != nil && set.Name == public.AnyAgents && d.HFWekaDataset != agentxRepository:
		l.breaks(data+"hf_weka_dataset", d.HFWekaDataset, want)
	case set != nil && set.Name != public.AnyAgents && !strings.HasPrefix(set.Name, "semianalysis_cc_traces_weka_"):
		l.breaks(data+"dataset", set.Name, want)
	case set == nil && s.File != nil:
		l.breaks(data+"path", d.Path, want)
	case set == nil:
		l.fatal = true
		l.found = append(l.found, Finding{Text: fmt.Sprintf("%s %s %s; %s helps only with recordings", s.Spell.As("scenario"), s.Scenario, want, s.Spell.As("unsafe_override"))})
	}
	if d.IgnoreTraceDelays {
		l.breaks(data+"ignore_trace_delays", "", "replays the recorded times")
	}
	if d.Synthesis != nil && d.Synthesis.MaxISL != nil {
		l.breaks(data+"synthesis.max_isl", fmt.Sprint(*d.Synthesis.MaxISL), "leaves out nothing for its length")
	}
	for _, most := range []struct {
		key string
		is  *config.Seconds
	}{{"inter_turn_delay_cap_seconds", d.InterTurnDelayCap}, {"trace_idle_gap_cap_seconds", d.TraceIdleGapCap}} {
		if most.is != nil {
			l.breaks(data+most.key, config.FormatFloat(float64(*most.is)), "keeps the pauses of the recordings")
		}
	}
	switch is := d.CacheBustTarget(); {
	case is == agentxMarker:
	case s.Mentioned(data+"prompts.cache_bust.target") || s.Mentioned(data+"cache_bust.target"):
		l.breaks(data+"prompts.cache_bust.target", is, "marks every session: "+agentxMarker)
	default:
		d.CacheBust = &config.CacheBust{Target: agentxMarker}
	}
}
