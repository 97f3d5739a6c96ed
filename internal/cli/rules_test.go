package cli

import (
	"os"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// ruleFiles are what the command lines of TestRules read.
var ruleFiles = map[string]string{
	"trace.jsonl":  `{"timestamp":0,"input_length":9,"hash_ids":[1]}` + "\n" + `{"timestamp":50,"input_length":9,"hash_ids":[1]}`,
	"bare.jsonl":   `{"input_length":9,"hash_ids":[1]}`,
	"single.jsonl": `{"text":"a"}` + "\n" + `{"text":"b"}`,
	"multi.jsonl":  `{"session_id":"s","turns":[{"text":"a"},{"text":"b"}]}`,
	"series.json":  `[{"time_s":0,"qps":1}]`,
	"prompt.txt":   "words",
}

const (
	tracePath = " --input-file trace.jsonl --custom-dataset-type mooncake_trace"
	rowsPath  = " --input-file single.jsonl --custom-dataset-type single_turn"
	users     = " --user-centric-rate 2 --num-users 2"
	turns2    = " --session-turns-mean 2"
)

// ruleLines are command lines with what becomes of them: words of an error after "!", of a warning after "?", nothing when it is accepted
// and nobody warns. Every rule is here with a line that breaks it and a similar line that does not.
var ruleLines = []struct{ line, want string }{
	{"--endpoint-type template", "!needs --extra-inputs payload_template"},
	{"--endpoint-type template --extra-inputs payload_template:nv-embedqa", ""},
	{"--endpoint-type audio_transcription --audio-length-mean 1", "!--tokenizer is for text, which --endpoint-type"}, {"--endpoint-type image_retrieval --image-width-mean 9", "?--tokenizer has no effect"},
	{"--search-space concurrency:1,8:int --search-metric request_latency --search-direction minimize --search-max-iterations 9 --concurrency 1,2", "!a search chooses its cells itself"},
	{"--variant request-rate=2 --variant model=x,arrival-pattern=\"constant\",request-rate=3", ""},
	{"--endpoint-type generate --osl 5 --output-tokens-mean-deterministic", "!has no input for a minimum length"},
	{"--endpoint-type generate --extra-inputs min_tokens:5", ""},
	{"--accuracy-n-shots 2", "!--accuracy-n-shots needs --accuracy-benchmark: one of mmlu, "},
	{"--accuracy-benchmark mmlu", "?--accuracy-benchmark: answers vary unless the temperature is 0; --extra-inputs temperature:0 gives scores"},
	{"--accuracy-benchmark mmlu --extra-inputs temperature:0", ""},
	{"--accuracy-benchmark mmul", "!did you mean mmlu?"},
	{"--accuracy-benchmark mmlu --accuracy-grader maths", "!did you mean math?"},
	{"--accuracy-benchmark mmlu" + rowsPath, "!--input-file and --accuracy-benchmark: its problems are the requests"},
	{"--accuracy-benchmark mmlu --public-dataset sharegpt", "!--public-dataset and --accuracy-benchmark"},
	{"--accuracy-benchmark mmlu --dataset-sampling-strategy random", "!--dataset-sampling-strategy and --accuracy-benchmark: its problems are sent in their order"},
	{"--accuracy-benchmark mmlu --num-sessions 4" + users + turns2, "!--user-centric-rate and --accuracy-benchmark: its problems are single requests"},
	{"--accuracy-benchmark mmlu --isl 5", "?--isl has no effect: the problems of --accuracy-benchmark are the requests"},
	{"--accuracy-benchmark mmlu --endpoint-type embeddings", "!--endpoint-type and --accuracy-benchmark: this endpoint type does not produce text from text"},
	{"--wait-for-model-mode models", "!--wait-for-model-mode needs --wait-for-model-timeout: without it aiperf does not wait"},
	{"--wait-for-model-interval 2", "!--wait-for-model-interval needs --wait-for-model-timeout"},
	{"--api-host 0.0.0.0", "!--api-host needs --api-port"}, {"--api-host 0.0.0.0 --api-port 18080", ""}, {"--api-port 70000", "!--api-port"},
	{"--reset-kv-cache-path foo", `!--reset-kv-cache-path "foo" is not a path on the server`},
	{"--server-profiler-start-path /a://b", "!--server-profiler-start-path"}, {"--server-profiler-stop-path x", "!--server-profiler-stop-path"},
	{"--reset-kv-cache --server-profiler-timeout-seconds 5", ""}, {"--reset-kv-cache-timeout-seconds 0", "!--reset-kv-cache-timeout-seconds"},
	{"--endpoint-type kserve --url grpc://h:1 --reset-kv-cache", "!--reset-kv-cache asks over HTTP"},
	{"--endpoint-type kserve --url grpc://h:1 --server-profiler-stop-path /x", "!--server-profiler-stop-path asks over HTTP"},
	{"--wait-for-model-timeout 5 --wait-for-model-mode models --wait-for-model-interval 2", ""},
	{"--fixed-schedule", "!--fixed-schedule replays the times of a recording: name its file with --input-file"},
	{"--fixed-schedule=false", ""},
	{"--fixed-schedule false", ""},
	{"--fixed-schedule --input-file bare.jsonl --custom-dataset-type mooncake_trace", "!has no timestamp"},
	{"--fixed-schedule" + tracePath, ""},
	{"--fixed-schedule --no-fixed-schedule" + tracePath, "!contradict each other"},
	{"--no-fixed-schedule" + tracePath, ""},
	{"--fixed-schedule --request-rate 5" + tracePath, "!--request-rate cannot be combined with --fixed-schedule"},
	{"--request-rate 5" + tracePath, "!--no-fixed-schedule turns it off"},
	{"--request-rate-series series.json" + tracePath, "!cannot be combined"},
	{"--arrival-smoothness 2" + tracePath, "!cannot be combined"},
	{users + tracePath, "!cannot be combined"},
	{"--request-rate 5 --no-fixed-schedule" + tracePath, ""},
	{"--concurrency 5" + tracePath, ""},
	{"--fixed-schedule --fixed-schedule-auto-offset --fixed-schedule-start-offset 5" + tracePath, "!the start offset is the origin already"},
	{"--fixed-schedule --no-fixed-schedule-auto-offset --fixed-schedule-start-offset 5" + tracePath, ""},
	{"--fixed-schedule --fixed-schedule-start-offset 5 --fixed-schedule-end-offset 4" + tracePath, "!5 is after --fixed-schedule-end-offset 4"},
	{"--fixed-schedule --fixed-schedule-start-offset 5 --fixed-schedule-end-offset 5" + tracePath, ""},
	{"--fixed-schedule --fixed-schedule-start-offset -5" + tracePath, "!must be >= 0"},
	{"--fixed-schedule-end-offset 5", "!is for type fixed_schedule"},
	{"--dataset-sampling-strategy random --fixed-schedule" + tracePath, "!allowed is sequential"},
	{"--dataset-sampling-strategy sequential" + tracePath, ""},
	{"--concurrency 1,2" + tracePath, "!cannot be swept"},
	{"--session-turns-mean 2 --num-sessions 4 --request-rate 5" + users, "!give one of them"},
	{"--session-turns-mean 2 --num-sessions 4 --request-rate-series series.json" + users, "!give one of them"},
	{"--session-turns-mean 2 --num-sessions 4 --arrival-smoothness 2" + users, "!do not arrive by a distribution"},
	{"--session-turns-mean 2 --num-sessions 4 --arrival-pattern constant" + users, "?no effect in this mode"},
	{"--num-sessions 4" + users + turns2, ""},
	{"--num-sessions 4 --session-turn-delay-mean 100 --session-delay-ratio 2" + users + turns2, "?--session-turn-delay-mean, --session-delay-ratio have no effect"},
	{"--num-sessions 4 --user-centric-rate 2" + turns2, "!needs --num-users"},
	{"--num-users 2", "!needs --user-centric-rate"},
	{"--num-sessions 4" + users, "!at least 2 turns"},
	{"--num-sessions 4 --session-turns-mean 1,3" + users, "!at least 2 turns"},
	{"--num-sessions 4" + users + rowsPath, "!are single prompts"},
	{"--num-sessions 4 --input-file multi.jsonl" + users, ""},
	{"--num-sessions 1" + users + turns2, "!--num-sessions 1 is below --num-users 2"},
	{"--request-count 1" + users + turns2, "!--request-count 1 is below --num-users 2"},
	{users + turns2, "!has no end"},
	{"--request-rate 5 --arrival-pattern concurrency_burst", "!contradicts a rate"},
	{"--arrival-pattern concurrency_burst", ""},
	{"--arrival-smoothness 2", "!needs --request-rate"},
	{"--arrival-pattern gamma", "?has no effect without --request-rate"},
	{"--request-rate 5 --arrival-smoothness 2", ""},
	{"--request-rate 5 --arrival-smoothness 2 --arrival-pattern poisson", "!is for gamma gaps"},
	{"--request-rate-ramp-duration 2", "!needs a request rate"},
	{"--request-rate-ramp-duration 2 --num-sessions 4" + users + turns2, "!needs a request rate"},
	{"--request-rate-ramp-duration 2 --request-rate 5", ""},
	{"--request-rate 5 --request-rate-series series.json", "!give one of them"},
	{"--request-rate-series series.json", ""},
	{"--request-rate-series prompt.txt", "!prompt.txt: must be a JSON list"},
	{"--request-rate-series none.json", "!does not exist"},
	{"--per-chunk-usage --streaming", "!--per-chunk-usage needs"},
	{"--per-chunk-usage --use-server-token-count", "!--per-chunk-usage needs"},
	{"--per-chunk-usage --use-server-token-count --streaming --endpoint-type completions", "!--per-chunk-usage needs"},
	{"--per-chunk-usage --use-server-token-count --streaming", ""},
	{"--prefill-concurrency 2", "!needs --streaming"},
	{"--prefill-concurrency 2 --streaming --endpoint-type embeddings", "!needs --streaming"},
	{"--prefill-concurrency 2 --streaming", ""},
	{"--prefill-concurrency 5 --streaming --concurrency 4", "!5 is above --concurrency 4"},
	{"--prefill-concurrency 2,5 --streaming --concurrency 4,8", "!5 is above --concurrency 4"},
	{"--warmup-prefill-concurrency 5 --warmup-request-count 3 --streaming --concurrency 4", "!is above --warmup-concurrency 4"},
	{"--prefill-concurrency 4 --warmup-request-count 3 --warmup-concurrency 2 --streaming --concurrency 4", ""},
	{"--concurrency 20 --request-count 10", "?cannot be reached"},
	{"--concurrency 20 --num-sessions 10", "?cannot be reached"},
	{"--request-count 10 --num-sessions 5", ""},
	{"--warmup-request-count 10 --num-warmup-sessions 5 --num-dataset-entries 90", ""},
	{"--benchmark-grace-period 5", "!needs --benchmark-duration"},
	{"--benchmark-grace-period inf --benchmark-duration 5", ""},
	{"--warmup-grace-period 5 --warmup-request-count 5", "!needs --warmup-duration"},
	{"--warmup-grace-period 5 --warmup-duration 5", ""},
	{"--request-cancellation-delay 0", "!needs --request-cancellation-rate"},
	{"--request-cancellation-delay 0 --request-cancellation-rate 5", ""},
	{"--slice-duration 5 --benchmark-duration 5", "?there will be one slice"},
	{"--custom-dataset-type single_turn", "!needs --input-file"},
	{"--input-file none.jsonl", "!none.jsonl does not exist"},
	{"--synthesis-speedup-ratio 2" + rowsPath, "!needs a trace"},
	{"--synthesis-max-isl 5", "!needs a trace"},
	{"--synthesis-speedup-ratio 1", ""},
	{"--synthesis-speedup-ratio 2" + tracePath, ""},
	{"--prefix-prompt-length 5 --shared-system-prompt-length 5", "!not both"},
	{"--num-prefix-prompts 5 --user-context-prompt-length 5", "!not both"},
	{"--num-prefix-prompts 0 --user-context-prompt-length 5", ""},
	{"--system-prompt x --system-prompt-file prompt.txt", "!excludes --system-prompt-file"},
	{"--system-prompt x --num-prefix-prompts 2", "!not both"},
	{"--system-prompt x" + rowsPath, ""},
	{"--isl 5" + rowsPath, "!is for generated prompts"}, {"--isl-stddev 5" + rowsPath, "!is for generated prompts"}, {"--seq-dist 5,5:100" + rowsPath, "!is for generated prompts"},
	{"--num-prefix-prompts 5" + rowsPath, "!is for generated prompts"}, {"--batch-size-text 2" + rowsPath, "!is for generated prompts"},
	{"--session-turns-mean 2" + rowsPath, "!is for generated prompts"}, {"--session-turn-delay-stddev 2" + rowsPath, "!is for generated prompts"},
	{"--shared-system-prompt-length 5" + rowsPath, ""}, {"--user-context-prompt-length 5" + rowsPath, ""}, {"--session-delay-ratio 2" + rowsPath, ""},
	{"--prompt-corpus random" + tracePath, "!are cut from a text"}, {"--prompt-corpus random" + rowsPath, ""}, {"--prompt-corpus coding" + rowsPath, ""}, {"--prompt-corpus random", ""},
	{"--cache-bust first_turn_prefix", ""}, {"--cache-bust first_turn_prefix --endpoint-type completions", "!is for endpoint types chat"},
	{"--cache-bust system_prefix", "!needs a system prompt"}, {"--cache-bust system_suffix --shared-system-prompt-length 9", ""},
	{"--cache-bust warmup_isolation_first_turn", "?has no effect without a warm-up"}, {"--cache-bust warmup_isolation_first_turn --warmup-request-count 2", ""},
	{"--random-range-ratio 0.3 --isl 9 --osl 9", "?answers may end earlier"}, {"--random-range-ratio 0.3 --isl 9", "!needs --isl and --osl"}, {"--random-range-ratio 0.3 --osl 9", "!needs --isl and --osl"},
	{"--random-range-ratio 1 --isl 9 --osl 9", "!below 1"}, {"--random-range-ratio 1 --isl 9 --osl 9 --random-corpus-style sglang", "?answers may end earlier"},
	{"--random-range-ratio {\"input\":0.1,\"output\":0.2} --isl 9 --osl 9 --random-corpus-style sglang", "!a single ratio for input and output"},
	{"--random-range-ratio {\"input\":0.1,\"out\":0.2} --isl 9 --osl 9", "!the keys must be input and output"},
	{"--random-range-ratio 0.3 --isl 9 --osl 9 --isl-stddev 2", "!exclude each other"}, {"--random-range-ratio 0.3 --isl 9 --osl 9 --seq-dist 5,5:100", "!exclude each other"},
	{"--random-corpus-style sglang", "?has no effect without"}, {"--random-range-ratio 0.3" + rowsPath, "!is for generated prompts"},
	{"--isl-block-size 5" + rowsPath, "!is for trace files with hash ids"},
	{"--isl-block-size 512" + tracePath, ""},
	{"--rankings-passages-mean 5", "?does not rank"},
	{"--endpoint-type cohere_rankings --isl 5", "?has no effect on a ranking type"},
	{"--otel-url http://h:4318/v1/metrics --stream metrics traces", ""}, {"--otel-url h:4318", ""}, {"--otel-url ftp://h", "!want http://HOST:PORT"}, {"--otel-url=", "!the value is empty"}, {"--stream traces", "!needs --otel-url"},
	{"--otel-url http://h --stream none metrics", "!none cannot be combined"}, {"--otel-url http://h --otel-resource-attributes a=", "!want KEY=VALUE"}, {"--gen-ai-provider x", "!needs --otel-url"},
	{"--mlflow-tag a:b", "!needs --mlflow-tracking-uri"}, {"--mlflow-tracking-uri http://h --mlflow-tag ab", "!want KEY:VALUE"}, {"--mlflow-tracking-uri http://h --mlflow-tag {\"a\":1}", ""},
	{"--mlflow-tracking-uri file:///x", "!want http://HOST:PORT"}, {"--mlflow-tracking-uri http://h --mlflow-artifact-glob [", "!want a pattern"}, {"--wandb-entity e", "!needs --wandb-project"},
	{"--web", ""}, {"--web=8090", ""}, {"--web=:0 --api-token x", ""}, {"--web=host:port", "!--web host:port: want HOST:PORT"}, {"--web --api-host 0.0.0.0", "!--api-host needs --api-port"},
	{"--junit /dev/null/x.xml --fail-if error_rate>0", "!--junit: /dev/null/x.xml cannot be written"}, {"--junit below/x.xml --fail-if error_rate>0", ""},
	{"--metrics-listen 9464", ""}, {"--metrics-listen host:port", "!want HOST:PORT"},
	{"--gpu-telemetry --no-gpu-telemetry", "!contradict each other"},
	{"--artifact-dir trace.jsonl", "!is a file"},
	{"--artifact-dir=", ""},
	{"--zmq-host a --zmq-ipc-path b", "?neither has an effect"},
	{"--profile-run-cooldown-seconds 5", "!needs --num-profile-runs above 1"},
	{"--profile-run-cooldown-seconds 5 --num-profile-runs 2", ""},
	{"--profile-run-cooldown-seconds 86401 --num-profile-runs 2", "!must be >= 0 and <= 86400"},
	{"--no-profile-run-disable-warmup-after-first", "!needs --num-profile-runs above 1"},
	{"--no-profile-run-disable-warmup-after-first --num-profile-runs 2", ""},
	{"--vary-seed-per-trial", "?has no effect with one run"},
	{"--vary-seed-per-trial --num-profile-runs 2", ""},
	{"--warmup-prefill-concurrency-ramp-duration 2", "?has no effect without --streaming"},
	{"--system-prompt=", "!the value is empty"},
	{"--no-set-consistent-seed", "!needs --num-profile-runs above 1 or a sweep"},
	{"--no-set-consistent-seed --concurrency 1,2", ""},
	{"--convergence-threshold 0.2 --num-profile-runs 3", "?has no effect without --convergence-metric"},
	{"--parameter-sweep-same-seed", "?has no effect without a list of values to sweep"}, {"--parameter-sweep-mode independent", "?has no effect without a list"},
	{"--parameter-sweep-cooldown-seconds 3", "?has no effect without a list"}, {"--sweep-type zip", "?has no effect without a list"},
	{"--search-sla request_latency:p99:lt:100", "?has no effect without a sweep or a search"}, {"--search-sla a,b", "!write METRIC:STAT<VALUE"},
	{"--ttft-sla-ms 9 --e2e-sla-ms 9", "?--ttft-sla-ms, --e2e-sla-ms have no effect without --search-recipe"}, {"--ttft-sla-ms 9", "?--ttft-sla-ms has no effect"},
	{"--warmup-concurrency 2", "?--warmup-concurrency has no effect: a warm-up needs one of --warmup"}, {"--synthesis-max-isl 9 --synthesis-max-osl 9", "!need a trace"}, {"--search-sla request_latency:p99:lt:100 --concurrency 1,2", ""},
	{"--variant concurrency=2 --variant a:isl=9,concurrency=3", ""}, {"--variant concurrency=2 --variant isl=9,isl=8", "!isl is given twice"},
	{"--variant concurrency=2 --variant concurency=3", "!there is no setting concurency; a key is a flag without its dashes, or the path of a key in a file; did you mean concurrency?"},
	{"--variant concurrency=2 --variant endpoint.nix=3", "!cell v1: unknown key endpoint.nix"},
	{"--hf-subset x", "!--hf-subset needs --public-dataset"}, {"--wait-for-model-interval 5.0", ""},
	{"--image-batch-size 2", ""}, {"--image-width-mean 9 --image-height-mean 0", "?no images are generated, because a side is 0"}, {"--image-width-mean 9 --image-height-stddev 2", ""},
	{"--audio-batch-size 2", "?has no effect: --audio-length-mean adds audio"},
	{"--parameter-sweep-same-seed --concurrency 1,2", ""},
	{"--sweep-type zip --concurrency 1,2 --isl 1,2,3", "!zip pairs lists of one length"},
	{"--sweep-type zip --concurrency 1,2 --isl 1,2", ""},
	{"--streaming --endpoint-type embeddings", "?cannot stream"},
	{"--osl 5 --endpoint-type embeddings", "?has no effect"},
	{"--measurement-interval 1000", "?as --benchmark-duration"},
	{"--measurement-interval 1000 --request-count 5", "!--measurement-interval and --request-count"},
	{"-p 1000 --benchmark-duration 5", "!-p and --benchmark-duration"},
	{"-p 0", "!must be >= 1"},
	{"--session-concurrency 4 --concurrency 5", "!differ"},
	{"--session-concurrency 4 --concurrency 4", ""},
	{"--session-concurrency 0", ""}, {"--override-config", "?--override-config has no effect: flags always win"},
	{"--profile-export-prefix /tmp/x --concurrency 1,2", "!--profile-export-prefix points outside the run's directory"}, {"--profile-export-prefix ../x --num-profile-runs 2", "!points outside"},
	{"--profile-export-prefix /tmp/x", ""}, {"--profile-export-prefix a/x --concurrency 1,2", ""},
	{"--checkpoint-dir x", "?--resume continues"}, {"--enable-checkpointing", "?--resume continues"},
	{"-- --request-distribution poisson -l 100 --binary-search", "!for --request-distribution write --arrival-pattern poisson (or constant); for -l write --search-sla, or aiperf find-capacity --slo"},
	{"-- --ssl-https-verify-peer 1 -H a:b", "!for --ssl-https-verify-peer write --tls-ca-file, --tls-cert-file, --tls-key-file, --tls-insecure; write -H in front of the --"},
	{"--session-concurrency -1", "!must be >= 1"},
	{"--service-kind openai", "?--endpoint-type decides"},
	{"--service-kind tensorrtllm_engine", "!--service-kind: "},
	{"--service-kind dynamic_grpc", "!needs --grpc-method package.Service/Method"},
	{"--output-tokens-mean-deterministic", "!needs --osl"},
}

// TestRules: what excludes or needs what, each rule broken alone and kept; nothing is written.
func TestRules(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range ruleFiles {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range ruleLines {
		if i%testhome.Stride(5) != 0 {
			continue
		}
		var out, errs strings.Builder
		p := &Program{Streams: Streams{Out: &out, Err: &errs}, FindTokenizer: offline}
		status := Main(t.Context(), p, append(strings.Fields("profile --dry-run -m m --tokenizer builtin"), strings.Fields(c.line)...))
		said := errs.String()
		kind, words := map[byte]string{'!': "error: ", '?': "warning: "}[(c.want + " ")[0]], strings.TrimLeft(c.want, "!?")
		switch {
		case (status != 0) != (kind == "error: "):
			t.Errorf("%s: exit status %d, want %q\n%s", c.line, status, c.want, said)
		case kind == "" && strings.Contains(said, "warning: "):
			t.Errorf("%s: nothing to warn about\n%s", c.line, said)
		case !strings.Contains(said, kind) || !strings.Contains(said, words):
			t.Errorf("%s: want %q\n%s", c.line, c.want, said)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(ruleFiles) {
		t.Errorf("%d files instead of %d (%v)", len(left), len(ruleFiles), err)
	}
}
