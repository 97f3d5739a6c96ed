package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// fileBody is a configuration that is accepted in silence; a case of fileLines replaces or adds lines by their first word.
var fileBody = []string{
	"benchmark:",
	"  model: m",
	"  endpoint: {url: h:1}",
	"  tokenizer: {name: builtin}",
	"  dataset: {type: synthetic}",
	"  phases: {type: concurrency, concurrency: 2, requests: 10}",
}

// fileLines are lines of a configuration with what becomes of them, as in ruleLines. Each is the twin of a command line there: the rule is the
// same one, and speaks of file and line.
var fileLines = []struct{ lines, want string }{
	{"", ""},
	{"accuracy: {grader: math}", "!c.yaml:7: benchmark.accuracy needs"},
	{"accuracy: {benchmark: mmlu, grader: maths}", "!c.yaml:7: benchmark.accuracy.grader unknown grader"},
	{"accuracy: {benchmark: mmlu}\ndataset: {type: file, path: bare.jsonl, format: mooncake_trace}", "!c.yaml:5: benchmark.datasets.default.path and c.yaml:7: benchmark.accuracy.benchmark"},
	{"accuracy: {benchmark: mmlu}\nendpoint: {url: h:1, extra: {temperature: 0}}", ""},
	{"endpoint: {url: h:1, type: template}", "!c.yaml:3: benchmark.endpoint.type template needs"},
	{"endpoint: {url: h:1, template: {body: x}}", "!c.yaml:3: benchmark.endpoint.template is for c.yaml: benchmark.endpoint.type template"},
	{"endpoint: {url: h:1, per_chunk_usage: true}", "!c.yaml:3: benchmark.endpoint.per_chunk_usage needs"},
	{"endpoint: {url: h:1, uuid_and_strip: true}", "!c.yaml:3: benchmark.endpoint.uuid_and_strip needs single_turn rows"},
	{"endpoint: {url: h:1, download_video_content: true}", "?c.yaml:3: benchmark.endpoint.download_video_content has no effect"},
	{"endpoint: {url: h:1, backend: vllm}", "?c.yaml:3: benchmark.endpoint.backend has no effect"},
	{"endpoint: {url: h:1, type: dynamic_grpc}", "!c.yaml:3: benchmark.endpoint.type dynamic_grpc needs"},
	{"endpoint: {url: h:1, grpc_method: a.B/C}", "!c.yaml:3: benchmark.endpoint.grpc_method needs an endpoint type"},
	{"endpoint: {url: h:1, type: embeddings, streaming: true}", "?c.yaml:3: benchmark.endpoint.streaming: endpoint type embeddings cannot stream"},
	{"dataset: {type: file, path: bare.jsonl, format: mooncake_trace}\nphases: {type: fixed_schedule}", "!bare.jsonl:1: the first row has no timestamp, which c.yaml:6: benchmark.phases.profiling.type"},
	{"dataset: {type: file, path: trace.jsonl, format: mooncake_trace}\nphases: {type: fixed_schedule}", ""},
	{"dataset: {type: file, path: trace.jsonl, format: mooncake_trace, sampling: random}\nphases: {type: fixed_schedule}", "!c.yaml:5: benchmark.datasets.default.sampling random: c.yaml:6: benchmark.phases.profiling.type"},
	{"dataset: {type: file, path: trace.jsonl, format: mooncake_trace}\nphases: {type: fixed_schedule, rate: 5}", "!c.yaml:6: benchmark.phases.profiling.rate cannot be combined with"},
	{"phases: {type: poisson, rate: 5, rate_series: series.json, requests: 9}", "!c.yaml:6: benchmark.phases.profiling.rate and c.yaml:6: benchmark.phases.profiling.rate_series: give one of them"},
	{"phases: {type: poisson, rate: 5, smoothness: 2, requests: 9}", "!c.yaml:6: benchmark.phases.profiling.smoothness is for gamma gaps, not for c.yaml:6: benchmark.phases.profiling.type poisson"},
	{"phases: {type: gamma, rate: 5, smoothness: 2, requests: 9}", ""},
	{"phases: {type: concurrency, concurrency: 2, requests: 9, users: 3}", "!c.yaml:6: benchmark.phases.profiling.users needs c.yaml:6: benchmark.phases.profiling.type user_centric"},
	{"phases: {type: concurrency, concurrency: 20, requests: 10}", "?c.yaml:6: benchmark.phases.profiling.concurrency 20 is above c.yaml:6: benchmark.phases.profiling.requests 10"},
	{"phases: {type: concurrency, concurrency: 1, requests: 10, concurrency_ramp: 2}", "?c.yaml:6: benchmark.phases.profiling.concurrency_ramp has no effect"},
	{"phases: [{name: main, kind: profiling, type: concurrency, concurrency: 20, requests: 10}]", "?c.yaml:6: benchmark.phases.main.concurrency 20 is above"},
	{"artifacts: {slice_duration: 5}\nphases: {type: concurrency, concurrency: 2, duration: 5}", "?c.yaml:7: benchmark.artifacts.slice_duration is as long as the run"},
	{"artifacts: {records: false, trace: true}", "?c.yaml:7: benchmark.artifacts.trace has no effect"},
	{"dataset: {type: file, path: single.jsonl, format: single_turn, prompts: {isl: 9}}", "?c.yaml:5: benchmark.datasets.default.prompts.isl is for generated prompts"},
	{"dataset: {type: file, path: single.jsonl, format: single_turn, synthesis: {speedup_ratio: 2}}", "?c.yaml:5: benchmark.datasets.default.synthesis needs a trace"},
	{"dataset: {type: file, path: single.jsonl, format: single_turn, synthesis: {speedup_ratio: 1}}", ""},
	{"dataset: {type: file, path: single.jsonl, format: single_turn, block_size: 5}", "?c.yaml:5: benchmark.datasets.default.block_size is for trace files"},
	{"dataset: {type: synthetic, format: single_turn}", "!c.yaml:5: benchmark.datasets.default.format needs"},
	{"dataset: {type: synthetic, filters: {a: b}}", "!c.yaml:5: benchmark.datasets.default.filters needs"},
	{"dataset: {type: synthetic, system_prompt: x, prefix_prompts: {pool_size: 2, length: 9}}", "!c.yaml:5: benchmark.datasets.default.system_prompt and c.yaml:5: benchmark.datasets.default.prefix_prompts.pool_size"},
	{"dataset: {type: synthetic, prompts: {cache_bust: {target: system_prefix}}}", "!c.yaml:5: benchmark.datasets.default.prompts.cache_bust system_prefix needs a system prompt"},
	{"dataset: {type: synthetic, prompts: {cache_bust: {target: warmup_isolation_first_turn}}}", "?c.yaml:5: benchmark.datasets.default.prompts.cache_bust has no effect without a warm-up"},
	{"dataset: {type: synthetic, prompts: {isl: 9, random_range_ratio: '0.3'}}", "!c.yaml:5: benchmark.datasets.default.prompts.random_range_ratio needs"},
	{"dataset: {type: synthetic, prompts: {random_corpus_style: sglang}}", "?c.yaml:5: benchmark.datasets.default.prompts.random_corpus_style has no effect without"},
	{"dataset: {type: synthetic, images: {batch_size: 1}}", ""},
	{"dataset: {type: synthetic, audio: {batch_size: 1}}", ""},
	{"dataset: {type: synthetic, audio: {format: mp3}}", "?c.yaml:5: benchmark.datasets.default.audio.format has no effect"},
	{"dataset: {type: synthetic, video: {batch_size: 1}}", "?c.yaml:5: benchmark.datasets.default.video.batch_size has no effect"},
	{"dataset: {type: synthetic, images: {width: 64, height: 0}}", "?c.yaml:5: benchmark.datasets.default.images.width, c.yaml:5: benchmark.datasets.default.images.height: no images are generated"},
	{"dataset: {type: synthetic, images: {format: jpeg}}", "?c.yaml:5: benchmark.datasets.default.images.format: no images are generated"},
	{"dataset: {type: synthetic, rankings: {passages: 3}}", "?c.yaml:5: benchmark.datasets.default.rankings has no effect: the endpoint type does not rank"},
	{"endpoint: {url: h:1, type: embeddings}\ndataset: {type: synthetic, prompts: {isl: 9, osl: 9}}", "?c.yaml:5: benchmark.datasets.default.prompts.osl has no effect: the endpoint type produces no tokens"},
	{"dataset: {type: synthetic, turns: 0.5}", "!c.yaml:5: benchmark.datasets.default.turns must be >= 1 on average, not 0.5"},
	{"server_metrics: {discovery: {mode: kubernetes, namespace: \"*\", label_selector: app=x, timeout_seconds: 5s}}", ""},
	{"server_metrics: {discovery: {mode: disabled, namespace: x}}", "!c.yaml:7: benchmark.server_metrics.discovery.namespace is for mode auto or kubernetes"},
	{"server_metrics: {discovery: {timeout_seconds: 0}}", "!c.yaml:7: benchmark.server_metrics.discovery.timeout_seconds must be above 0"},
	{"server_metrics: {discovery: {mode: disabled}}", ""},
	{"network_latency: {ping_interval: 2}", "?c.yaml:7: benchmark.network_latency.ping_interval needs"},
	{"multi_run: {num_runs: 1, cooldown_seconds: 5}", "?c.yaml:7: multi_run.cooldown_seconds needs c.yaml:7: multi_run.num_runs above 1"},
	{"multi_run: {num_runs: 2, cooldown_seconds: 5}", ""},
	{"multi_run: {num_runs: 1, vary_seed_per_trial: true}", "?c.yaml:7: multi_run.vary_seed_per_trial has no effect"},
	{"no_sweep_table: true", "?c.yaml:7: no_sweep_table has no effect"},
}

