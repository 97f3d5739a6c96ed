package genaiperf

import "strings"

// line is one line of the template: a key with its default, and its description. If the key is empty, the line is only a comment.
type line struct{ text, comment string }

// template lists every key with its default, so that an unchanged file is the default run.
var template = []line{
	{"model_names:", "models to ask for: a name, a list, or names with commas; needed"},
	{"", ""},
	{"endpoint:", "the server"},
	{"  model_selection_strategy: round_robin", "order of several models: round_robin or random"},
	{"  backend: tensorrtllm", "server behind type kserve: tensorrtllm or vllm"},
	{"  custom:", "path of requests; empty: the type's own"},
	{"  type: chat", "kind of endpoint"},
	{"  streaming: false", "stream the answers"},
	{"  server_metrics_urls: http://localhost:9400/metrics", "GPU metrics exporters"},
	{"  url:", "address of the server; empty: localhost:8000, and 8001 for kserve"},
	{"  grpc_method:", "method of a gRPC endpoint"},
	{"", ""},
	{"perf_analyzer:", "the load"},
	{"  path: perf_analyzer", "has no meaning here"},
	{"  verbose: false", "has no meaning here"},
	{"  stimulus: {concurrency: 1}", "concurrency, request_rate or session_concurrency with a value, or the word fixed_schedule"},
	{"  stability_percentage: 999", "has no meaning here"},
	{"  warmup_request_count: 0", "warm-up requests"},
	{"  measurement:", "the end"},
	{"    mode: request_count", "request_count or interval"},
	{"    num:", "requests, or ms of one of three windows; empty: the default of the mode"},
	{"", ""},
	{"input:", "input of the requests"},
	{"  batch_size: 1", "texts in one request"},
	{"  extra:", "members added to every request body"},
	{"  goodput:", "limits that a good request meets: metric: value"},
	{"  header:", "headers, as Name: value"},
	{"  file:", "a file of prompts; payload:FILE is a trace"},
	{"  num_dataset_entries: 100", "different prompts"},
	{"  random_seed: 0", "random seed"},
	{"  audio:", "generated sound"},
	{"    batch_size: 1", "audio clips per request"},
	{"    length: {mean: 0, stddev: 0}", "seconds; 0: no audio"},
	{"    format: wav", "wav or mp3"},
	{"    depths: 16", "bits"},
	{"    sample_rates: 16", "kHz"},
	{"    num_channels: 1", "1 or 2"},
	{"  image:", "generated pictures"},
	{"    batch_size: 1", "images per request"},
	{"    width: {mean: 0, stddev: 0}", "pixels; 0: no image"},
	{"    height: {mean: 0, stddev: 0}", "pixels"},
	{"    format: png", "png or jpeg"},
	{"  output_tokens:", "length of answers"},
	{"    mean:", "tokens; empty: not requested"},
	{"    deterministic: false", "exactly this length"},
	{"    stddev: 0", "standard deviation of the length"},
	{"  synthetic_tokens: {mean: 550, stddev: 0}", "length of generated prompts, in tokens"},
	{"  prefix_prompt: {num: 0, length: 100}", "prefixes that prompts share, and their length in tokens"},
	{"  sessions:", "conversations"},
	{"    num: 0", "0: single requests"},
	{"    turns: {mean: 1, stddev: 0}", "requests of a conversation"},
	{"    turn_delay: {mean: 0, stddev: 0, ratio: 1.0}", "ms between an answer and the next request; ratio multiplies them"},
	{"", ""},
	{"output:", "output files"},
	{"  artifact_directory: artifacts", "where"},
	{"  checkpoint_directory: checkpoint", "has no meaning here: --resume DIR continues a series"},
	{"  profile_export_file: profile_export.json", "prefix of the file names"},
	{"  generate_plots: false", "draw charts"},
	{"  enable_checkpointing: false", "has no meaning here"},
	{"", ""},
	{"tokenizer:", "tokenizer that counts tokens"},
	{"  name:", "empty: the model's own"},
	{"  revision: main", "of its repository"},
	{"  trust_remote_code: false", "has no meaning here"},
	{"", ""},
	{"# analyze:", "a sweep: concurrency, request_rate, runtime_batch_size, input_sequence_length or num_dataset_entries"},
	{"#   concurrency: {start: 1, stop: 64}", "doubled, or in steps with step: N"},
	{"", ""},
	{"# process:", "a merge of finished runs"},
	{"#   input_path: aggregated", "its directory"},
}

// tritonLines replaces lines of the template for GenAI-Perf's own default: Triton over gRPC.
var tritonLines = map[string]string{"  type: chat": "  type: kserve", "  url:": "  url: localhost:8001"}

// Template returns a file with every key at its default; verbose adds a comment before each. triton selects the default of GenAI-Perf instead of ours.
func Template(verbose, triton bool) string {
	var b strings.Builder
	for _, l := range template {
		if text := tritonLines[l.text]; triton && text != "" {
			l.text = text
		}
		if verbose && l.comment != "" {
			indent := l.text[:len(l.text)-len(strings.TrimLeft(l.text, " "))]
			b.WriteString(indent + "# " + l.comment + "\n")
		}
		b.WriteString(l.text + "\n")
	}
	return b.String()
}
