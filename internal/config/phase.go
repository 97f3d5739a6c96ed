package config

import (
	"slices"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/setting"
)

// PhaseKind distinguishes measured phases from warm-up.
type PhaseKind string

// The kinds of phases.
const (
	KindWarmup    PhaseKind = "warmup"
	KindProfiling PhaseKind = "profiling"
)

// PhaseType is the rule that determines when requests are sent.
type PhaseType string

// The timing modes.
const (
	PhaseConcurrency   PhaseType = "concurrency"
	PhasePoisson       PhaseType = "poisson"
	PhaseGamma         PhaseType = "gamma"
	PhaseConstant      PhaseType = "constant"
	PhaseUserCentric   PhaseType = "user_centric"
	PhaseFixedSchedule PhaseType = "fixed_schedule"
)

// phaseTypes lists all types.
var phaseTypes = []string{
	string(PhaseConcurrency), string(PhasePoisson), string(PhaseGamma), string(PhaseConstant), string(PhaseUserCentric), string(PhaseFixedSchedule),
}

// PhaseTypes returns the built-in types.
func PhaseTypes() []string { return phaseTypes }

// patterns returns the names of plug-ins that draw intervals.
func patterns() []string { return plugin.Installed().Names("arrival_pattern", phaseTypes) }

// HasRate reports whether requests of the type arrive at a request rate.
func (t PhaseType) HasRate() bool {
	return t == PhasePoisson || t == PhaseGamma || t == PhaseConstant || t.External()
}

// External reports whether a plug-in draws the intervals between requests of the type.
func (t PhaseType) External() bool {
	_, ok, _ := t.Plugin()
	return ok
}

// Plugin returns the plug-in that draws the intervals. ok = false: the type is built in or unknown.
func (t PhaseType) Plugin() (e plugin.Entry, ok bool, err error) {
	return plugin.Installed().Choose("arrival_pattern", string(t), slices.Contains(phaseTypes, string(t)))
}

