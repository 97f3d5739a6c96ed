package cli

import (
	"os"
	"strings"
	"testing"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/testhome"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
)

// trials are, for every flag that is accepted, other than those that say they have no effect: its arguments and what it needs in addition.
// Files: t.jsonl is a trace, s.json a rate series, p.txt a text, c.yaml a configuration.
var trials = map[string][2]string{
	"--num-sessions": {"3", ""}, "--num-dataset-entries": {"7", ""}, "--session-turns-mean": {"2", ""}, "--session-turns-stddev": {"1", ""},
	"--session-turn-delay-mean": {"5", ""}, "--session-turn-delay-stddev": {"2", ""}, "--session-delay-ratio": {"0.5", ""},
	"--inter-turn-delay-cap-seconds": {"1", "--input-file t.jsonl"}, "--batch-size-text": {"2", ""}, "--prompt-corpus": {"coding", ""},
	"--num-prefix-prompts": {"2", ""}, "--prefix-prompt-length": {"9", "--num-prefix-prompts 2"}, "--shared-system-prompt-length": {"9", ""},
	"--user-context-prompt-length": {"9", ""}, "--system-prompt": {"x", ""}, "--system-prompt-file": {"p.txt", ""},
	"--isl": {"9", ""}, "--isl-stddev": {"9", ""}, "--isl-block-size": {"16", "--input-file t.jsonl"}, "--seq-dist": {"5,5:100", ""},
	"--osl": {"9", ""}, "--osl-stddev": {"2", "--osl 9"},
	"--cache-bust":         {"first_turn_prefix", ""},
	"--random-range-ratio": {"0.3", "--isl 9 --osl 9"}, "--random-corpus-style": {"sglang", "--prompt-corpus random"},
	"--rankings-passages-mean": {"3", rankingType}, "--rankings-passages-stddev": {"3", rankingType},
	"--rankings-passages-prompt-token-mean": {"3", rankingType}, "--rankings-passages-prompt-token-stddev": {"3", rankingType},
	"--rankings-query-prompt-token-mean": {"3", rankingType}, "--rankings-query-prompt-token-stddev": {"3", rankingType},
	"--synthesis-speedup-ratio": {"2", "--input-file t.jsonl"}, "--synthesis-prefix-len-multiplier": {"2", "--input-file t.jsonl"},
	"--synthesis-prefix-root-multiplier": {"2", "--input-file t.jsonl"}, "--synthesis-prompt-len-multiplier": {"2", "--input-file t.jsonl"},
	"--synthesis-output-len-multiplier": {"2", "--input-file t.jsonl"}, "--synthesis-max-isl": {"99", "--input-file t.jsonl"}, "--synthesis-max-osl": {"99", "--input-file t.jsonl"},
	"--model": {"other", ""}, "--model-selection-strategy": {"random", ""}, "--endpoint": {"/x", ""}, "--endpoint-type": {"completions", ""}, "--streaming": {},
	"--url": {"h:1", ""}, "--url-strategy": {"round_robin", ""}, "--request-timeout-seconds": {"3", ""}, "--api-key": {"k", ""}, "--transport": {"http", "--endpoint-type kserve"}, "--backend": {"vllm", "--endpoint-type kserve"},
	"--grpc-descriptors": {"p.txt", "--endpoint-type kserve"}, "--grpc-method": {"ModelInfer", "--endpoint-type kserve"},
	"--no-legacy-flags": {}, "--use-legacy-max-tokens": {}, "--use-server-token-count": {}, "--connection-reuse-strategy": {"never", ""}, "--capture": {"auto", ""}, "--wait-for-model-timeout": {"5", ""}, "--wait-for-model-mode": {"models", awaited}, "--wait-for-model-interval": {"2", awaited}, "--http-version": {"2", ""},
	"--api-port": {"9999", ""}, "--api-host": {"0.0.0.0", "--api-port 9999"}, "--api-token": {"secret-of-mine", "--api-port 9999"},
	"--reset-kv-cache": {}, "--reset-kv-cache-timeout-seconds": {"3", ""}, "--reset-kv-cache-path": {"/x", ""},
	"--server-profiler": {}, "--server-profiler-timeout-seconds": {"3", ""}, "--server-profiler-start-path": {"/x", ""}, "--server-profiler-stop-path": {"/x", ""},
	"--tls-ca-file": {"ca.pem", ""}, "--tls-cert-file": {"ca.pem", "--tls-key-file p.txt"}, "--tls-key-file": {"p.txt", "--tls-cert-file ca.pem"}, "--tls-server-name": {"x", ""},
	"--tls-insecure": {}, "--proxy": {"p:1", ""}, "--uds-path": {"p.sock", ""}, "--local-address": {"127.0.0.1", ""}, "--session-header": {"X-A", ""},
	"--per-chunk-usage": {"", "--streaming --use-server-token-count"}, "--tokenizer": {"cl100k_base", ""}, "--tokenizer-revision": {"r", ""}, "--tokenizer-trust-remote-code": {},
	"--apply-chat-template": {}, "--extra-inputs": {"a:1", ""}, "--header": {"A:b", ""}, "--input-file": {"t.jsonl", ""},
	"--custom-dataset-type": {"mooncake_trace", "--input-file t.jsonl"}, "--dataset-sampling-strategy": {"random", ""}, "--random-seed": {"5", ""}, "--config": {"c.yaml", ""},
	"--fixed-schedule": {"", "--input-file t.jsonl --concurrency 1"}, "--no-fixed-schedule": {"", "--input-file t.jsonl"},
	"--fixed-schedule-auto-offset": {"false", "--input-file t.jsonl --fixed-schedule"}, "--fixed-schedule-start-offset": {"1", "--input-file t.jsonl --fixed-schedule"},
	"--fixed-schedule-end-offset": {"9", "--input-file t.jsonl --fixed-schedule"}, "--goodput": {"request_latency:5", ""},
	"--benchmark-duration": {"5", ""}, "--benchmark-grace-period": {"5", "--benchmark-duration 5"}, "--concurrency": {"5", ""}, "--prefill-concurrency": {"2", "--streaming"},
	"--request-rate": {"5", ""}, "--arrival-pattern": {"constant", "--request-rate 5"}, "--arrival-smoothness": {"2", "--request-rate 5"}, "--request-count": {"5", ""},
	"--concurrency-ramp-duration": {"2", "--concurrency 5"}, "--prefill-concurrency-ramp-duration": {"2", "--streaming --prefill-concurrency 2"},
	"--request-rate-ramp-duration": {"2", "--request-rate 5"}, "--request-rate-series": {"s.json", ""}, "--failed-request-threshold": {"0.5", ""},
	"--no-fail-fast":      {},
	"--user-centric-rate": {"5", "--num-users 2 --session-turns-mean 2 --request-count 9"}, "--num-users": {"3", "--user-centric-rate 5 --session-turns-mean 2 --request-count 9"},
	"--warmup-request-count": {"2", ""}, "--warmup-duration": {"2", ""}, "--num-warmup-sessions": {"2", ""}, "--warmup-concurrency": {"2", warm},
	"--warmup-prefill-concurrency": {"1", warm + " --streaming"}, "--warmup-request-rate": {"2", warm}, "--warmup-arrival-pattern": {"constant", warm + " --warmup-request-rate 2"},
	"--warmup-grace-period": {"2", "--warmup-duration 3"}, "--warmup-concurrency-ramp-duration": {"2", warm + " --warmup-concurrency 4"},
	"--warmup-prefill-concurrency-ramp-duration": {"2", warm + " --warmup-prefill-concurrency 4 --streaming"}, "--warmup-request-rate-ramp-duration": {"2", warm + " --warmup-request-rate 2"},
	"--request-cancellation-rate": {"5", ""}, "--request-cancellation-delay": {"5", "--request-cancellation-rate 5"},
	"--artifact-dir": {"x", ""}, "--profile-export-prefix": {"x", ""}, "--export-level": {"raw", ""}, "--slice-duration": {"2", ""},
	"--auto-plot": {}, "--export-outputs-json": {}, "--plot-required": {}, "--generate-plots": {}, "--export-html": {},
	"--export-http-trace": {}, "--show-trace-timing": {}, "--no-server-metrics": {}, "--no-gpu-telemetry": {}, "--server-metrics": {"h:1", ""}, "--server-metrics-formats": {"jsonl", ""},
	"--gpu-telemetry": {"h:1", ""}, "--network-latency-automatic": {}, "--network-latency-mean": {"5", ""}, "--network-latency-ping-interval": {"2", "--network-latency-automatic"}, "--server-metrics-urls": {"h:1", ""},
	"--otel-url": {"http://h:1", ""}, "--stream": {"timing", "--otel-url http://h:1"}, "--otel-resource-attributes": {"a=b", "--otel-url http://h:1"}, "--gen-ai-provider": {"p", "--otel-url http://h:1"},
	"--mlflow-tracking-uri": {"http://h:1", ""}, "--mlflow-experiment": {"x", tracked}, "--mlflow-run-name": {"x", tracked}, "--mlflow-tag": {"a:b", tracked}, "--mlflow-parent-run-id": {"x", tracked},
	"--mlflow-artifact-glob": {"*.json", tracked}, "--wandb-project": {"p", ""}, "--wandb-entity": {"e", "--wandb-project p"}, "--wandb-run-name": {"x", "--wandb-project p"}, "--wandb-tag": {"x", "--wandb-project p"},
	"--web": {}, "--metrics-listen": {"9999", ""}, "--plugins-locked": {"plugins.lock", ""},
	"--machines": {"local:2", ""}, "--machines-listen": {"10.0.0.1:4222", several}, "--machines-loss": {"stop", several}, "--machines-timeout": {"9", several}, "--machines-wait": {"9", several},
	"--machine-shell": {"rsh", several}, "--machines-keys": {"keys", several},
	"--ui": {"simple", ""}, "--log-level": {"debug", ""}, "--verbose": {}, "--extra-verbose": {}, "--stats-interval": {"2", ""}, "--tables": {"all", ""}, "--verbose-report": {},
	"--num-profile-runs": {"2", ""}, "--profile-run-cooldown-seconds": {"2", "--num-profile-runs 2"}, "--confidence-level": {"0.9", "--num-profile-runs 2"},
	"--profile-run-disable-warmup-after-first": {"false", "--num-profile-runs 2"}, "--set-consistent-seed": {"false", "--num-profile-runs 2"}, "--vary-seed-per-trial": {"", "--num-profile-runs 2"},
	"--probe": {}, "--require-stream-completion": {"", "--streaming"},
	"--fail-if": {"error_rate>1", ""}, "--objective": {"error_rate<1%", ""}, "--fail-on-verdict": {"", ""}, "--allow-invalid": {"", "--fail-if error_rate>1"}, "--junit": {"j.xml", ""},
	"--resume":             {"there", "--num-profile-runs 2"},
	"--convergence-metric": {"request_latency", "--num-profile-runs 3"}, "--convergence-stat": {"p50", settles}, "--convergence-mode": {"cv", settles}, "--convergence-threshold": {"0.2", settles},
	"--variant": {"a:concurrency=2", "--variant b:concurrency=3"}, "--search-space": {"concurrency:1,64:int", "--search-metric request_latency --search-direction minimize --search-max-iterations 9"},
	"--search-metric":         {"request_latency", "--search-space concurrency:1,64 --search-direction minimize --search-max-iterations 9"},
	"--search-direction":      {"minimize", "--search-space concurrency:1,64 --search-metric request_latency --search-max-iterations 9"},
	"--search-max-iterations": {"9", "--search-space concurrency:1,64 --search-metric request_latency --search-direction minimize"},
	"--search-stat":           {"p50", searches}, "--search-initial-points": {"3", searches}, "--search-random-seed": {"3", searches}, "--search-planner": {"optuna", searches},
	"--search-percentile-pooling": {"pooled", searches}, "--bo-constraint-mode": {"eic", searches}, "--search-sla": {"request_latency:p95:lt:9", searches},
	"--search-sla-tier": {"request_latency:p95:lt:9", searches + " --search-sla-tier b:request_latency:p95:lt:90"},
	"--search-recipe":   {"concurrency-ramp", ""}, "--ttft-sla-ms": {"9", underSLA}, "--itl-sla-ms": {"9", underSLA}, "--tpot-sla-ms": {"9", underSLA}, "--e2e-sla-ms": {"9", underSLA + " --ttft-sla-ms 5"},
	"--error-rate-sla": {"0.1", underSLA + " --ttft-sla-ms 5"}, "--search-style": {"grid", underSLA + " --ttft-sla-ms 5"}, "--isl-osl-pairs": {"9/9,8/8", "--streaming --search-recipe pareto-sweep"},
	"--slo-attainment-fraction": {"0.5", "--streaming --search-recipe max-goodput-under-slo --ttft-sla-ms 5 --itl-sla-ms 5 --e2e-sla-ms 5"},
	"--degradation-threshold":   {"0.3", ramps}, "--degradation-metric-tag": {"output_token_throughput", ramps}, "--degradation-stat": {"p50", ramps},
	"--concurrency-min": {"2", ramps}, "--concurrency-max": {"99", ramps}, "--concurrency-steps": {"3", ramps},
	"--isl-min": {"99", "--streaming --search-recipe prefill-ttft-curve"}, "--isl-max": {"999", "--streaming --search-recipe prefill-ttft-curve"}, "--isl-steps": {"3", "--streaming --search-recipe prefill-ttft-curve"},
	"--osl-min": {"9", "--streaming --search-recipe decode-itl-curve"}, "--osl-max": {"99", "--streaming --search-recipe decode-itl-curve"}, "--osl-steps": {"3", "--streaming --search-recipe decode-itl-curve"},
	"--parameter-sweep-cooldown-seconds": {"2", "--concurrency 1,2"}, "--parameter-sweep-same-seed": {"", "--concurrency 1,2"}, "--parameter-sweep-mode": {"independent", "--concurrency 1,2"},
	"--sweep-type": {"zip", "--concurrency 1,2"}, "--no-sweep-table": {"", "--concurrency 1,2"}, "--output-tokens-mean-deterministic": {"", "--osl 5"},
	"--request-content-type": {"application/json", "--endpoint-type video_generation"}, "--download-video-content": {"", "--endpoint-type video_generation"},
	"--image-batch-size": {"2", picture}, "--image-width-mean": {"9", ""}, "--image-width-stddev": {"2", picture}, "--image-height-mean": {"9", ""}, "--image-height-stddev": {"2", picture},
	"--image-format": {"jpeg", picture}, "--image-source": {"assets", picture}, "--image-source-sampling": {"shuffle-cycle", picture + " --image-source assets"},
	"--audio-batch-size": {"2", sound}, "--audio-length-mean": {"2", ""}, "--audio-length-stddev": {"0.2", sound}, "--audio-format": {"mp3", sound}, "--audio-depths": {"8,24", sound},
	"--audio-sample-rates": {"8,44.1", sound}, "--audio-num-channels": {"2", sound},
	"--video-batch-size": {"2", clip}, "--video-width": {"64", "--video-height 48"}, "--video-height": {"48", "--video-width 64"}, "--video-duration": {"2", clip}, "--video-fps": {"8", clip},
	"--video-synth-type": {"noise", clip}, "--video-format": {"mp4", clip}, "--video-codec": {"libvpx", clip}, "--video-audio-num-channels": {"1", clip},
	"--video-audio-sample-rate": {"16", clip + " --video-audio-num-channels 1"}, "--video-audio-codec": {"libopus", clip + " --video-audio-num-channels 1"},
	"--video-audio-depth": {"24", clip + " --video-audio-num-channels 1"},
	"--uuid-and-strip":    {"", "--input-file i.jsonl"}, "--measurement-interval": {"5000", ""}, "--session-concurrency": {"5", ""},
	"--hf-weka-dataset": {"a/b", ""}, "--max-context-length": {"9", agentFile}, "--ignore-trace-delays": {"", agentFile}, "--use-think-time-only": {"", agentFile},
	"--trace-idle-gap-cap-seconds": {"9", agentFile}, "--trace-session-sample-ratio": {"0.5", columnFile}, "--max-idle-gap-cap-seconds": {"9", columnFile},
	"--replay-speedup": {"2", columnFile}, "--open-loop-replay": {"false", columnFile}, "--open-loop-strict": {"", columnFile}, "--omit-kv-hints": {"", columnFile},
	"--force-min-tokens": {"false", columnFile},
	"--scenario":         {"inferencex-agentx-mvp", seeded + agentSet}, "--unsafe-override": {"", scenario + " --benchmark-duration 5"},
	"--trajectory-start-min-ratio": {"0.5", scenario}, "--trajectory-start-max-ratio": {"0.5", scenario}, "--burst-phase-starts": {"", scenario}, "--allow-dataset-wrap": {"", scenario},
	"--system-idle-gap-cap-seconds": {"9", scenario + " --unsafe-override"}, "--agentic-cache-warmup-duration": {"9", scenario}, "--agentic-warmup-grace-period": {"9", scenario},
	"--accuracy-benchmark": {"mmlu", ""}, "--accuracy-tasks": {"anatomy", graded}, "--accuracy-n-shots": {"2", graded}, "--accuracy-enable-cot": {"", graded},
	"--accuracy-grader": {"mmlu_pro", graded}, "--accuracy-system-prompt": {"s", graded}, "--accuracy-verbose": {"", graded}, "--accuracy-dataset-path": {".", graded},
	"--input-column":   {"text", "--input-file i.jsonl"},
	"--public-dataset": {"spec_bench", ""}, "--hf-subset": {"other", "--public-dataset mmstar"}, "--public-dataset-path": {".", "--public-dataset mmstar"}, "--dataset-filter": {"harness=claude_code", "--public-dataset exgentic"},
}

