package run

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/console"
	"aiperf/internal/wire/endpoint"
)

// mediaSpeech holds the protocols of types with media, in addition to those of speech.
var mediaSpeech = map[string][]spoken{
	"chat":            {{name: " image", row: `{"text":"x","images":["` + onePixel + `","` + onePixel + `"]}`}, {name: " sound", row: `{"text":"x","audio":"` + oneSound + `"}`}},
	"responses":       {{name: " image", row: `{"text":"x","image":"` + onePixel + `"}`}},
	"messages":        {{name: " image", row: `{"text":"x","image":"` + onePixel + `"}`}},
	"chat_embeddings": {{name: " image", row: `{"text":"x","image":"` + onePixel + `"}`}},
	"nim_embeddings":  {{name: " image", row: `{"image":"` + onePixel + `"}`}, {name: " both", row: `{"text":"x y","image":"` + onePixel + `"}`}},
	"nvclip":          {{name: " both", row: `{"text":"x y","image":"` + onePixel + `"}`}},
}

// family is a set of metrics that stand together, or not at all.
type family struct {
	name    string
	tags    string
	applies func(e *endpoint.Endpoint, streamed bool, row string) bool
}

// families are the metrics of the contract by what they need (endpoints, section 7; metrics.json).
var families = []family{
	{"every request", "request_latency request_throughput request_count benchmark_duration", func(*endpoint.Endpoint, bool, string) bool { return true }},
	{"tokens", "output_sequence_length output_token_count total_osl total_output_tokens output_token_throughput e2e_output_token_throughput",
		func(e *endpoint.Endpoint, _ bool, _ string) bool { return e.ProducesTokens }},
	{"streams of tokens", "time_to_first_token time_to_first_output_token decode_duration",
		func(e *endpoint.Endpoint, streamed bool, _ string) bool { return e.ProducesTokens && streamed }},
	{"gaps of streams", "time_to_second_token inter_token_latency inter_chunk_latency output_token_throughput_per_user",
		func(e *endpoint.Endpoint, streamed bool, _ string) bool { // the requests of solido_rag cannot ask for a stream
			return e.ProducesTokens && streamed && e.Name != "solido_rag"
		}},
	{"input", "input_sequence_length total_isl input_token_throughput", func(e *endpoint.Endpoint, _ bool, row string) bool { return e.TokenizesInput && readable(e, row) }},
	{"both", "total_token_throughput", func(e *endpoint.Endpoint, _ bool, row string) bool {
		return e.TokenizesInput && e.ProducesTokens && readable(e, row)
	}},
	{"images sent", "num_images total_num_images image_throughput image_latency image_samples_per_second effective_image_samples_per_second " +
		"active_image_samples_per_second effective_image_samples_per_second_per_user",
		func(e *endpoint.Endpoint, _ bool, row string) bool {
			return e.Images && strings.Contains(row, onePixel)
		}},
	{"sound sent", "audio_duration rtfx", func(e *endpoint.Endpoint, _ bool, row string) bool { return e.Audio && strings.Contains(row, oneSound) }},
	{"videos made", "video_inference_time video_peak_memory", func(e *endpoint.Endpoint, _ bool, _ string) bool { return e.Name == "video_generation" }},
}

// readable tells whether a row holds texts that are known to be a prompt in the bodies of a type.
func readable(e *endpoint.Endpoint, row string) bool {
	return strings.Contains(row, "text") && e.Name != "template" && e.Name != "solido_rag"
}

// metricsOf checks which metrics a run has, those that follow from others, and what the console shows of them.
func metricsOf(t *testing.T, e *endpoint.Endpoint, streamed bool, row string, run *metric.Run) {
	t.Helper()
	console := string(console.Text(run, 160, func(key string) string { return key }))
	if !strings.Contains(console, e.Title) {
		t.Errorf("the console has no table %q", e.Title)
	}
	for _, f := range families {
		for tag := range strings.FieldsSeq(f.tags) {
			r, there := run.Profiling.Get(tag)
			want := f.applies(e, streamed, row)
			if tag == "inter_token_latency" || tag == "output_token_throughput_per_user" {
				want = want && run.Profiling.Value("decode_duration", metric.Max) > 0 // 0: a delayed client found each answer in one read
			}
			if there != want {
				t.Errorf("%s (%s): there %v, want %v", tag, f.name, there, want)
			} else if there && r.Group == "default" && !r.Hidden() && !strings.Contains(console, r.Header) {
				t.Errorf("the console does not show %s", r.Header)
			}
		}
	}
	value := func(tag string, s metric.Stat) float64 { return run.Profiling.Value(tag, s) }
	near := func(what string, got, want float64) {
		t.Helper()
		if math.IsNaN(got) || math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	requests := value("request_count", metric.Avg)
	seconds := value("benchmark_duration", metric.Avg)
	if n := float64(strings.Count(row, onePixel)); n > 0 && e.Images {
		near("images of a request", value("num_images", metric.Avg), n)
		near("images", value("total_num_images", metric.Avg), n*requests)
		near("images/s", value("image_samples_per_second", metric.Avg), n*requests/seconds)
		near("latency of an image", value("image_latency", metric.Avg)*n, value("request_latency", metric.Avg))
	}
	if strings.Contains(row, oneSound) && e.Audio {
		near("sound", value("audio_duration", metric.Avg), 1.0/16000)
		near("largest real-time factor", value("rtfx", metric.Max)*value("request_latency", metric.Min)/1e3, 1.0/16000)
	}
	if e.Name == "video_generation" {
		near("memory", value("video_peak_memory", metric.Avg), 1024)
		near("time of inference", value("video_inference_time", metric.Avg), 4) // ms: ttft of the simulated server
	}
	if e.ProducesTokens && e.Produces == 0 {
		near("tokens/s", value("output_token_throughput", metric.Avg), value("total_osl", metric.Avg)/seconds)
	}
}

// TestMediaOfEveryType runs the types that take media with some, and checks their metrics.
func TestMediaOfEveryType(t *testing.T) {
	testhome.Slow(t)
	for _, e := range endpoint.All() {
		for _, s := range mediaSpeech[e.Name] {
			t.Run(e.Name+s.name, func(t *testing.T) {
				t.Parallel()
				s.change = func(b *config.Benchmark) { b.Artifacts.Raw = true }
				against(t, e, e.Streams, s)
			})
		}
	}
}
