package cli

import (
	"os"
	"strings"
	"testing"
)

// TestAdaptiveKeys: what an adaptive phase needs and excludes, with the line; both spellings are one and the same phase.
func TestAdaptiveKeys(t *testing.T) {
	const flat = "adaptive_scale: true, adaptive_sustain_duration: 2, adaptive_control_max: 8, sla: [{metric_tag: request_latency, op: lt, threshold: 3}]"
	const short = "adaptiveScale: {sustainDuration: 2, control: {max: 8}, sla: {request_latency: {p95: {lt: 3}}}}"
	closed := func(keys string) string { return "{type: concurrency, concurrency: 8, duration: 9, " + keys + "}" }
	without := func(part string) string { return closed(strings.Replace(flat, part, "", 1)) }
	for phase, want := range map[string]string{
		closed(flat):                            "",
		closed(short):                           "",
		closed("adaptive_scale: false"):         "",
		closed("adaptive_scale: {enabled: no}"): "",
		closed("adaptive_scale: {enabled: yes, min_concurrency: 2, max_concurrency: 4, window: 5s, sustain_duration: 5, strategy: {type: Ramp-Until-Fail, step_policy: fixed_percent_step}, sla: {error_rate: {avg: {le: 1}}}}"): "",
		"{type: poisson, rate: 9, duration: 9, " + flat + ", adaptive_control_variable: request_rate, adaptive_control_min: 0.5}":                                                                                                "",
		"{type: user_centric, rate: 9, users: 20, duration: 9, " + flat + ", adaptive_control_variable: users}":                                                                                                                  "",

		without("adaptive_sustain_duration: 2, "):                    "adaptive_scale needs run.yaml: benchmark.phases.profiling.adaptive_sustain_duration",
		"{type: concurrency, requests: 9, " + flat + "}":             "needs run.yaml: benchmark.phases.profiling.duration",
		closed("adaptive_scale: true, adaptive_sustain_duration: 2"): "phases.profiling.sla: the conditions",
		closed(short + ", concurrency_ramp: 3"):                      "moves the concurrency, and so does run.yaml:7",
		closed(flat + ", adaptive_control_min: 9"):                   "goes from 9 to 8",
		closed(flat + ", adaptive_control_min: 1.5"):                 "1.5 is not a whole number",
		closed(flat + ", adaptive_control_variable: request_rate"):   "needs a phase with",
		closed(flat + ", adaptive_control_variable: users"):          "needs type user_centric",
		closed(flat + ", adaptive_control_variable: gpus"):           `"gpus" is not one of concurrency, prefill_concurrency, request_rate, users`,
		closed(flat + ", adaptive_scale_step_policy: big"):           `"big" is not one of sla_margin, fixed_percent_step`,
		closed(flat + ", adaptive_scale_strategy_type: big"):         `"big" is not one of ramp_until_fail`,
		closed(flat + ", adaptive_assessment_period: 0.5"):           "must be >= 1 s",
		closed(flat + ", adaptive_min_completed_requests: 0"):        "adaptive_min_completed_requests must be >= 1",
		closed(flat + ", adaptive_scale_base_step: 0"):               "adaptive_scale_base_step must be >= 1",
		closed(flat + ", adaptive_scale_max_step_multiplier: 0"):     "adaptive_scale_max_step_multiplier must be >= 1",
		closed(flat + ", adaptive_scale_step_percent: 0"):            "adaptive_scale_step_percent must be > 0",
		closed(flat + ", timing_mode: agentic_replay"):               "recorded agents set their own load",
		closed("adaptive_scale: {sustain: 3}"):                       "unknown key adaptive_scale.sustain; known are ",
		closed("adaptive_scale: {control: {least: 3}}"):              "unknown key adaptive_scale.control.least; known are max, min, variable",
		closed("adaptive_scale: {control: 3}"):                       "adaptive_scale.control must be a mapping",
		closed(short + ", adaptive_sustain_duration: 3"):             "the phase says its adaptive_sustain_duration already",
		closed("sla: {request_latency: {lt: 3}}"):                    "request_latency lt has no operators",
		strings.Replace(closed(flat), "request_latency", "e2e", 1):   `run.yaml:7: benchmark.phases.profiling.sla, condition 1: metric_tag "e2e" is not supported; allowed are`,
		strings.Replace(closed(flat), "request_latency", "ttft", 1):  "ttft needs run.yaml: benchmark.endpoint.streaming",
		closed("adaptive_scale_base_step: 3"):                        "warning: run.yaml:7: benchmark.phases.profiling.adaptive_scale_base_step has no effect without adaptive_scale: true",
	} {
		t.Chdir(t.TempDir())
		file := "benchmark:\n  endpoint: {url: localhost:1}\n  tokenizer: {name: builtin}\n  dataset: {isl: 9, turns: 3}\n  model: m\n  artifacts: {dir: out}\n  phases: " + phase + "\n"
		if err := os.WriteFile("run.yaml", []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, errs := commanded(t, nil, "config", "validate", "run.yaml")
		passes := want == "" || strings.HasPrefix(want, "warning")
		if (status == 0) != passes || want == "" && errs != "" || !strings.Contains(errs, strings.TrimPrefix(want, "warning: ")) {
			t.Errorf("%s\n%d %s, want %q", phase, status, errs, want)
		}
	}
}