const (
	several     = "--machines a,b"
	rankingType = "--endpoint-type nim_rankings"
	settles     = "--num-profile-runs 3 --convergence-metric request_latency"
	searches    = "--search-space concurrency:1,64:int --search-metric request_latency --search-direction minimize --search-max-iterations 9"
	underSLA    = "--streaming --search-recipe max-concurrency-under-sla"
	ramps       = "--search-recipe concurrency-ramp"
	graded      = "--accuracy-benchmark mmlu"
	awaited     = "--wait-for-model-timeout 5"
	warm        = "--warmup-request-count 5"
	picture     = "--image-width-mean 16"
	sound       = "--audio-length-mean 1"
	tracked     = "--mlflow-tracking-uri http://h:1"
	clip        = "--video-width 64 --video-height 48"
	agentFile   = "--input-file w.jsonl"
	agentSet    = "--public-dataset semianalysis_cc_traces_weka_062126"
	seeded      = "--random-seed 7 "
	scenario    = seeded + "--scenario inferencex-agentx-mvp " + agentSet
	columnFile  = "--input-file b.parquet"
)

// single are the flags with one legal value, which is what happens anyway, the one that only refuses others, and a credential of one run, which nothing
// shows (TestAPIToken, in cmd/aiperf, tries it).
var single = map[string]bool{"--api-token": true, "--url-strategy": true, config.NoLegacyFlags: true}