// Phase is one part of the load. The stop conditions Requests, Sessions and Duration are independent: the first one that is met ends sending.
type Phase struct {
	Name               string    `yaml:"name"`
	Kind               PhaseKind `yaml:"kind"`
	Type               PhaseType `yaml:"type"`
	ExcludeFromResults bool      `yaml:"exclude_from_results"`

	Requests *int     `yaml:"requests,omitempty"` // nil: no limit
	Sessions *int     `yaml:"sessions,omitempty"` // nil: no limit
	Duration *Seconds `yaml:"duration,omitempty"` // nil: no limit
	// GracePeriod is how long to wait for answers after Duration; nil and Forever wait for all of them.
	GracePeriod *Seconds `yaml:"grace_period,omitempty"`

	Concurrency        *int  `yaml:"concurrency,omitempty"` // session slots; nil: unlimited
	ConcurrencyRamp    *Ramp `yaml:"concurrency_ramp,omitempty"`
	PrefillConcurrency *int  `yaml:"prefill_concurrency,omitempty"` // nil: unlimited
	PrefillRamp        *Ramp `yaml:"prefill_ramp,omitempty"`

	Rate       *float64 `yaml:"rate,omitempty"`        // requests per second; user_centric: of all users together
	RateSeries string   `yaml:"rate_series,omitempty"` // file of a piecewise-linear rate; excludes Rate
	// RatePoints is a rate series in the configuration file itself (rate_series: {points: …}). It excludes RateSeries and Rate.
	RatePoints []RatePoint `yaml:"rate_points,omitempty"`
	RateRamp   *Ramp       `yaml:"rate_ramp,omitempty"`
	Smoothness *float64    `yaml:"smoothness,omitempty"` // shape parameter of gamma-distributed gaps; nil: 1.0
	Users      *int        `yaml:"users,omitempty"`      // only for user_centric

	AutoOffset  *bool  `yaml:"auto_offset,omitempty"`  // fixed_schedule: the first timestamp becomes 0; nil for other types
	StartOffset *int64 `yaml:"start_offset,omitempty"` // ms, inclusive
	EndOffset   *int64 `yaml:"end_offset,omitempty"`   // ms, inclusive

	// Of a replay of recorded agents from the middle of their recordings; nil and empty are the defaults.
	TimingMode string   `yaml:"timing_mode,omitempty"`                // TimingReplay, on a phase of type concurrency; empty: no replay
	StartMin   *float64 `yaml:"trajectory_start_min_ratio,omitempty"` // share of a recording, see Entry
	StartMax   *float64 `yaml:"trajectory_start_max_ratio,omitempty"`
	// BurstStarts sends the first requests of the warm-up and of the phase at once.
	BurstStarts bool `yaml:"burst_phase_starts,omitempty"`
	// SystemIdleCap is the maximum time without any request in flight; nil: no limit.
	SystemIdleCap *Seconds `yaml:"system_idle_gap_cap_seconds,omitempty"`
	// CacheWarmup is how long the agents run without pauses before the phase; nil: not at all.
	CacheWarmup *Seconds `yaml:"agentic_cache_warmup_duration,omitempty"`
	WarmupGrace *Seconds `yaml:"agentic_warmup_grace_period,omitempty"` // see Drain

	// AdaptiveScale raises the load until a window violates SLA. Adaptive fills in the defaults of nil and empty values.
	AdaptiveScale         bool        `yaml:"adaptive_scale,omitempty"`
	AdaptiveSustain       *Seconds    `yaml:"adaptive_sustain_duration,omitempty"`
	AdaptiveWindow        *Seconds    `yaml:"adaptive_assessment_period,omitempty"`
	AdaptiveLeast         *int        `yaml:"adaptive_min_completed_requests,omitempty"`
	AdaptiveVariable      string      `yaml:"adaptive_control_variable,omitempty"`
	AdaptiveMin           *float64    `yaml:"adaptive_control_min,omitempty"`
	AdaptiveMax           *float64    `yaml:"adaptive_control_max,omitempty"`
	AdaptiveStrategy      string      `yaml:"adaptive_scale_strategy_type,omitempty"`
	AdaptivePolicy        string      `yaml:"adaptive_scale_step_policy,omitempty"`
	AdaptiveBaseStep      *int        `yaml:"adaptive_scale_base_step,omitempty"`
	AdaptiveMaxMultiplier *int        `yaml:"adaptive_scale_max_step_multiplier,omitempty"`
	AdaptiveStepPercent   *float64    `yaml:"adaptive_scale_step_percent,omitempty"`
	SLA                   []SLAFilter `yaml:"sla,omitempty"`

	Cancellation           *Cancellation `yaml:"cancellation,omitempty"`
	Seamless               bool          `yaml:"seamless"` // start before the previous phase has drained
	FailedRequestThreshold *float64      `yaml:"failed_request_threshold,omitempty"`
}

// Ramp moves a limit gradually from its start value to its target.
type Ramp struct {
	Duration Seconds `yaml:"duration"`
	Strategy string  `yaml:"strategy,omitempty"` // linear (default if empty), exponential, poisson
}

// Cancellation cancels a share of the requests.
type Cancellation struct {
	Rate  float64 `yaml:"rate"`  // percent of requests, 0 < rate <= 100
	Delay Seconds `yaml:"delay"` // time from the end of sending to the cancellation
}

var fixedScheduleRows = group("Fixed Schedule", []setting.Row{
	{Flags: []string{"--fixed-schedule"}, Key: "phases.profiling.type", Manual: true, Common: true, Kind: setting.Bool, Words: true, Help: "replay the timestamps of the input file"},
	{Flags: []string{"--no-fixed-schedule"}, Key: "phases.profiling.type", Manual: true, Kind: setting.Bool, Help: "ignore the timestamps of the input file"},
	{Flags: []string{"--fixed-schedule-auto-offset"}, FalseNames: []string{"--no-fixed-schedule-auto-offset"}, Key: "phases.profiling.auto_offset", Kind: setting.Bool, Default: "on unless a start offset is given", Help: "treat the first timestamp as the start of the run"},
	{Flags: []string{"--fixed-schedule-start-offset"}, Key: "phases.profiling.start_offset", Unit: "ms", Kind: setting.Int, Bounds: ">= 0", Help: "first timestamp to replay, in ms"},
	{Flags: []string{"--fixed-schedule-end-offset"}, Key: "phases.profiling.end_offset", Unit: "ms", Kind: setting.Int, Bounds: ">= 0", Help: "last timestamp to replay, in ms"},
})

