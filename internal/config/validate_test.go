package config

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	n := func(v int) *int { return &v }
	f := func(v float64) *float64 { return &v }
	s := func(v Seconds) *Seconds { return &v }
	ms := func(v int64) *int64 { return &v }
	yes := true
	for name, c := range map[string]struct {
		change func(r *Run, p *Phase)
		want   string
	}{
		"schema":      {func(r *Run, _ *Phase) { r.SchemaVersion = "1" }, `schemaVersion must be "2.0"`},
		"api key":     {func(r *Run, _ *Phase) { r.Endpoint.APIKey = "a\r\nX: y" }, `benchmark.endpoint.api_key holds the control character '\r'`},
		"session":     {func(r *Run, _ *Phase) { r.Endpoint.SessionHeader = "A\nB" }, `benchmark.endpoint.session_header "A\nB" is not a valid header name`},
		"header name": {func(r *Run, _ *Phase) { r.Endpoint.Headers = Headers{{"A B", "1"}} }, `benchmark.endpoint.headers "A B" is not a valid header name: it contains ' '`},
		"header":      {func(r *Run, _ *Phase) { r.Endpoint.Headers = Headers{{"A", "1\r\nB: 2"}} }, `benchmark.endpoint.headers.A holds the control character '\r'`},
		"masked":      {func(r *Run, _ *Phase) { r.Endpoint.Extra = Extra{{"api_key", json.RawMessage(`"<redacted>"`)}} }, `extra.api_key is masked`},
		"no model":    {func(r *Run, _ *Phase) { r.Models.Items = nil }, "benchmark.models names no model"},
		"empty model": {func(r *Run, _ *Phase) { r.Models.Items[0].Name = "" }, "benchmark.models.items[0].name is empty"},
		"url":         {func(r *Run, _ *Phase) { r.Endpoint.URLs = []string{"ws://u:p@h"} }, `benchmark.endpoint.urls[0] "ws://<redacted>@h" is not`},
		"no host":     {func(r *Run, _ *Phase) { r.Endpoint.URLs = []string{"http://"} }, "names no host"},
		"reuse":       {func(r *Run, _ *Phase) { r.Endpoint.ConnectionReuse = "x" }, "connection_reuse"},
		"datasets":    {func(r *Run, _ *Phase) { r.Datasets = nil }, "must hold one dataset, not 0"},
		"file":        {func(r *Run, _ *Phase) { r.Dataset().Type = DatasetFile }, "benchmark.datasets.main.path is empty"},
		"isl":         {func(r *Run, _ *Phase) { r.Dataset().Prompts.ISL = Normal(-1, 0) }, "prompts.isl.mean must be >= 0"},
		"all tokens":  {func(r *Run, _ *Phase) { r.Dataset().Entries, r.Dataset().Prompts.ISL = 2_000_000_000, Normal(100, 0) }, "main.entries and benchmark.datasets.main.prompts.isl.mean: 2e+11 prompt tokens in all would be made"},
		"prefixes":    {func(r *Run, _ *Phase) { r.Dataset().PrefixPrompts = &PrefixPrompts{Length: 1, SharedSystemLength: 1} }, "give a prefix pool or shared lengths"},
		"prefix":      {func(r *Run, _ *Phase) { r.Dataset().PrefixPrompts = &PrefixPrompts{PoolSize: -1} }, "pool_size must be >= 0, not -1"},
		"isl value":   {func(r *Run, _ *Phase) { r.Dataset().Prompts.ISL = &Distribution{Value: f(-1)} }, "prompts.isl must be >= 0"},
		"isl stddev":  {func(r *Run, _ *Phase) { r.Dataset().Prompts.ISL = Normal(1, math.Inf(1)) }, "prompts.isl.stddev must be >= 0 and finite"},
		"prompts":     {func(r *Run, _ *Phase) { r.Dataset().SystemPrompt, r.Dataset().SystemPromptFile = "a", "b" }, "system_prompt excludes"},
		"rankings":    {func(r *Run, _ *Phase) { r.Dataset().Rankings = &Rankings{Passages: Normal(-1, 0)} }, "rankings.passages.mean must be >= 1, not -1"},
		"synthesis":   {func(r *Run, _ *Phase) { r.Dataset().Synthesis = &Synthesis{PrefixRootMultiplier: 1} }, "synthesis.speedup_ratio must be > 0"},
		"pairs": {func(r *Run, _ *Phase) {
			r.Dataset().Prompts.SequenceDistribution = []SequencePair{{ISL: *Normal(1, 0), OSL: *Normal(1, 0), Probability: 40}}
		}, "probabilities that sum to 40, not 100"},
		"hook path":    {func(r *Run, _ *Phase) { r.Endpoint.ServerProfiler = &ServerProfiler{StopPath: "/a://b"} }, "server_profiler.stop_path \"/a://b\" is not a path"},
		"hook host":    {func(r *Run, _ *Phase) { r.Endpoint.ResetKVCache = &ResetKVCache{Path: "http://h/x"} }, "reset_kv_cache.path \"http://h/x\" is not a path"},
		"hook tries":   {func(r *Run, _ *Phase) { r.Endpoint.ResetKVCache = &ResetKVCache{MaxRetryBy: s(Forever)} }, "max_retry_seconds must be >= 0 and finite"},
		"hook time":    {func(r *Run, _ *Phase) { r.Endpoint.ResetKVCache = &ResetKVCache{Timeout: s(0)} }, "reset_kv_cache.timeout_seconds must be > 0"},
		"no phase":     {func(r *Run, _ *Phase) { r.Phases = nil }, "hold no profiling phase"},
		"no stop":      {func(_ *Run, p *Phase) { p.Requests = nil }, "benchmark.phases.profiling has no end: add"},
		"requests":     {func(_ *Run, p *Phase) { p.Requests = n(0) }, "profiling.requests must be >= 1"},
		"duration":     {func(_ *Run, p *Phase) { p.Duration = s(0) }, "duration must be > 0"},
		"grace":        {func(_ *Run, p *Phase) { p.GracePeriod = s(1) }, "grace_period needs benchmark.phases.profiling.duration"},
		"concurrency":  {func(_ *Run, p *Phase) { p.Concurrency = n(1 << 21) }, "more than one machine has ports for"},
		"prefill":      {func(_ *Run, p *Phase) { p.PrefillConcurrency = n(1) }, "prefill_concurrency needs benchmark.endpoint.streaming"},
		"prefill high": {func(r *Run, p *Phase) { r.Endpoint.Streaming = true; p.PrefillConcurrency, p.Concurrency = n(3), n(2) }, "3 is above benchmark.phases.profiling.concurrency 2"},
		"inf rate":     {func(_ *Run, p *Phase) { p.Type, p.Rate = PhasePoisson, f(math.Inf(1)) }, "rate must be > 0 and finite"},
		"idle rate":    {func(_ *Run, p *Phase) { p.Rate = f(2) }, "profiling.rate is not for type concurrency"},
		"idle series":  {func(_ *Run, p *Phase) { p.RateSeries = "x" }, "profiling.rate_series is not for type concurrency"},
		"rate":         {func(_ *Run, p *Phase) { p.Type, p.Rate = PhasePoisson, f(0) }, "rate must be > 0"},
		"no rate":      {func(_ *Run, p *Phase) { p.Type = PhasePoisson }, "needs rate or rate_series"},
		"smoothness":   {func(_ *Run, p *Phase) { p.Smoothness = f(1) }, "there are no gaps to shape"},
		"rate ramp":    {func(_ *Run, p *Phase) { p.RateRamp = &Ramp{Duration: 1} }, "rate_ramp.duration needs a request rate"},
		"users":        {func(_ *Run, p *Phase) { p.Users = n(1) }, "type=user_centric: users are for that mode only"},
		"few requests": {func(r *Run, p *Phase) {
			p.Type, p.Users, p.Rate, p.Requests = PhaseUserCentric, n(5), f(1), n(4)
			r.Dataset().Turns = Normal(2, 0)
		}, "requests 4 is below benchmark.phases.profiling.users 5"},
		"single turns": {func(_ *Run, p *Phase) { p.Type, p.Users, p.Rate = PhaseUserCentric, n(1), f(1) }, "at least 2 turns"},
		"schedule":     {func(_ *Run, p *Phase) { p.Type = PhaseFixedSchedule }, "replays the times of a recording"},
		"offsets":      {func(_ *Run, p *Phase) { p.StartOffset = ms(1) }, "start_offset is for type fixed_schedule"},
		"auto offset": {func(r *Run, p *Phase) {
			r.Dataset().Type, r.Dataset().Path, p.Type, p.AutoOffset, p.StartOffset = DatasetFile, "x", PhaseFixedSchedule, &yes, ms(1)
		}, "auto_offset excludes benchmark.phases.profiling.start_offset"},
		"window":       {func(_ *Run, p *Phase) { p.StartOffset, p.EndOffset = ms(2), ms(1) }, "start_offset 2 is after benchmark.phases.profiling.end_offset 1"},
		"cancellation": {func(_ *Run, p *Phase) { p.Cancellation = &Cancellation{Rate: 101} }, "cancellation.rate must be >= 0 and <= 100"},
		"threshold":    {func(_ *Run, p *Phase) { p.FailedRequestThreshold = f(2) }, "failed_request_threshold must be >= 0 and <= 1, not 2"},
		"seamless":     {func(_ *Run, p *Phase) { p.Seamless = true }, "seamless is for phases that follow another"},
		"results":      {func(_ *Run, p *Phase) { p.ExcludeFromResults = true }, "contradicts kind profiling"},
		"runs":         {func(r *Run, _ *Phase) { r.MultiRun.NumRuns = 11 }, "multi_run.num_runs must be >= 1 and <= 10, not 11"},
		"cooldown":     {func(r *Run, _ *Phase) { r.MultiRun.Cooldown = 86401 }, "cooldown_seconds must be >= 0 and <= 86400, not 86401"},
		"confidence":   {func(r *Run, _ *Phase) { r.MultiRun.ConfidenceLevel = 1 }, "confidence_level must be > 0 and < 1, not 1"},
		"empty sweep":  {func(r *Run, _ *Phase) { r.Sweep = &Sweep{Type: SweepGrid, IterationOrder: "repeated"} }, "sweep.parameters is empty"},
	} {
		r := Default()
		r.Models.Items = []Model{{Name: "m"}}
		r.Phases[0].Requests = n(10)
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		c.change(r, &r.Phases[0])
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestValidateReportsAll(t *testing.T) {
	r := Default()
	r.Models.Items = nil
	r.MultiRun.NumRuns = 0
	if err := r.Validate(); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("%v, want three lines: model, stop, runs", err)
	}
}

