package cli

import (
	"fmt"
	"strings"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
)

// formulas says how each metric is computed, in the words of the glossary: S = the request starts, T1, T2, Tn = arrival of the first, second and last
// content, E = arrival of the last message, D = the request was due, n = output tokens, N = valid requests, W = the time from the first start to the last
// end. Tags that end in * have the same rule for all metrics that begin so; the first rule that fits counts.
var formulas = []struct{ tag, text string }{
	{"time_to_first_token", "T1 − S"},
	{"time_to_second_token", "T2 − T1"},
	{"time_to_first_output_token", "arrival of the first content that is not reasoning − S"},
	{"inter_token_latency", "(Tn − T1) / (n − 1), one value for each request; with --per-chunk-usage, n − tokens of the first content"},
	{"inter_chunk_latency", "time between two messages with content, one value for each gap"},
	{"output_token_throughput_per_user", "1 / inter_token_latency"},
	{"prefill_throughput_per_user", "input tokens / time_to_first_token"},
	{"decode_duration", "Tn − T1"},
	{"output_token_count", "tokens of the answer without reasoning, counted with the model's tokenizer"},
	{"reasoning_token_count", "tokens of the reasoning in the answer"},
	{"output_sequence_length", "output_token_count + reasoning_token_count"},
	{"input_sequence_length", "tokens of the texts of the request, counted with the model's tokenizer"},
	{"error_isl", "input tokens of failed requests"},
	{"total_error_isl", "sum over all failed requests"},
	{"output_token_throughput", "sum of output_sequence_length / W"},
	{"input_token_throughput", "sum of input_sequence_length / W"},
	{"total_token_throughput", "sum of input and output tokens / W"},
	{"e2e_output_token_throughput", "output_sequence_length / request_latency"},
	{"osl_mismatch_diff_pct", "(output tokens − requested tokens) / requested tokens"},
	{"osl_mismatch_count", "requests whose output length differs from the requested one by more than the limit"},
	{"request_latency", "Tn − S; if a later message ends the answer, its arrival − S"},
	{"request_throughput", "N / W"},
	{"request_count", "N: requests that were answered without an error"},
	{"error_request_count", "requests that failed"},
	{"completed_request_count", "request_count + error_request_count"},
	{"request_error_rate", "error_request_count / completed_request_count"},
	{"context_overflow_count", "requests that the server refused as too long for the model"},
	{"benchmark_duration", "W"},
	{"good_request_count", "requests that met every objective of --goodput"},
	{"goodput", "good_request_count / W"},
	{"good_request_fraction", "good_request_count / completed_request_count: failed requests are not good"},
	{"overall_usage_prompt_cache_read_pct", "cached prompt tokens / prompt tokens, as the server reports them"},
	{"usage_discrepancy_count", "requests in which one of these differences is above the limit (AIPERF_METRICS_USAGE_PCT_DIFF_THRESHOLD)"},
	{"usage_prompt_tokens_diff_pct", "|prompt tokens of usage − input tokens counted by aiperf| / the latter"},
	{"usage_completion_tokens_diff_pct", "|completion tokens of usage − output tokens counted by aiperf| / the latter"},
	{"usage_reasoning_tokens_diff_pct", "|reasoning tokens of usage − reasoning tokens counted by aiperf| / the latter"},
	{"usage_*", "the field of the same name that the server reports in usage"},
	{"http_req_blocked", "wait for a free connection"},
	{"http_req_dns_lookup", "time of the name lookup; 0 with a reused connection"},
	{"http_req_connecting", "time of the TCP and TLS handshakes; 0 with a reused connection"},
	{"http_req_sending", "first to last byte of the request"},
	{"http_req_waiting", "last byte of the request to the first byte of the answer"},
	{"http_req_receiving", "first to last byte of the answer"},
	{"http_req_connection_reused", "1 if the connection had carried an earlier request, else 0; the average is the share of such requests"},
	{"http_req_data_sent", "bytes of the request"},
	{"http_req_data_received", "bytes of the answer"},
	{"http_req_chunks_sent", "number of writes of the request"},
	{"http_req_chunks_received", "number of reads of the answer"},
	{"http_req_connection_overhead", "http_req_blocked + http_req_dns_lookup + http_req_connecting"},
	{"http_req_duration", "http_req_sending + http_req_waiting + http_req_receiving"},
	{"http_req_total", "http_req_connection_overhead + http_req_duration"},
	{"num_images", "images of the request"},
	{"image_throughput", "images of the request / request_latency"},
	{"image_latency", "request_latency / images of the request"},
	{"image_samples_per_second", "sum of images / W"},
	{"effective_image_samples_per_second*", "images per second, averaged over W"},
	{"active_image_samples_per_second", "images per second, averaged over the time with a request in flight"},
	{"video_inference_time", "time that the server reports for a film"},
	{"video_peak_memory", "memory that the server reports for a film"},
	{"audio_duration", "length of the audio that was sent"},
	{"rtfx", "audio_duration / request_latency"},
	{"network_rtt", "mean time of TCP connects to the server during the run, or the value of --network-latency-mean"},
	{"network_adjusted_*", "the metric − network_rtt, at least 0"},
	{"effective_concurrency", "number of requests in flight at each instant of W"},
	{"tokens_in_flight", "input tokens, and output tokens so far, of the requests in flight at each instant of W"},
	{"effective_latency", "E − instant at which the load generator released the request"},
	{"effective_prefill_concurrency", "number of requests before their T1, at each instant of W"},
	{"effective_decode_concurrency", "number of requests after their T1, at each instant of W"},
	{"effective_prefill_throughput", "input tokens per second of all requests before their T1, at each instant of W"},
	{"effective_decode_throughput", "output tokens per second of all requests after their T1, at each instant of W"},
	{"effective_total_throughput", "input and output tokens per second of all requests, at each instant of W"},
	{"effective_prefill_throughput_per_user", "effective_prefill_throughput / effective_prefill_concurrency, at each instant of W"},
	{"effective_decode_throughput_per_user", "effective_decode_throughput / effective_decode_concurrency, at each instant of W"},
	{"active_*", "the same as effective_…, only over the instants with a request in that phase"},
	{"credit_to_start_latency", "S − instant at which the load generator released the request"},
	{"adj_*", "the metric with failed requests counted as infinitely slow"},
	{"replay_sched_lag_*", "that percentile of how late requests left, compared with the request that was earliest relative to its schedule"},
	{"replay_sched_degraded", "1 if replay_sched_lag_p99 is above 500 ms, else 0"},
	{"spec_decode_acceptance_length", "tokens for each step of the target model"},
	{"spec_decode_token_weighted_acceptance_length", "sum of tokens / sum of steps of the target model"},
	{"spec_decode_draft_acceptance_rate", "accepted draft tokens / draft tokens, for each request"},
	{"spec_decode_overall_draft_acceptance_rate", "sum of accepted draft tokens / sum of draft tokens"},
	{"spec_decode_accepted_per_verified", "accepted draft tokens / verified draft tokens"},
	{"spec_decode_*", "count that the server reports for the request"},
	{"schedule_lag", "instant at which the load generator released the request − D, at least 0"},
	{"dispatch_lag", "first byte written − instant at which the load generator released the request"},
	{"latency_from_schedule", "E − D"},
	{"request_latency_from_schedule", "request_latency, counted from D"},
	{"time_to_first_token_from_schedule", "T1 − D"},
	{"cut_request_count", "requests that the end of the run cut off"},
	{"read_delay_max", "longest time between the arrival of bytes and the moment at which aiperf read them"},
	{"tcp_smoothed_rtt", "the kernel's estimate of the round trip, at the end of the request"},
	{"tcp_retransmits", "segments that this side sent again"},
	{"tcp_out_of_order", "segments that arrived before an earlier one"},
	{"tcp_congestion_window", "segments that may be in flight, at the end of the request"},
	{"stream_setup_latency", "arrival of the response headers − S"},
	{"stream_prefill_latency", "T1 − arrival of the response headers"},
	{"thinking_efficiency", "reasoning_token_count / output_token_count"},
	{"overall_thinking_efficiency", "total_reasoning_tokens / total_output_tokens"},
	{"requested_osl", "limit of output tokens in the request"},
	{"min_request_timestamp", "wall time of the first start"},
	{"max_response_timestamp", "wall time of the last end"},
	{"replay_send_schedule_offset", "wall time of S − time of the turn in the trace; only differences have a meaning"},
	{"nvidia_*", "see the power metrics below"},
	{"amd_*", "see the power metrics below"},
	{"total_*", "sum over all valid requests"},
}