// TestEveryFlagDoesSomething: every flag changes the resolved run, or standard error says why it has no effect.
func TestEveryFlagDoesSomething(t *testing.T) {
	testhome.Slow(t)
	dir := t.TempDir()
	columns, err := os.ReadFile("../workload/dataset/custom/testdata/baseten.parquet")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, text := range map[string]string{
		"b.parquet": string(columns), "w.jsonl": `{"requests":[],"block_size":64}`,
		"plugins.lock": `{"version":1,"packages":[]}`,
		"i.jsonl":      `{"images":["http://h/a.png"],"image_uuids":["u"]}`,
		"t.jsonl":      `{"timestamp":1,"input_length":9,"hash_ids":[1]}`, "s.json": `[{"time_s":0,"qps":1}]`, "p.txt": "words",
		"c.yaml": "benchmark:\n  model: q\n  endpoint: {url: h}\n  tokenizer: {name: builtin}\n  dataset: {type: synthetic}\n  phases: {type: concurrency, requests: 1}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// told is the configuration that a command line resolves to, and the messages.
	told := func(words string) string {
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		Main(t.Context(), p, append([]string{"profile", "--dry-run"}, strings.Fields(words)...))
		return out.String() + errs.String()
	}
	for i := range resolve.Flags.Rows {
		f := &resolve.Flags.Rows[i]
		if f.NotBuilt || f.Name() == "--dry-run" {
			continue
		}
		trial, listed := trials[f.Name()]
		if f.NoEffect != "" {
			trial = [2]string{map[setting.Kind]string{setting.Bool: "", setting.Enum: strings.Join(f.Choices[:min(1, len(f.Choices))], "")}[f.Kind], ""}
			if f.Kind != setting.Bool && f.Kind != setting.Enum {
				trial[0] = "2"
			}
		} else if !listed {
			t.Errorf("%s is in no trial", f.Name())
			continue
		}
		beside := trial[1]
		for _, d := range [][2]string{{"--model", "m"}, {"--tokenizer", "builtin"}} {
			if f.Name() != d[0] && f.Name() != "--config" {
				beside += " " + d[0] + " " + d[1]
			}
		}
		flag := f.Name()
		if trial[0] != "" {
			flag += "=" + trial[0]
		}
		with, without := told(beside+" "+flag), told(beside)
		if with == without && !single[f.Name()] {
			t.Errorf("%s %s changes nothing and nothing is said", flag, beside)
		}
		if strings.Contains(with, "error: ") && !strings.Contains(with, "not built yet") {
			t.Errorf("%s %s: %s", flag, beside, with)
		}
	}
}

// TestEveryKeyIsBuiltOrTold: a key of a file whose settings are not built is refused by name, one without effect is warned of.
func TestEveryKeyIsBuiltOrTold(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, row := range resolve.Flags.Rows {
		if row.Key == "" || row.Env != "" || !row.NotBuilt && row.NoEffect == "" || strings.HasPrefix(row.Key, "sweep.") {
			continue
		}
		run := config.Default()
		run.Models.Items = []config.Model{{Name: "m"}}
		run.Tokenizer.Name = "builtin"
		run.Phases[0].Requests = new(int)
		*run.Phases[0].Requests = 5
		var value any
		switch before := run.Lookup(row.Key); {
		case row.List: // a list may be one word
			continue
		case row.Kind == setting.Bool:
			value = before != true
		case row.Kind == setting.Int:
			value = int64(2)
		case row.Kind == setting.Float:
			value = 0.75
		case row.Kind == setting.Enum:
			value = row.Choices[len(row.Choices)-1]
		default:
			value = "word"
		}
		if run.Put(row.Key, value) != nil {
			continue // a flag that stands for a whole section
		}
		text, err := run.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("c.yaml", text, 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		Main(t.Context(), p, []string{"profile", "--config", "c.yaml", "--dry-run"})
		want := "not built yet"
		if !row.NotBuilt {
			want = "has no effect"
		}
		section := strings.Split(row.Key, ".")[0]
		if !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), section) {
			t.Errorf("%s %v: want %q\n%s", row.Key, value, want, errs.String())
		}
	}
}