// TestOneMistake: a value that is not allowed gives one message; rules that compare it with other settings say nothing.
func TestOneMistake(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Run, *Phase)
		want   string
	}{
		"entries":    {func(r *Run, _ *Phase) { r.Dataset().Entries = -3 }, "benchmark.datasets.main.entries must be >= 1, not -3"},
		"no entries": {func(r *Run, _ *Phase) { r.Dataset().Entries = 0 }, "benchmark.datasets.main.entries must be >= 1"},
		"cache bust": {func(r *Run, _ *Phase) { r.Dataset().Prompts.CacheBust.Target = "x" }, `prompts.cache_bust.target "x" is not one of none,`},
		"data's own": {func(r *Run, _ *Phase) { r.Dataset().CacheBust = &CacheBust{Target: "x"} }, `main.cache_bust.target "x" is not one of none,`},
		"kind":       {func(_ *Run, p *Phase) { p.Kind = "x" }, `benchmark.phases.profiling.kind "x" is not one of warmup, profiling`},
		"type":       {func(_ *Run, p *Phase) { p.Type, p.Rate = "x", new(2.0) }, `benchmark.phases.profiling.type "x" is not one of concurrency,`},
		"ping":       {func(r *Run, _ *Phase) { r.NetworkLatency.PingInterval = -3 }, "benchmark.network_latency.ping_interval must be > 0, not -3"},
		"sweep":      {func(r *Run, _ *Phase) { r.Sweep = &Sweep{Type: "x", IterationOrder: "repeated"} }, `sweep.type "x" is not one of grid,`},
	} {
		r := Default()
		r.Models.Items = []Model{{Name: "m"}}
		r.Phases[0].Requests = new(10)
		c.change(r, &r.Phases[0])
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want only %q", name, err, c.want)
		}
	}
}

