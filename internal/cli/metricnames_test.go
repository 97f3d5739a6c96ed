package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfASweep: unknown names of metrics and handlers are reported before anything is sent, with the line, a guess and the known names.
func TestNamesOfASweep(t *testing.T) {
	const head = "benchmark:\n  model: m\n  endpoint: {url: localhost:1}\n  tokenizer: {name: builtin}\n  dataset: {isl: 9, osl: 3}\n" +
		"  phases: {type: concurrency, requests: 2}\n"
	const grid = head + "sweep:\n  type: grid\n  parameters: {concurrency: [1, 2]}\n"
	const search = head + "sweep:\n  type: adaptive_search\n  search_space: [{path: concurrency, lo: 1, hi: 9, kind: int}]\n  max_iterations: 3\n"
	const objective = "  objectives: [{metric: request_throughput, direction: maximize}]\n"
	for file, want := range map[string][]string{
		grid + "  sla_filters: [{metric_tag: time_to_first_tokn, op: lt, threshold: 5}]\n": {
			`:10: sweep.sla_filters[0].metric_tag "time_to_first_tokn": there is no such metric; did you mean time_to_first_token? (aiperf help metrics lists them)`,
		},
		grid + "  post_process: {handler: sla_breach_kne, output_filename: a.json}\n": {
			`:10: sweep.post_process.handler "sla_breach_kne": there is no such handler (did you mean sla_breach_knee?); known are degradation_knee_detect, genai_perf_analyze, `,
		},
		grid + "  post_process: {handler: sla_breach_knee, output_filename: a.json, params: {metric_tag: speed}}\n": {`:10: sweep.post_process.params.metric_tag "speed"`},
		search + "  objectives: [{metric: thruput, direction: maximize}]\n":                                         {`:11: sweep.objectives[0].metric "thruput"`},
		search + objective + "  outcome_constraints: [{metric: pace, op: lt, bound: 4}]\n":                          {`:12: sweep.outcome_constraints[0].metric "pace"`},
		search + objective + "  planner: monotonic_sla\n  sla_tiers:\n" + strings.Repeat("    - {label: a, filters: [{metric_tag: wait, op: lt, threshold: 1}]}\n", 2): {
			`:14: sweep.sla_tiers[0].filters[0].metric_tag "wait"`, `:15: sweep.sla_tiers[1].filters[0].metric_tag "wait"`,
		},
		head + "multi_run: {num_runs: 3, convergence: {metric: calm}}\n":                    {`:7: multi_run.convergence.metric "calm"`},
		grid + "  sla_filters: [{metric_tag: time_to_first_token, op: lt, threshold: 5}]\n": nil,
	} {
		path := filepath.Join(t.TempDir(), "run.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errs := commanded(t, nil, "config", "validate", path)
		if want == nil && (status != 0 || !strings.HasPrefix(out, "Configuration valid")) || want != nil && status != 1 {
			t.Errorf("%s%d %s%s", file, status, out, errs)
		}
		for _, w := range want {
			if !strings.Contains(errs, w) {
				t.Errorf("%s%s, want %s", file, errs, w)
			}
		}
	}
	for flags, want := range map[string]string{
		"--concurrency 1,2 --search-sla ttft:p95:lt:5":   `--search-sla "ttft:p95:lt:5": "ttft": write the full name, time_to_first_token`,
		"--num-profile-runs 3 --convergence-metric calm": `--convergence-metric "calm": there is no such metric`,
	} {
		args := append(strings.Fields("profile --dry-run --model m --url localhost:1 --tokenizer builtin"), strings.Fields(flags)...)
		if status, _, errs := commanded(t, nil, args...); status == 0 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %s", flags, status, errs)
		}
	}
}