var loadGeneratorRows = group("Load Generator", []setting.Row{
	{Flags: []string{"--benchmark-duration"}, Key: "phases.profiling.duration", Manual: true, Common: true, Unit: "s", Kind: setting.Float, Bounds: "> 0", Sweep: true, Help: "stop sending after this many s"},
	{Flags: []string{"--benchmark-grace-period"}, Key: "phases.profiling.grace_period", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "30", Inf: true, Help: "wait this long for answers after the duration, in s"},
	{Flags: []string{"--concurrency"}, Key: "phases.profiling.concurrency", Pace: true, Common: true, Kind: setting.Int, Bounds: ">= 1", Default: "1 without a rate, schedule or users; else unlimited", Sweep: true, Help: "number of concurrent sessions; with --request-rate, the maximum"},
	{Flags: []string{"--prefill-concurrency"}, Key: "phases.profiling.prefill_concurrency", Pace: true, Common: true, Kind: setting.Int, Bounds: ">= 1", Sweep: true, Help: "maximum number of requests still waiting for their first token; needs --streaming"},
	{Flags: []string{"--request-rate"}, Key: "phases.profiling.rate", Manual: true, Pace: true, Common: true, Kind: setting.Float, Bounds: "> 0", Sweep: true, Help: "requests per second, sent without waiting for answers (open loop)"},
	{Flags: []string{"--arrival-pattern", "--request-rate-mode"}, Key: "phases.profiling.type", Manual: true, Common: true, Kind: setting.Enum, Choices: []string{"constant", "poisson", "gamma", "concurrency_burst"}, More: patterns, Default: "poisson", Help: "distribution of the gaps between requests"},
	{Flags: []string{"--arrival-smoothness", "--vllm-burstiness"}, Key: "phases.profiling.smoothness", Manual: true, Kind: setting.Float, Bounds: "> 0", Default: "1", Help: "shape of gamma gaps: 1 is poisson, larger is smoother"},
	{Flags: []string{"--request-count", "--num-requests"}, Key: "phases.profiling.requests", Common: true, Kind: setting.Int, Bounds: ">= 1", Default: "max(10, 2 x concurrency); the rows of a schedule", Sweep: true, Help: "stop after this many requests"},
	{Flags: []string{"--concurrency-ramp-duration"}, Key: "phases.profiling.concurrency_ramp.duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "raise the concurrency to its value in this many s"},
	{Flags: []string{"--prefill-concurrency-ramp-duration"}, Key: "phases.profiling.prefill_ramp.duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "raise the prefill concurrency in this many s"},
	{Flags: []string{"--request-rate-ramp-duration"}, Key: "phases.profiling.rate_ramp.duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "raise the request rate in this many s"},
	{Flags: []string{"--request-rate-series"}, Key: "phases.profiling.rate_series", Manual: true, Pace: true, Kind: setting.Path, Absent: true, Help: "file with a rate that changes over time"},
	{Flags: []string{"--failed-request-threshold"}, Key: "phases.profiling.failed_request_threshold", Kind: setting.Float, Bounds: ">= 0, <= 1", Help: "end the run when more than this share of requests fails"},
	{Flags: []string{"--no-fail-fast"}, Key: "environment.timing.no_fail_fast", Kind: setting.Bool, Help: "with a duration, continue after 100 failed connections in a row (3 s or more)"},
	{Flags: []string{"--trajectory-start-min-ratio"}, Key: "phases.profiling.trajectory_start_min_ratio", Kind: setting.Float, Bounds: ">= 0, <= 1", Default: "0.25; 0 in a scenario", Help: "agentic replay: earliest start within a recording, as a share"},
	{Flags: []string{"--trajectory-start-max-ratio"}, Key: "phases.profiling.trajectory_start_max_ratio", Kind: setting.Float, Bounds: ">= 0, <= 1", Default: "0.75; 1 in a scenario", Help: "agentic replay: latest start within a recording, as a share"},
	{Flags: []string{"--burst-phase-starts"}, Key: "phases.profiling.burst_phase_starts", Kind: setting.Bool, Help: "agentic replay: send the first requests of a phase together"},
	{Flags: []string{"--trace-idle-gap-cap-seconds"}, Key: "datasets.main.trace_idle_gap_cap_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Help: "recorded agents: upper limit for a pause within a trace, in s"},
	{Flags: []string{"--system-idle-gap-cap-seconds"}, Key: "phases.profiling.system_idle_gap_cap_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "none; 10 in a scenario", Help: "agentic replay: longest time without a request in flight, in s"},
})

var userCentricRateRows = group("User-Centric Rate", []setting.Row{
	{Flags: []string{"--user-centric-rate"}, Key: "phases.profiling.rate", Manual: true, Pace: true, Kind: setting.Float, Bounds: "> 0", Help: "total request rate of all users; each user waits for answers"},
	{Flags: []string{"--num-users"}, Key: "phases.profiling.users", Kind: setting.Int, Bounds: ">= 1", Sweep: true, Help: "number of users for --user-centric-rate"},
})

var warmupRows = group("Warmup", []setting.Row{
	{Flags: []string{"--warmup-request-count", "--num-warmup-requests"}, Key: "phases.warmup.requests", Trigger: true, Common: true, Kind: setting.Int, Bounds: ">= 0", Zero: true, Help: "warm up with this many requests; 0 = none"},
	{Flags: []string{"--warmup-duration"}, Key: "phases.warmup.duration", Trigger: true, Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "warm up for this many s"},
	{Flags: []string{"--agentic-cache-warmup-duration"}, Key: "phases.profiling.agentic_cache_warmup_duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "agentic replay: warm-up without pauses after priming the caches, in s"},
	{Flags: []string{"--agentic-warmup-grace-period"}, Key: "phases.profiling.agentic_warmup_grace_period", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "unlimited; with --agentic-cache-warmup-duration the same time, at most 300", Help: "agentic replay: longest wait for the warm-up's last answers, in s"},
	{Flags: []string{"--num-warmup-sessions"}, Hidden: []string{"--warmup-num-sessions"}, Key: "phases.warmup.sessions", Trigger: true, Kind: setting.Int, Bounds: ">= 1", Help: "warm up with this many sessions"},
	{Flags: []string{"--warmup-concurrency"}, Key: "phases.warmup.concurrency", Kind: setting.Int, Bounds: ">= 1", Default: "as in the run", Help: "concurrency of the warm-up"},
	{Flags: []string{"--warmup-prefill-concurrency"}, Key: "phases.warmup.prefill_concurrency", Kind: setting.Int, Bounds: ">= 1", Default: "as in the run", Help: "prefill concurrency of the warm-up"},
	{Flags: []string{"--warmup-request-rate"}, Key: "phases.warmup.rate", Manual: true, Kind: setting.Float, Bounds: "> 0", Default: "as in the run", Help: "request rate of the warm-up"},
	{Flags: []string{"--warmup-arrival-pattern"}, Key: "phases.warmup.type", Manual: true, Kind: setting.Enum, Choices: []string{"constant", "poisson", "gamma", "concurrency_burst"}, More: patterns, Default: "as in the run", Help: "arrival pattern of the warm-up"},
	{Flags: []string{"--warmup-grace-period"}, Key: "phases.warmup.grace_period", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "unlimited", Inf: true, Help: "wait this long for answers after --warmup-duration, in s"},
	{Flags: []string{"--warmup-concurrency-ramp-duration"}, Key: "phases.warmup.concurrency_ramp.duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "concurrency ramp of the warm-up, in s"},
	{Flags: []string{"--warmup-prefill-concurrency-ramp-duration"}, Key: "phases.warmup.prefill_ramp.duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "prefill ramp of the warm-up, in s"},
	{Flags: []string{"--warmup-request-rate-ramp-duration"}, Key: "phases.warmup.rate_ramp.duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "rate ramp of the warm-up, in s"},
})

var requestCancellationRows = group("Request Cancellation", []setting.Row{
	{Flags: []string{"--request-cancellation-rate"}, Key: "phases.profiling.cancellation.rate", Manual: true, Kind: setting.Float, Bounds: ">= 0, <= 100", Zero: true, Help: "percentage of requests to cancel; 0 = none"},
	{Flags: []string{"--request-cancellation-delay"}, Key: "phases.profiling.cancellation.delay", Manual: true, Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "time from sending to cancellation, in s"},
})

var scenarioRows = group("Scenario", []setting.Row{
	{Flags: []string{"--scenario"}, Key: "scenario", Kind: setting.Enum, Choices: Scenarios, Help: "named benchmark with locked settings"},
	{Flags: []string{"--unsafe-override"}, Key: "unsafe_override", Kind: setting.Bool, Help: "allow settings that the scenario forbids; the result is not a valid submission"},
})
