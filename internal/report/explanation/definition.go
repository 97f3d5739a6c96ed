package explanation

// byDefinition says which facts a metric contains, so that an association with them is expected.
var byDefinition = map[string]map[string]string{
	"request_latency":                   answerLength,
	"request_latency_from_schedule":     joined(answerLength, lateness),
	"latency_from_schedule":             joined(answerLength, lateness),
	"time_to_first_token_from_schedule": lateness,
	"decode_duration":                   answerLength,
	"e2e_output_token_throughput":       {"output_sequence_length": "a long answer spreads the time to its first token over more tokens"},
	"time_to_first_output_token":        {"reasoning_token_count": "an answer that reasons first shows its first output later"},
	"prefill_throughput_per_user":       {"input_sequence_length": "this speed is input tokens divided by the time to first token", "uncached_input_tokens": "this speed is input tokens divided by the time to first token"},
	"schedule_lag":                      lateness,
	"inter_token_latency":               fewGaps,
	"output_token_throughput_per_user":  fewGaps,
}

var answerLength = map[string]string{
	"output_sequence_length": "longer answers take longer", "reasoning_token_count": "longer answers take longer",
	"finish_reason=length": "answers that reach their limit are the longest",
}

var fewGaps = map[string]string{"output_sequence_length": "the mean of the few gaps of a short answer varies more"}

var lateness = map[string]string{"schedule_lag": "the delay of sending is part of this metric"}

func joined(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// definition says why the metric contains a fact; "" = it does not.
func (e *Explanation) definition(name string) string { return byDefinition[e.Metric.Tag][name] }
