package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/public"
)

// agentx is a run of the scenario over the set that it is made for.
func agentx() *Subject {
	run := config.Default()
	run.Scenario = config.AgentX
	run.Datasets[0] = config.Dataset{Name: "main", Type: config.DatasetPublic, Dataset: "semianalysis_cc_traces_weka_062126"}
	return &Subject{Run: run, Given: func(string) []Setting { return nil }, Mentioned: func(string) bool { return false }, Spell: setting.Spell(config.FlagOf)}
}

func seven() config.Seed { return "7" }

// TestLocks: a scenario fills in what nobody wrote, and names everything that breaks its locks.
func TestLocks(t *testing.T) {
	s := agentx()
	if found := Lock(s, seven); found != nil || s.Unlocked {
		t.Errorf("%+v", found)
	}
	p := s.Profiling()
	from, to := p.Entry()
	extra, _ := s.Run.Endpoint.Extra.Get("ignore_eos")
	if !p.Replays() || *p.Concurrency != 1 || *p.Duration != 1800 || *p.GracePeriod != 30 || *p.SystemIdleCap != 10 || from != 0 || to != 1 ||
		!s.Run.Endpoint.Streaming || string(extra) != "true" || s.Dataset().CacheBustTarget() != "first_turn_prefix" || *s.RandomSeed != "7" {
		t.Errorf("%+v %+v", p, s.Run)
	}

	broken := func(change func(s *Subject)) *Subject {
		s := agentx()
		change(s)
		return s
	}
	seconds := func(n float64) *config.Seconds { return (*config.Seconds)(&n) }
	mentions := func(s *Subject) { s.Mentioned = func(string) bool { return true } }
	for name, change := range map[string]func(s *Subject){
		"--request-rate":                 func(s *Subject) { s.Profiling().Type = config.PhasePoisson },
		"type=fixed_schedule":            func(s *Subject) { s.Profiling().Type = config.PhaseFixedSchedule },
		"--benchmark-duration 899.0":     func(s *Subject) { s.Profiling().Duration = seconds(899) },
		"--system-idle-gap-cap-seconds":  func(s *Subject) { s.Profiling().SystemIdleCap = seconds(9) },
		"--streaming false":              mentions,
		"--cache-bust none":              mentions,
		"--extra-inputs ignore_eos:no":   func(s *Subject) { s.Run.Endpoint.Extra.Set("ignore_eos", json.RawMessage(`"no"`)) },
		"--ignore-trace-delays":          func(s *Subject) { s.Dataset().IgnoreTraceDelays = true },
		"--synthesis-max-isl 9":          func(s *Subject) { n := 9; s.Dataset().Synthesis = &config.Synthesis{MaxISL: &n} },
		"--inter-turn-delay-cap-seconds": func(s *Subject) { s.Dataset().InterTurnDelayCap = seconds(9) },
		"--trace-idle-gap-cap-seconds":   func(s *Subject) { s.Dataset().TraceIdleGapCap = seconds(9) },
		"--public-dataset sharegpt":      func(s *Subject) { s.Dataset().Dataset = "sharegpt" },
		"--hf-weka-dataset me/mine":      func(s *Subject) { s.Dataset().Dataset, s.Dataset().HFWekaDataset = public.AnyAgents, "me/mine" },
		"--input-file traces": func(s *Subject) {
			*s.Dataset() = config.Dataset{Name: "main", Type: config.DatasetFile, Path: "traces"}
			s.File = &custom.FileSample{}
		},
		"sweep": func(s *Subject) { s.Sweep = &config.Sweep{} },
	} {
		s := broken(change)
		found := Lock(s, seven)
		if len(found) == 0 || found[0].Warning || !s.Unlocked || !spoken(found, name, "--unsafe-override runs it anyway") {
			t.Errorf("%s: %+v", name, found)
		}
		s = broken(change)
		s.UnsafeOverride = true
		if found := Lock(s, seven); len(found) == 0 || !found[0].Warning || !s.Unlocked || !spoken(found, name, "not a valid submission") {
			t.Errorf("%s, overridden: %+v", name, found)
		}
	}

	both := broken(func(s *Subject) { s.Profiling().Type, s.Profiling().Duration = config.PhasePoisson, seconds(100) })
	if found := Lock(both, seven); len(found) != 2 || !spoken(found, "--request-rate", "--unsafe-override") || !spoken(found, "--benchmark-duration 100.0", "--unsafe-override") {
		t.Errorf("a rate and a short phase: %+v", found)
	}

	own := agentx()
	own.Datasets[0], own.UnsafeOverride = config.DefaultDataset(), true
	if found := Lock(own, seven); len(found) != 1 || found[0].Warning || !strings.Contains(found[0].Text, "--unsafe-override helps only with recordings") {
		t.Errorf("generated prompts: %+v", found)
	}
	pinned := agentx()
	pinned.Dataset().Dataset, pinned.Dataset().HFWekaDataset = public.AnyAgents, agentxRepository
	if found := Lock(pinned, seven); found != nil {
		t.Errorf("the repository by name: %+v", found)
	}
	pinned.Scenario = ""
	if found := Lock(&Subject{Run: config.Default()}, seven); found != nil {
		t.Errorf("no scenario: %+v", found)
	}
}

// spoken tells whether a finding says both.
func spoken(found []Finding, a, b string) bool {
	for _, f := range found {
		if strings.Contains(f.Text, a) && strings.Contains(f.Text, b) {
			return true
		}
	}
	return false
}
