package setting

import (
	"slices"
	"strings"
)

// peerWord maps a setting of other load generators to what to write here.
type peerWord struct {
	words string // spellings, separated by blanks; a final * matches any ending
	write string // flags first, or "not needed: why"
}

// peers are the flags of vLLM's and SGLang's bench, guidellm, llmperf, k6, oha, hey, wrk, ab, vegeta, locust, curl and perf_analyzer.
var peers = []peerWord{
	{"-c --max-concurrency --num-concurrent-requests --vus --users --connections --clients --concurrent-requests --max-in-flight --concurrency-range", "--concurrency"},
	{"-d -z --duration --max-seconds --run-time --max-duration --test-duration --time", "--benchmark-duration"},
	{"-n --requests --max-requests --iterations --num-requests-total --max-num-completed-requests --total-requests", "--request-count"},
	{"-q -R --rate --rps --qps --request-rate-range --target-rps --requests-per-second --spawn-rate", "--request-rate"},
	{"--rate-type --request-distribution", "--arrival-pattern poisson (or constant)"},
	{"--burstiness", "--arrival-smoothness"},
	{"--ramp-up --ramp-up-strategy --rampup --ramp --stages --periodic-concurrency-range", "--concurrency-ramp-duration, or --request-rate-ramp-duration"},
	{"--request-intervals", "--request-rate-series, or times in an input file (--fixed-schedule)"},
	{"--max-tokens --max-completion-tokens --max-new-tokens --output-len --random-output-len --random-output --sharegpt-output-len --output-tokens --mean-output-tokens", "--osl"},
	{"--stddev-output-tokens", "--osl-stddev"},
	{"--input-len --random-input-len --random-input --input-tokens --mean-input-tokens --prompt-tokens", "--isl"},
	{"--stddev-input-tokens", "--isl-stddev"},
	{"--random-prefix-len --prefix-len --gsp-system-prompt-len", "--shared-system-prompt-length, or --prefix-prompt-length"},
	{"--dataset --data --dataset-path --prompts --prompt-file --input --input-data --file", "--input-file FILE, or --public-dataset NAME"},
	{"--dataset-name --hf-dataset --hf-name", "--public-dataset, or --input-file FILE"},
	{"--prompt-column --data-column --text-column", "--input-column"},
	{"--base-url --target --server --api-base --address", "--url"},
	{"--host --port", "--url http://HOST:PORT"},
	{"--served-model-name --model-id", "--model"},
	{"--processor --tokenizer-path", "--tokenizer"},
	{"--trust-remote-code", "--tokenizer-trust-remote-code"},
	{"--token --auth --auth-token --key --openai-api-key", "--api-key"},
	{"--headers", "--header"},
	{"-T --content-type", "--request-content-type"},
	{"--temperature --top-p --top-k --min-p --stop --logprobs --frequency-penalty --presence-penalty --repetition-penalty --ignore-eos --min-tokens", "--extra-inputs NAME:VALUE"},
	{"--extra-body --extra-request-body --body --additional-sampling-params", "--extra-inputs"},
	{"-t", "--request-timeout-seconds, or --benchmark-duration for the length of the run"},
	{"--timeout --request-timeout --max-time --connect-timeout", "--request-timeout-seconds"},
	{"--stream --is-stream --streamed --enable-streaming", "--streaming"},
	{"--disable-stream --disable-streaming --non-streaming", "not needed: answers are streamed only with --streaming"},
	{"--html --report-html --export-report", "--export-html"},
	{"--json --csv --save-result --summary-export --print --report", "not needed: every run writes JSON and CSV files to --artifact-dir"},
	{"-o --out --output --output-path --output-file --output-dir --result-dir --results-dir --result-filename --outputs", "--artifact-dir"},
	{"--save-detailed --raw", "--export-level raw"},
	{"--latency -L --percentile-metrics --metric-percentiles --percentile --latency-correction", "not needed: every report has all metrics and percentiles"},
	{"--num-warmups --warmup-requests --warmup --warmup-percent --warmup-num-requests", "--warmup-request-count"},
	{"--warmup-time --warmup-interval --warmup-interval-seconds", "--warmup-duration"},
	{"--seed", "--random-seed"},
	{"--disable-tqdm --no-tui --headless --quiet --no-progress", "--ui none"},
	{"--http2 --h2", "--http-version 2"},
	{"-k --insecure --insecure-skip-tls-verify --skip-tls-verify", "--tls-insecure"},
	{"--cacert --cert-file --root-ca --ssl-https-ca-certificates-file", "--tls-ca-file"},
	{"--cert --client-cert", "--tls-cert-file"},
	{"--ssl-*", "--tls-ca-file, --tls-cert-file, --tls-key-file, --tls-insecure"},
	{"--unix-socket", "--uds-path"},
	{"-x", "--proxy"},
	{"--disable-keepalive --no-keepalive", "--connection-reuse-strategy never"},
	{"--flush-cache", "--reset-kv-cache"},
	{"--profile", "--server-profiler"},
	{"--max-errors --max-error-rate --abort-on-fail", "--failed-request-threshold"},
	{"--thresholds --threshold --sla", "--slo, or --fail-if"},
	{"-l --latency-threshold --binary-search", "--search-sla, or aiperf find-capacity --slo"},
	{"--ready-check-timeout-sec --wait-for-server", "--wait-for-model-timeout"},
	{"--max-threads --threads --workers", "--workers-max, if anything"},
	{"--debug", "--log-level debug"},
}

// peerOf returns what to write instead of another load generator's flag; "" if the flag is unknown or this command has no equivalent.
func (t *Table) peerOf(token string) string {
	name := strings.ReplaceAll(token, "_", "-")
	if head := strings.TrimRight(name, "0123456789"); len(head) == 2 && len(name) > 2 { // as hey allows: -n100
		name = head
	}
	if strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && len(name) > 2 { // as Go allows: -duration
		name = "-" + name
	}
	for _, one := range peers {
		if one.names(name) && t.hasFlagOf(one.write) {
			return one.write
		}
	}
	return ""
}

func (p *peerWord) names(name string) bool {
	return slices.ContainsFunc(strings.Fields(p.words), func(word string) bool {
		stem, all := strings.CutSuffix(word, "*")
		return name == stem || all && strings.HasPrefix(name, stem)
	})
}

// hasFlagOf reports whether the table has the first flag of an advice, or the advice does not start with a flag.
func (t *Table) hasFlagOf(write string) bool {
	if !strings.HasPrefix(write, "--") {
		_, _, ok := t.Lookup("--artifact-dir") // advice without a flag applies only to commands that run a benchmark
		return ok
	}
	first, _, _ := strings.Cut(strings.Fields(write)[0], ",")
	_, _, ok := t.Lookup(first)
	return ok
}

// Hint returns what to write instead of an unknown flag: the equivalent of another tool's flag, otherwise the nearest spelling.
func (t *Table) Hint(token string) string {
	write := t.peerOf(token)
	switch {
	case strings.HasPrefix(write, "--"):
		return "; did you mean " + write + "?"
	case write != "":
		return "; " + write
	}
	if near := t.Suggest(token); near != "" && len(strings.TrimLeft(token, "-")) > 1 {
		return "; did you mean " + near + "?"
	}
	return ""
}