// spelledFlag is a flag that a message begins with or blames.
var spelledFlag = regexp.MustCompile(`(?m)^(error|warning): --`)

// TestRulesOfFiles: what excludes or needs what holds for a file as it does for flags, in the words of the file.
func TestRulesOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range ruleFiles {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range fileLines {
		if err := os.WriteFile("c.yaml", []byte(changedBody(c.lines)), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		status := Main(t.Context(), p, strings.Fields("profile --dry-run --config c.yaml"))
		said := errs.String()
		kind, words := map[byte]string{'!': "error: ", '?': "warning: "}[(c.want + " ")[0]], strings.TrimLeft(c.want, "!?")
		switch {
		case (status != 0) != (kind == "error: "):
			t.Errorf("%s: exit status %d, want %q\n%s", c.lines, status, c.want, said)
		case kind == "" && strings.Contains(said, "warning: "):
			t.Errorf("%s: nothing to warn about\n%s", c.lines, said)
		case !strings.Contains(said, kind+words):
			t.Errorf("%s: want %q\n%s", c.lines, c.want, said)
		case spelledFlag.MatchString(said):
			t.Errorf("%s: a flag is blamed that nobody gave\n%s", c.lines, said)
		}
	}
}

// changedBody is fileBody with some lines instead of those that begin with the same word; keys of the envelope are next to the benchmark.
func changedBody(lines string) string {
	body := append([]string{}, fileBody...)
	for line := range strings.SplitSeq(lines, "\n") {
		word, _, _ := strings.Cut(line, ":")
		at := -1
		for i := range body {
			if strings.HasPrefix(body[i], "  "+word+":") && word != "" {
				at = i
			}
		}
		switch {
		case word == "":
		case at >= 0:
			body[at] = "  " + line
		case word == "multi_run" || word == "no_sweep_table":
			body = append(body, line)
		default:
			body = append(body, "  "+line)
		}
	}
	return strings.Join(body, "\n") + "\n"
}