// formulaOf returns how a metric is computed; "" if the glossary does not know it.
func formulaOf(tag string) string {
	for _, one := range formulas {
		if begin, ok := strings.CutSuffix(one.tag, "*"); one.tag == tag || ok && strings.HasPrefix(tag, begin) {
			return one.text
		}
	}
	return ""
}

// otherNames are the names of a metric in other tools. Names follow the tools' own files: vllm bench serve --save-result, guidellm's JSON report,
// profile_export_genai_perf.json, the summary of MLPerf's LoadGen, and the end-of-test summary of k6.
var otherNames = []struct{ tag, vllm, guidellm, genaiPerf, mlperf, k6 string }{
	{"time_to_first_token", "ttft", "time_to_first_token_ms", "time_to_first_token", "First token latency", ""},
	{"time_to_second_token", "", "", "time_to_second_token", "", ""},
	{"inter_token_latency", "tpot", "inter_token_latency_ms", "inter_token_latency", "Time per output token", ""},
	{"inter_chunk_latency", "itl", "", "", "", ""},
	{"request_latency", "e2el", "request_latency (s)", "request_latency", "Latency", ""},
	{"request_throughput", "request_throughput", "requests_per_second", "request_throughput", "Completed samples per second", "http_reqs (rate)"},
	{"output_token_throughput", "output_throughput", "output_tokens_per_second", "output_token_throughput", "Completed tokens per second", ""},
	{"total_token_throughput", "total_token_throughput", "tokens_per_second", "", "", ""},
	{"output_token_throughput_per_user", "", "", "output_token_throughput_per_user", "", ""},
	{"output_sequence_length", "total_output_tokens (sum)", "output_token_count", "output_sequence_length", "", ""},
	{"input_sequence_length", "total_input_tokens (sum)", "prompt_token_count", "input_sequence_length", "", ""},
	{"goodput", "request_goodput", "", "request_goodput", "", ""},
	{"request_count", "completed", "successful requests", "request_count", "", "http_reqs"},
	{"request_error_rate", "", "", "", "", "http_req_failed"},
	{"benchmark_duration", "duration", "", "", "", ""},
	{"effective_concurrency", "", "request_concurrency", "", "", "vus"},
	{"http_req_blocked", "", "", "", "", "http_req_blocked"},
	{"http_req_connecting", "", "", "", "", "http_req_connecting + http_req_tls_handshaking"},
	{"http_req_sending", "", "", "", "", "http_req_sending"},
	{"http_req_waiting", "", "", "", "", "http_req_waiting"},
	{"http_req_receiving", "", "", "", "", "http_req_receiving"},
	{"http_req_duration", "", "", "", "", "http_req_duration"},
}

// metricHelp explains one metric by its tag or its short name; "" if there is no such metric.
func metricHelp(word string) string {
	tag := strings.ReplaceAll(strings.ToLower(word), "-", "_")
	if full, ok := objective.ShortNames[tag]; ok {
		tag = full
	}
	for _, one := range metric.All() {
		if one.Tag != tag {
			continue
		}
		text := fmt.Sprintf("%s (%s), in %s\n\n  %s", one.Header, one.Tag, one.Display, formulaOf(tag))
		for _, other := range otherNames {
			if other.tag != tag {
				continue
			}
			text += "\n"
			for _, tool := range [][2]string{{"vLLM bench", other.vllm}, {"guidellm", other.guidellm}, {"GenAI-Perf", other.genaiPerf}, {"MLPerf", other.mlperf}, {"k6", other.k6}} {
				if tool[1] != "" {
					text += fmt.Sprintf("\n  %-11s %s", tool[0], tool[1])
				}
			}
		}
		return text + "\n\nS = the request starts; T1, T2, Tn = arrival of the first, second and last content; E = arrival of\n" +
			"the last message; D = the request was due; n = output tokens; N = valid requests; W = time from the\nfirst start to the last end."
	}
	return ""
}
