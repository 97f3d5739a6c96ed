package rules

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/config"
)

// loadRules lists which settings of the load exclude or need each other.
var loadRules = []rule{
	{row: "1", problem: func(s *Subject) string {
		if s.File == nil || s.File.Timed || !fixedSchedule(s) {
			return ""
		}
		return s.File.First + ": the first row has no timestamp, which {" + measured + "type=fixed_schedule} needs"
	}},
	{row: "3 E2", keys: []string{measured + "rate", measured + "rate_series", measured + "smoothness"}, when: fixedSchedule, problem: scheduleConflict},
	{row: "3 E2", keys: []string{measured + "users"}, when: scheduleFromFile, problem: scheduleConflict},
	{row: "6 E11", keys: []string{measured + "auto_offset", measured + "start_offset", measured + "end_offset"}, when: scheduleFromFile,
		text: "without {" + measured + "type=fixed_schedule}: without a recorded schedule there is nothing to shift"},
	{row: "8 E13", keys: []string{data + "sampling"}, when: fixedSchedule, problem: func(s *Subject) string {
		if s.Dataset().Sampling == config.SampleSequential {
			return ""
		}
		return string(s.Dataset().Sampling) + ": " + s.schedule() + " sets its own order; allowed is sequential"
	}},
	{row: "9 E17", when: fixedSchedule, problem: func(s *Subject) string {
		var names []string
		for _, a := range s.sweptAxes() {
			names = append(names, s.Spell.As("sweep.parameters."+a.Path))
		}
		if len(names) == 0 {
			return ""
		}
		slices.Sort(names)
		return strings.Join(names, ", ") + ": a list of values cannot be swept over " + s.schedule()
	}},
	{row: "12 E10", keys: []string{measured + "rate"}, when: all(userCentric, func(s *Subject) bool { return s.File != nil && s.File.Format.Single() }),
		text: "needs conversations of several turns; rows of {" + data + "path} are single prompts"},
	{row: "26", keys: []string{measured + "agentic_cache_warmup_duration"}, when: not(replayed), text: "is for an agentic replay: " + howToReplay},
	{row: "26", keys: []string{measured + "agentic_cache_warmup_duration"}, when: all(replayed, func(s *Subject) bool { return s.isGiven("phases.warmup") }),
		problem: func(s *Subject) string {
			return "and " + s.given("phases.warmup")[0].Text + ": a replay has its own warm-up"
		}},
	{row: "26", keys: []string{measured + "trajectory_start_min_ratio", measured + "trajectory_start_max_ratio", measured + "burst_phase_starts",
		measured + "system_idle_gap_cap_seconds", measured + "agentic_warmup_grace_period", data + "synthesis.allow_dataset_wrap"}, when: not(replayed),
		text: "is for an agentic replay: " + howToReplay, level: unused},
	{row: "26", keys: []string{"phases.warmup"}, when: all(replayed, func(s *Subject) bool { return s.Warmup() != nil }),
		text: "has no effect: an agentic replay has its own warm-up", level: warning},
	{row: "26", when: replayed, problem: func(s *Subject) string {
		n := 0
		for i := range s.Phases {
			if s.Phases[i].Kind == config.KindProfiling {
				n++
			}
		}
		if n < 2 {
			return ""
		}
		return fmt.Sprintf("{%stiming_mode} %s is for a single measured phase, not %d", measured, config.TimingReplay, n)
	}},
	{row: "80", keys: []string{"unsafe_override"}, when: func(s *Subject) bool { return s.Scenario == "" }, text: "has no effect without {scenario}", level: warning},
	{row: "19 E1", keys: []string{measured + "prefill_ramp"}, when: notStreaming, text: "needs {endpoint.streaming}: only a stream shows its first token", level: unused},
	{row: "8", keys: []string{"phases.warmup.prefill_ramp"}, when: notStreaming, text: "has no effect without {endpoint.streaming}", level: warning},
	unreachableSlots(measured + "requests"),
	unreachableSlots(measured + "sessions"),
	{row: "8", keys: []string{data + "turn_delay", data + "turn_delay_ratio", data + "inter_turn_delay_cap_seconds"}, when: userCentric,
		text: "has no effect: the users' rate sets their pauses", level: warning},
	{row: "28", keys: []string{"artifacts.slice_duration"}, when: func(s *Subject) bool {
		shortest, _, ends := s.valueRange(measured + "duration")
		return ends && s.Artifacts.SliceDuration != nil && float64(*s.Artifacts.SliceDuration) >= shortest
	}, text: "is as long as the run: there will be one slice", level: warning},
	{row: "8", keys: []string{measured + "concurrency_ramp"}, when: func(s *Subject) bool {
		_, most, limited := s.valueRange(measured + "concurrency")
		return !limited || most <= 1
	}, text: "has no effect: the concurrency is 1 or unlimited", level: warning},
	{row: "8", keys: []string{measured + "prefill_ramp"}, when: func(s *Subject) bool { return s.phase().PrefillConcurrency == nil },
		text: "has no effect without {" + measured + "prefill_concurrency}", level: warning},
}

// howToReplay names the settings that make a run a replay.
const howToReplay = "{scenario}, or timing_mode: " + config.TimingReplay + " of a phase in a file"

// replayed reports whether recorded agents start in the middle of their recordings.
func replayed(s *Subject) bool { return s.phase().Replays() }

// scheduleConflict returns the text for a setting that a fixed schedule excludes.
func scheduleConflict(s *Subject) string { return "cannot be combined with " + s.schedule() }

// unreachableSlots warns if a run has fewer requests or sessions than slots, so that some slots are never used.
func unreachableSlots(key string) rule {
	return rule{row: "21 E21", level: warning, problem: func(s *Subject) string {
		_, slots, limited := s.valueRange(measured + "concurrency")
		least, _, ends := s.valueRange(key)
		if !limited || !ends || slots <= least || !s.isGiven(key) || !s.isGiven(measured+"concurrency") {
			return ""
		}
		return fmt.Sprintf("{%sconcurrency} %v is above {%s} %v and cannot be reached", measured, slots, key, least)
	}}
}
