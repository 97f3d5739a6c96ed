package metric

import (
	"math"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// chat are the options of a streaming chat run.
var chat = Options{Streaming: true, ProducesTokens: true, TokenizesInput: true}

func newSelection(t testing.TB, o Options) *Selection {
	t.Helper()
	s, err := NewSelection(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ms is an instant that many ms after the start of the process's clock.
func ms(n float64) int64 { return int64(n*1e6) + 1 }

// streamed is a request that starts at 100 ms and gets content at the given ms, the text of the last ones after reasoning.
func streamed(reasoning int, at ...float64) (*record.Record, *record.Reply) {
	rec := &record.Record{Start: ms(100), End: ms(at[len(at)-1] + 50), Ack: ms(101), WallOffset: 1_800_000_000_000_000_000, Status: 200}
	reply := &record.Reply{PerChunkTokens: -1}
	for i, x := range at {
		c := record.Content{At: ms(x), Message: i, Kind: record.Text, Text: "a"}
		if i < reasoning {
			c = record.Content{At: ms(x), Message: i, Kind: record.Reasoning, Reasoning: "r"}
		}
		reply.Contents = append(reply.Contents, c)
	}
	return rec, reply
}

func TestRow(t *testing.T) {
	rec, reply := streamed(1, 150, 160, 180)
	rec.MaxTokens = 10
	row := newSelection(t, chat).Row(rec, reply, record.Counts{Input: 20, Output: 4, Reasoning: 2})
	for tag, want := range map[string]float64{
		"time_to_first_token": 50e6, "time_to_second_token": 10e6, "time_to_first_output_token": 60e6, "request_latency": 80e6,
		"decode_duration": 30e6, "output_sequence_length": 6, "output_token_count": 4, "reasoning_token_count": 2, "input_sequence_length": 20,
		"inter_token_latency": 6e6, "output_token_throughput_per_user": 1e9 / 6e6, "prefill_throughput_per_user": 400,
		"e2e_output_token_throughput": 75, "osl_mismatch_diff_pct": -40, "stream_setup_latency": 1e6,
	} {
		if v, ok := row.Value(tag); !ok || math.Abs(v-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s is %v (%v), not %v", tag, v, ok, want)
		}
	}
	if len(row.Gaps) != 2 || row.Gaps[0] != 10e6 || row.Gaps[1] != 20e6 {
		t.Errorf("gaps %v", row.Gaps)
	}
	for _, tag := range []string{"error_isl", "schedule_lag", "usage_prompt_tokens", "http_req_total", "good_request_count"} {
		if v, ok := row.Value(tag); ok {
			t.Errorf("%s is %v, should be absent", tag, v)
		}
	}
}

// TestOneMessage: an answer in one message has no ITL, and is counted.
func TestOneMessage(t *testing.T) {
	rec, reply := streamed(0, 150)
	set := newSelection(t, chat)
	row := set.Row(rec, reply, record.Counts{Input: 20, Output: 8, Reasoning: -1})
	for _, tag := range []string{"inter_token_latency", "output_token_throughput_per_user", "time_to_second_token"} {
		if v, ok := row.Value(tag); ok {
			t.Errorf("%s is %v, should be absent", tag, v)
		}
	}
	if v, ok := row.Value("decode_duration"); !ok || v != 0 {
		t.Errorf("decode_duration %v %v", v, ok)
	}
	r := set.NewReducer()
	r.Add(row)
	if s := r.Summary(Window{}); s.OneMessage != 1 {
		t.Errorf("%d answers in one message, not 1", s.OneMessage)
	}
	as013 := chat
	as013.As013 = true
	if v, ok := newSelection(t, as013).Row(rec, reply, record.Counts{Input: 20, Output: 8, Reasoning: -1}).Value("inter_token_latency"); !ok || v != 0 {
		t.Errorf("as 0.13: ITL %v %v, not 0", v, ok)
	}
}

func TestPerChunkUsage(t *testing.T) {
	o := chat
	o.PerChunkUsage = true
	for _, c := range []struct {
		first int
		want  float64
	}{{3, 10e6}, {-1, 30e6 / 5}, {0, 30e6 / 5}, {6, 30e6 / 5}} {
		rec, reply := streamed(0, 150, 180)
		reply.PerChunkTokens = c.first
		if v, _ := newSelection(t, o).Row(rec, reply, record.Counts{Input: 1, Output: 6, Reasoning: -1}).Value("inter_token_latency"); v != c.want {
			t.Errorf("first message of %d tokens: ITL %v, not %v", c.first, v, c.want)
		}
	}
}

// TestGates: metrics that do not apply are not computed.
func TestGates(t *testing.T) {
	for _, c := range []struct {
		o    Options
		gone []string
		kept []string
	}{
		{Options{ProducesTokens: true, TokenizesInput: true}, []string{"time_to_first_token", "inter_chunk_latency", "decode_duration"}, []string{"output_sequence_length", "request_latency"}},
		{Options{TokenizesInput: true}, []string{"output_sequence_length", "output_token_throughput", "usage_total_tokens"}, []string{"input_sequence_length", "usage_prompt_tokens"}},
		{Options{Streaming: true, ProducesTokens: true, TokenizesInput: true, ServerTokens: true}, []string{"usage_prompt_tokens_diff_pct", "usage_discrepancy_count"}, []string{"usage_prompt_tokens"}},
		{chat, []string{"goodput", "good_request_count", "num_images", "replay_sched_lag_p99"}, nil},
	} {
		s := newSelection(t, c.o)
		for _, tag := range c.gone {
			if s.Uses(tag) {
				t.Errorf("%+v uses %s", c.o, tag)
			}
		}
		for _, tag := range c.kept {
			if !s.Uses(tag) {
				t.Errorf("%+v lacks %s", c.o, tag)
			}
		}
	}
}

func TestFailure(t *testing.T) {
	good := func() (*record.Record, *record.Reply) { return streamed(0, 150, 160) }
	for _, c := range []struct {
		name string
		turn func(*record.Record, *record.Reply)
		kind string
	}{
		{"valid", func(*record.Record, *record.Reply) {}, ""},
		{"transport", func(r *record.Record, _ *record.Reply) { r.Error = &record.Error{Type: "TimeoutError"} }, "TimeoutError"},
		{"no content", func(_ *record.Record, r *record.Reply) { r.Contents = nil }, invalid},
		{"server error", func(_ *record.Record, r *record.Reply) { r.ServerError = "boom" }, invalid},
		{"end before start", func(r *record.Record, _ *record.Reply) { r.End = r.Start }, invalid},
		{"early message", func(r *record.Record, p *record.Reply) { p.Contents[0].At = r.Start - 1 }, invalid},
	} {
		rec, reply := good()
		c.turn(rec, reply)
		kind := ""
		if e := Failure(rec, reply); e != nil {
			kind = e.Type
		}
		if kind != c.kind {
			t.Errorf("%s: %q, not %q", c.name, kind, c.kind)
		}
	}
}

// TestSchedule: latencies on both clocks.
func TestSchedule(t *testing.T) {
	rec, reply := streamed(0, 150, 160)
	rec.Intended, rec.Issued = ms(90), ms(98)
	rec.Trace = &record.Trace{SendStart: ms(103), Reads: 2, ReadDelayMax: 7}
	row := newSelection(t, chat).Row(rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1})
	for tag, want := range map[string]float64{
		"schedule_lag": 8e6, "dispatch_lag": 5e6, "latency_from_schedule": 120e6, "request_latency_from_schedule": 70e6,
		"time_to_first_token_from_schedule": 60e6, "request_latency": 60e6, "effective_latency": 112e6, "credit_to_start_latency": 2e6, "read_delay_max": 7,
	} {
		if v, ok := row.Value(tag); !ok || v != want {
			t.Errorf("%s is %v, not %v", tag, v, want)
		}
	}
}

func TestTraceMetrics(t *testing.T) {
	fresh := &record.Trace{DNSStart: 1, DNSEnd: 11, ConnectStart: 11, ConnectEnd: 31, SendStart: 31, SendEnd: 36, FirstChunk: 100, LastChunk: 150, BytesSent: 2048, ChunksReceived: 3}
	used := &record.Trace{Reused: 5, SendStart: 6, SendEnd: 8, FirstChunk: 18, LastChunk: 18}
	for _, c := range []struct {
		name string
		t    *record.Trace
		want map[string]float64
		gone []string
	}{
		{"fresh", fresh, map[string]float64{"http_req_blocked": 0, "http_req_dns_lookup": 10, "http_req_connecting": 20, "http_req_sending": 5, "http_req_waiting": 64,
			"http_req_receiving": 50, "http_req_connection_overhead": 30, "http_req_duration": 119, "http_req_total": 149, "http_req_connection_reused": 0, "http_req_data_sent": 2048}, nil},
		{"reused", used, map[string]float64{"http_req_connecting": 0, "http_req_dns_lookup": 0, "http_req_receiving": 0, "http_req_connection_reused": 1, "http_req_total": 12}, nil},
		{"unknown connect", &record.Trace{SendStart: 6, SendEnd: 8}, nil, []string{"http_req_connecting", "http_req_total", "http_req_receiving", "http_req_connection_overhead"}},
		{"backwards", &record.Trace{Reused: 1, SendStart: 9, SendEnd: 8, FirstChunk: 10, LastChunk: 11}, nil, []string{"http_req_sending", "http_req_total"}},
	} {
		rec, reply := streamed(0, 150, 160)
		rec.Trace = c.t
		row := newSelection(t, chat).Row(rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1})
		for tag, want := range c.want {
			if v, ok := row.Value(tag); !ok || v != want {
				t.Errorf("%s: %s is %v %v, not %v", c.name, tag, v, ok, want)
			}
		}
		for _, tag := range c.gone {
			if v, ok := row.Value(tag); ok {
				t.Errorf("%s: %s is %v, should be absent", c.name, tag, v)
			}
		}
	}
}

func TestGoodput(t *testing.T) {
	for _, c := range []struct {
		goodput string
		want    float64
	}{
		{"request_latency:60", 1}, {"request_latency:59.99", 0}, {"time_to_first_token:50 inter_token_latency:10", 1},
		{"output_token_throughput_per_user:100", 1}, {"output_token_throughput_per_user:100.1", 0}, // larger is better
		{"decode_duration:0", 0}, {"reasoning_token_count:0", 0}, {"request_latency:1 request_latency:60", 1},
	} {
		o := chat
		o.Goodput = c.goodput
		rec, reply := streamed(0, 150, 160)
		if v, ok := newSelection(t, o).Row(rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1}).Value("good_request_count"); !ok || v != c.want {
			t.Errorf("%s: %v, not %v", c.goodput, v, c.want)
		}
	}
	for _, c := range []struct{ goodput, says string }{
		{"latency:5", `there is no metric "latency"`}, {"request_throughput:5", "not one number per successful request"}, {"inter_chunk_latency:5", "not one number per successful request"},
		{"request_latency", "is not TAG:VALUE"}, {"request_latency:fast", "not a number"}, {"request_latency:-1", "not a number of 0 or more"},
		{"error_isl:5", "not one number per successful request"}, {"num_images:1", "needs an endpoint with image input"}, {"goodput:1", "not one number"},
	} {
		o := chat
		o.Goodput = c.goodput
		if _, err := NewSelection(o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v does not say %q", c.goodput, err, c.says)
		}
	}
	o := Options{ProducesTokens: true, TokenizesInput: true, Goodput: "time_to_first_token:50"}
	if _, err := NewSelection(o); err == nil || !strings.Contains(err.Error(), "needs endpoint.streaming") {
		t.Errorf("TTFT without streaming: %v", err)
	}
	o.Goodput += " request_latency:60" // which alone is judged
	rec, reply := streamed(0, 150, 160)
	if v, ok := newSelection(t, o).Row(rec, reply, record.Counts{Input: 1, Output: 2, Reasoning: -1}).Value("good_request_count"); !ok || v != 1 {
		t.Errorf("an objective that cannot be judged spoils the others: %v", v)
	}
}

// TestGoodputGuess: a tag that is none brings the nearest that is one.
func TestGoodputGuess(t *testing.T) {
	o := Options{Streaming: true, ProducesTokens: true, TokenizesInput: true, Goodput: "time_to_frist_token:9"}
	if _, err := NewSelection(o); err == nil || !strings.Contains(err.Error(), `slos: there is no metric "time_to_frist_token" (did you mean time_to_first_token?)`) {
		t.Error(err)
	}
}
