package genaiperf

import "strings"

// line is one line of the template: key with its default, and what it is; nothing but a comment where key is empty.
type line struct{ text, comment string }

// template is every key at its default. Its values are those of an unset file, so that it is the default run.
var template = []line{
	{"model_names:", "models to ask for: a name, a list, or names with commas; needed"},
	{"", ""},
	{"endpoint:", "the server"},
	{"  model_selection_strategy: round_robin", "order of several models: round_robin or random"},
	{"  backend: tensorrtllm", "server behind type kserve: tensorrtllm or vllm"},
	{"  custom:", "path of requests; empty: the type's own"},
	{"  type: chat", "kind of endpoint"},
	{"  streaming: false", "ask for answers in parts"},
	{"  server_metrics_urls: http://localhost:9400/metrics", "exporters of GPU figures"},
	{"  url:", "address of the server; empty: localhost:8000, and 8001 for kserve"},
	{"  grpc_method:", "method of a gRPC endpoint"},
	{"", ""},
	{"perf_analyzer:", "the load"},
	{"  path: perf_analyzer", "has no meaning here"},
	{"  verbose: false", "has no meaning here"},
	{"  stimulus: {concurrency: 1}", "concurrency, request_rate or session_concurrency with a value, or the word fixed_schedule"},
	{"  stability_percentage: 999", "has no meaning here"},
	{"  warmup_request_count: 0", "requests before those that count"},
	{"  measurement:", "the end"},
	{"    mode: request_count", "request_count or interval"},
	{"    num:", "requests, or ms of one of three windows; empty: the default of the mode"},
	{"", ""},
	{"input:", "what is sent"},
	{"  batch_size: 1", "texts in one request"},
	{"  extra:", "members added to every request body"},
	{"  goodput:", "limits that a good request keeps: metric: value"},
	{"  header:", "headers, as Name: value"},
	{"  file:", "a file of prompts; payload:FILE is a trace"},
	{"  num_dataset_entries: 100", "different prompts"},
	{"  random_seed: 0", "seed of everything random"},
	{"  audio:", "generated sound"},
	{"    batch_size: 1", "sounds in one request"},
	{"    length: {mean: 0, stddev: 0}", "seconds; 0: no sound"},
	{"    format: wav", "wav or mp3"},
	{"    depths: 16", "bits"},
	{"    sample_rates: 16", "kHz"},
	{"    num_channels: 1", "1 or 2"},
	{"  image:", "generated pictures"},
	{"    batch_size: 1", "pictures in one request"},
	{"    width: {mean: 0, stddev: 0}", "pixels; 0: no picture"},
	{"    height: {mean: 0, stddev: 0}", "pixels"},
	{"    format: png", "png or jpeg"},
	{"  output_tokens:", "length of answers"},
	{"    mean:", "tokens; empty: not asked for"},
	{"    deterministic: false", "exactly that many"},
	{"    stddev: 0", "spread of the length"},
	{"  synthetic_tokens: {mean: 550, stddev: 0}", "length of generated prompts, in tokens"},
	{"  prefix_prompt: {num: 0, length: 100}", "prefixes that prompts share, and their length in tokens"},
	{"  sessions:", "conversations"},
	{"    num: 0", "0: single requests"},
	{"    turns: {mean: 1, stddev: 0}", "requests of a conversation"},
	{"    turn_delay: {mean: 0, stddev: 0, ratio: 1.0}", "ms between an answer and the next request; ratio multiplies them"},
	{"", ""},
	{"output:", "what is written"},
	{"  artifact_directory: artifacts", "where"},
	{"  checkpoint_directory: checkpoint", "has no meaning here: --resume DIR goes on with a series"},
	{"  profile_export_file: profile_export.json", "name that those of the files begin with"},
	{"  generate_plots: false", "draw charts"},
	{"  enable_checkpointing: false", "has no meaning here"},
	{"", ""},
	{"tokenizer:", "how tokens are counted"},
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

// tritonLines take the place of lines of the template that is GenAI-Perf's own default: Triton over gRPC.
var tritonLines = map[string]string{"  type: chat": "  type: kserve", "  url:": "  url: localhost:8001"}

// Template is a file with every key at its default; verbose puts a comment before each. triton: the default is that of GenAI-Perf, not ours.
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
