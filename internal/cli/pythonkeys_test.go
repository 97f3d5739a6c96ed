package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeysOfThePythonTool: keys without effect in one process are accepted with a warning, keys that ask for the default behaviour without one; keys of features that are not
// built are refused with their line and the replacement.
func TestKeysOfThePythonTool(t *testing.T) {
	const model, phase = "  model: m\n", "  phases: {type: concurrency, requests: 2}\n"
	in := func(keys string) string { return "  phases: {type: concurrency, requests: 2, " + keys + "}\n" }
	search := model + phase + "sweep: {type: adaptive_search, search_space: [{path: concurrency, lo: 1, hi: 4}], max_iterations: 2, " +
		"objectives: [{metric: request_latency, direction: minimize}], "
	for body, want := range map[string]string{
		model + phase + "  runtime: {workersMin: 3}\n":                                                      "warning: run.yaml:7: benchmark.runtime.workers_min has no effect: one process",
		model + phase + "  runtime: {service_run_type: kubernetes}\n":                                       "warning: run.yaml:7: benchmark.runtime.service_run_type has no effect",
		model + phase + "  runtime: {communication: {type: tcp, records_port: 5}}\n":                        "warning: run.yaml:7: benchmark.runtime.communication.records_port has no effect",
		model + phase + "  metrics: {}\n":                                                                   "",
		model + phase + "  metrics: {a: 1}\n":                                                               "error: run.yaml: line 7: unknown key benchmark.metrics",
		model + in("timing_mode: request_rate, adaptive_scale: false"):                                      "",
		model + in("timing_mode: agentic_replay, concurrency: 2"):                                           "",
		model + "  phases: {type: poisson, rate: 2, requests: 2, timing_mode: agentic_replay}\n":            "error: run.yaml:6: benchmark.phases.profiling.timing_mode agentic_replay is for phases of type concurrency, not poisson",
		model + in("timing_mode: fixed_schedule"):                                                           "error: run.yaml:6: benchmark.phases.profiling.timing_mode \"fixed_schedule\" is not one of agentic_replay",
		phase + "  models: {items: [{name: a, tokenizer: {name: builtin}}]}\n":                              "",
		phase + "  models: {items: [{name: a, tokenizer: builtin, modalities: [text]}]}\n":                  "warning: run.yaml:6: benchmark.models.items[0].modalities has no effect",
		phase + "  models: {items: [{name: a, lora: b}]}\n":                                                 "",
		model + phase + "  artifacts: {summary: false}\n":                                                   "",
		model + phase + "  artifacts: {summary: [json, csv]}\n":                                             "",
		model + phase + "  artifacts: {summary: [yaml]}\n":                                                  "error: run.yaml:7: benchmark.artifacts.summary \"yaml\" is not one of json, csv",
		model + phase + "  artifacts: {summary: false}\nmulti_run: {num_runs: 2}\n":                         "run.yaml:7: benchmark.artifacts.summary has no json: a series and its continuation",
		phase + "  models: {strategy: weighted, items: [{name: a, weight: 0.2}, {name: b, weight: 0.8}]}\n": "",
		phase + "  models: {strategy: weighted, items: [{name: a, weight: 0.2}, {name: b, weight: 0.7}]}\n": "sum to 0.89",
		phase + "  models: {items: [{name: a, weight: 1}]}\n":                                               "warning: run.yaml:6: benchmark.models.items[0].weight has no effect: the strategy is round_robin",
		search + "sla_warmup_seconds: 3}\n":                                                                 "",
		search + "sla_warmup_seconds: -3}\n":                                                                "run.yaml:7: sweep.sla_warmup_seconds",
		search + "objective_pooling: pooled}\nmulti_run: {num_runs: 2}\n":                                   "",
		"  artifacts: {records: false}\n" + search + "objective_pooling: pooled}\n":                         "sweep.objective_pooling pooled needs the records of the runs",
	} {
		t.Chdir(t.TempDir())
		file := "benchmark:\n  endpoint: {url: localhost:1}\n  tokenizer: {name: builtin}\n  dataset: {isl: 9}\n" + body
		if err := os.WriteFile(filepath.Join(".", "run.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		status, _, errs := commanded(t, nil, "config", "validate", "run.yaml")
		passes := want == "" || strings.HasPrefix(want, "warning")
		if (status == 0) != passes || want == "" && errs != "" || !strings.Contains(errs, strings.TrimPrefix(strings.TrimPrefix(want, "warning: "), "error: ")) {
			t.Errorf("%s%d %s, want %q", body, status, errs, want)
		}
	}
}