// TestSweepLimits: numbers and words of a sweep that are not allowed are refused, each with one message. None ends the program.
func TestSweepLimits(t *testing.T) {
	design := func(samples int, d Dimension) *Sweep {
		d.Path = "phases.profiling.concurrency"
		return &Sweep{Type: SweepSobol, IterationOrder: "repeated", Samples: samples, Dimensions: []Dimension{d}}
	}
	search := func(change func(*Sweep)) *Sweep {
		s := &Sweep{
			Type: SweepSearch, IterationOrder: "repeated", MaxIterations: 5, SearchSpace: []SearchDimension{{Path: "phases.profiling.concurrency", Low: 1, High: 9, Kind: "int"}},
			Objectives: []Objective{{Metric: "request_latency", Direction: "minimize"}},
		}
		change(s)
		return s
	}
	for want, sweep := range map[string]*Sweep{
		"sweep.samples must be >= 2 and <= 1048576, not -3":                       design(-3, Dimension{Low: 1, High: 9}),
		"sweep.dimensions[0].choices is empty":                                    design(4, Dimension{Choices: []any{}}),
		"sweep.dimensions[0] needs lo < hi, or choices":                           design(4, Dimension{Low: 9, High: 1}),
		"sweep.dimensions[0].lo must be > 0 for a logarithmic scale":              design(4, Dimension{High: 9, Scale: "log", Kind: "int"}),
		`sweep.dimensions[0].scale "cubic" is not one of linear, log`:             design(4, Dimension{Low: 1, High: 9, Scale: "cubic", Kind: "int"}),
		"sweep.n_initial_points must be >= 1, not -1":                             search(func(s *Sweep) { s.InitialPoints = -1 }),
		"sweep.plateau_window must be >= 2, not 1":                                search(func(s *Sweep) { s.PlateauWindow = 1 }),
		"sweep.improvement_patience must be >= 2, not -1":                         search(func(s *Sweep) { s.ImprovementPatience = -1 }),
		"sweep.monotonic_stability_trials must be >= 1, not -1":                   search(func(s *Sweep) { s.MonotonicStabilityTrials = -1 }),
		"sweep.sla_replicates must be >= 0, not -1":                               search(func(s *Sweep) { s.SLAReplicates = -1 }),
		"sweep.plateau_threshold must be > 0, not -1":                             search(func(s *Sweep) { s.PlateauThreshold = -1 }),
		"sweep.random_seed must be >= 0":                                          search(func(s *Sweep) { s.SearchSeed = new(int64(-1)) }),
		`sweep.optuna_sampler "grid" is not one of gp, tpe, botorch`:              search(func(s *Sweep) { s.OptunaSampler = "grid" }),
		`sweep.objectives[0].stat "p42" is not one of avg, p50, p90, p95, p99`:    search(func(s *Sweep) { s.Objectives[0].Stat = "p42" }),
		`sweep.optuna_terminator "never" is not one of regret, emmr, none`:        search(func(s *Sweep) { s.OptunaTerminator = "never" }),
		`benchmark.server_metrics.discovery.mode "kuberntes" is not one of auto,`: nil,
	} {
		r := Default()
		r.Models.Items = []Model{{Name: "m"}}
		r.Phases[0].Requests, r.Sweep = new(20), sweep
		if sweep == nil {
			r.ServerMetrics.Discovery.Mode = "kuberntes"
		}
		r.TakeFirst()
		if err := r.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want only %q", err, want)
		}
	}
	r := Default()
	r.Models.Items, r.MultiRun.Convergence = []Model{{Name: "m"}}, &Convergence{Metric: "request_latency", Stat: "avg", Mode: "cv", MinRuns: 1}
	r.Phases[0].Requests = new(20)
	if err := r.Validate(); err == nil || err.Error() != "multi_run.convergence.min_runs must be >= 2, not 1" {
		t.Error(err)
	}
}
