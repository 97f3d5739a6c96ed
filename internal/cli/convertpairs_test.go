package cli

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/testhome"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/convert"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/weka"
)

// recordedCalls is a table of calls, some of one session.
//
//go:embed testdata/calls.parquet
var recordedCalls string

// sourcesOfConvert is a file of every format that is kept as text, with what the others can say and with what they cannot.
var sourcesOfConvert = []struct{ format, name, text string }{
	{"single_turn", "single.jsonl", `{"text":"a b c"}` + "\n"},
	{"single_turn", "timed.jsonl", `{"texts":["x","y"],"images":["https://h/a.png"],"timestamp":2.5}` + "\n"},
	{"multi_turn", "multi.jsonl", `{"session_id":"a","turns":[{"texts":["one"]},{"texts":["two"],"delay":5,"output_length":7}]}` + "\n"},
	{"random_pool", "pool.jsonl", `{"text":"a b"}` + "\n"},
	{"mooncake_trace", "trace.jsonl", worked},
	{"mooncake_trace", "ready.jsonl", `{"timestamp":5,"messages":[{"role":"user","content":"a"}],"output_length":4,"extra":{"top_p":1}}` + "\n"},
	{"bailian_trace", "bailian.jsonl", `{"chat_id":7,"timestamp":0.5,"input_length":20,"output_length":3,"hash_ids":[1,2]}` + "\n"},
	{"burst_gpt_trace", "burst.csv", "Timestamp,Request tokens,Response tokens\n5,472,18\n"},
	{"raw_payload", "payload.jsonl", `{"model":"m","messages":[{"role":"user","content":"one"}]}` + "\n"},
	{"inputs_json", "bodies.json", `{"data":[{"session_id":"s","payloads":[{"a":1},{"b":2}]},{"session_id":"t","payloads":[{"c":3}]}]}`},
	{"inputs_json", "body.json", `{"data":[{"session_id":"s","payloads":[{"messages":[]}]}]}`},
	{"sagemaker_data_capture", "capture.jsonl", `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":4}","encoding":"JSON"}},` +
		`"eventMetadata":{"eventId":"1","inferenceTime":"2026-01-05T10:00:00.005Z"}}` + "\n"},
	{"dag_jsonl", "graph.jsonl", `{"session_id":"g","turns":[{"messages":[{"role":"user","content":"a"}],"max_tokens":3}]}` + "\n"},
	{"single_turn", "kept.jsonl", `{"text":"a","session_id":"s","output_length":5}` + "\n" + `{"text":"b","session_id":"s","delay":9}` + "\n"},
	{"multi_turn", "hoisted.jsonl", `{"turns":[{"role":"system","text":"be kind"},{"text":"a b"}]}` + "\n"},
	{"mooncake_trace", "grown.jsonl", `{"session_id":"s","timestamp":1,"input_length":30,"output_length":3}` + "\n" + `{"session_id":"s","timestamp":9,"input_length":20,"output_length":4}` + "\n"},
	{"mooncake_trace", "said.jsonl", `{"session_id":"s","text_input":"a","output_length":3}` + "\n" + `{"session_id":"s","delay":4,"text_input":"b","output_length":4}` + "\n"},
	{"bailian_trace", "chats.jsonl", `{"chat_id":7,"timestamp":0.5,"input_length":20,"output_length":3,"hash_ids":[1,2]}` + "\n" +
		`{"chat_id":8,"parent_chat_id":7,"turn":2,"timestamp":4.5,"input_length":40,"output_length":3,"hash_ids":[1,2,3]}` + "\n"},
	{"speed_bench", "asked.jsonl", `{"question_id":"00000000000000000000000000000001","category":"coding","messages":[{"role":"system","content":"be kind"},{"role":"user","content":"a"}]}` + "\n"},
	{"speed_bench", "question.jsonl", `{"question_id":"00000000000000000000000000000001","category":"coding","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}` + "\n"},
	{"tracelab", "rounds.jsonl", round(0, 128, 5) + round(1, 256, 7)},
	{"weka_trace", "weka.jsonl", `{"id":"t","models":["m"],"block_size":64,"hash_id_scope":"local","requests":[{"t":0,"type":"n","model":"m","in":128,"out":5,"hash_ids":[1,2],"api_time":0.5},` +
		`{"t":2,"type":"n","model":"m","in":256,"out":7,"hash_ids":[1,2,3,4],"api_time":0.5}]}` + "\n"},
	{"weka_trace", "agents.jsonl", `{"id":"t","models":["m","n"],"block_size":64,"hash_id_scope":"local","tool_tokens":30,"system_tokens":34,"totals":{},"requests":[` +
		`{"t":0,"type":"s","model":"m","in":128,"out":5,"hash_ids":[1,2],"input_types":["text"],"stop":"tool_use","api_time":0.5,"ttft":0.1},` +
		`{"t":1,"type":"subagent","agent_id":"x","subagent_type":"e","duration_ms":900.5,"status":"failed","models":["n"],"requests":[` +
		`{"t":1.25,"type":"n","model":"n","in":128,"out":9,"hash_ids":[8,9],"api_time":0.25},{"t":1.75,"type":"n","model":"n","in":0,"out":9}]},` +
		`{"t":2,"type":"n","model":"m","in":256,"out":7,"hash_ids":[1,2,3,4],"input_types":["tool_result"],"api_time":0.5,"think_time":0.125}]}` + "\n"},
	{"baseten_trace", "calls.parquet", recordedCalls},
	{"dag_jsonl", "arrays.jsonl", `{"session_id":"g","context_mode":"message_array_with_responses","turns":[{"messages":[{"role":"user","content":"a"}]},{"messages":[{"role":"user","content":"b"}]}]}` + "\n"},
	{"dag_jsonl", "forks.jsonl", `{"session_id":"g","turns":[{"messages":[{"role":"user","content":"a"}],"forks":["h"]}]}` + "\n" +
		`{"session_id":"h","turns":[{"messages":[{"role":"user","content":"b"}]}]}` + "\n"},
}

// round is a round of TraceLab.
func round(i, tokens, out int) string {
	return fmt.Sprintf(`{"session_id":"s","round_index":%d,"input_tokens_total":%d,"prefix_tokens":%d,"newly_append_tokens":128,"output_tokens":%d,"reasoning_output_tokens":0,"model":"m","provider":"claude",`+
		`"user":"u","project":"p","timing_events":[{"event_type":"user_message","timestamp":"2026-01-01T00:0%[1]d:00Z"},{"event_type":"text","timestamp":"2026-01-01T00:0%[1]d:01Z"}],"tools":[]}`+"\n",
		i, tokens, tokens-128, out)
}

// sent says what a file makes a run send: for each session how much of it goes with a request, then texts (of generated ones their tokens) or messages,
// lengths and times. Ready messages of one text are that text; the clock begins with the first request.
func sent(t *testing.T, path, format string, block int) string {
	t.Helper()
	words, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(7)
	set, err := custom.Open(path, custom.Options{
		Type: format, Root: rng.New(&seed), DelayRatio: 1, HoistSystem: true, BlockSize: block, Entries: 1, Assignment: dataset.Assignment{Models: []string{"m"}},
		Agents: weka.Options{Detection: weka.Detection{Split: true}}, Columnar: custom.Columnar{},
		Corpus: func(string) (*synth.Corpus, error) { return synth.NewO200kCorpus(words) }, Separator: func() *int32 { return nil },
	})
	if err != nil {
		t.Fatalf("%s as %s: %v", path, format, err)
	}
	zero := math.Inf(1)
	for n := range dataset.All(set) {
		for _, at := range set.Timings(dataset.Nth(n, set.Len())) {
			if at.Timestamp != nil {
				zero = min(zero, *at.Timestamp)
			}
		}
	}
	made := map[string]bool{"mooncake_trace": true, "bailian_trace": true, "burst_gpt_trace": true, "weka_trace": true, "tracelab": true}[format]
	var b strings.Builder
	order := make([]int, dataset.All(set))
	for n := range order {
		order[n] = dataset.Nth(n, set.Len())
	}
	// A table of calls may be in any order; calls with times are sent at these times.
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := set.Timings(i)[0].Timestamp, set.Timings(j)[0].Timestamp
		if a == nil || b == nil {
			return 0
		}
		return cmp.Compare(*a, *b)
	})
	for _, i := range order {
		c := set.Conversation(i)
		if len(c.Turns) > 1 {
			fmt.Fprintf(&b, "%v ", c.Live())
		}
		fmt.Fprintf(&b, "%q", c.System)
		times := set.Timings(i)
		for k := range c.Turns {
			turn := &c.Turns[k]
			fmt.Fprintf(&b, " [%s %s %s", turn.RawPayload, turn.RawTools, turn.ExtraBody)
			say := func(role, text string) {
				if role == "" {
					role = "user"
				}
				if made && len(text) > 12 {
					text = fmt.Sprintf("%d tokens", words.Count(text))
				}
				fmt.Fprintf(&b, " %s %q", role, text)
			}
			for _, m := range turn.RawMessages {
				var one struct{ Role, Content string }
				if err := json.Unmarshal(m, &one); err != nil {
					t.Fatal(err)
				}
				say(one.Role, one.Content)
			}
			for _, p := range turn.Parts {
				if p.Kind == conversation.Text {
					say(turn.Role, p.Text)
				} else {
					fmt.Fprintf(&b, " %v %s", p.Kind, p.Blob.Address())
				}
			}
			if turn.MaxTokens != nil {
				fmt.Fprintf(&b, " max %d", *turn.MaxTokens)
			}
			if at := times[k].Timestamp; at != nil {
				fmt.Fprintf(&b, " at %g", *at-zero)
			}
			if d := times[k].Delay; d != nil {
				fmt.Fprintf(&b, " after %g", *d)
			}
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestConvertKeepsRequests: what is converted is sent as what it was made of, in every pair that is not refused: the same texts or as many tokens,
// with as much of the session, at the same times. So it is there and back.
func TestConvertKeepsRequests(t *testing.T) {
	testhome.Slow(t)
	files := map[string]string{}
	for _, s := range sourcesOfConvert {
		files[s.name] = s.text
	}
	say(t, files, "version")
	block := map[string]int{"bailian_trace": 16, "weka_trace": 64, "tracelab": 64}
	kept, back := 0, 0
	for _, from := range sourcesOfConvert {
		for to := range strings.SplitSeq(convert.Targets, ", ") {
			if to == "random_pool" { // its rows are drawn
				continue
			}
			var o, e strings.Builder
			convert := func(a, b, from, to string) bool {
				o.Reset()
				e.Reset()
				return Main(t.Context(), &Program{Streams: Streams{Out: &o, Err: &e}}, []string{"dataset", "convert", a, b, "--to", to, "--custom-dataset-type", from, "--force"}) == 0
			}
			if from.format == "random_pool" || !convert(from.name, "out", from.format, to) {
				continue
			}
			kept++
			agents := to == "weka_trace" || to == "tracelab"
			size := block[from.format]
			was := sent(t, from.name, from.format, 0)
			if is := sent(t, "out", to, size); is != was && (size != 64 || agents) { // recorded agents have messages where a trace has prompts
				t.Errorf("%s to %s:\n%sbecame\n%s", from.name, to, was, is)
			} else if size == 64 && !agents && (!strings.Contains(is, `"128 tokens"`) || !strings.Contains(is, `"256 tokens"`) || !strings.HasPrefix(is, "false")) {
				t.Errorf("%s to %s: %s", from.name, to, is)
			}
			if !convert("out", "again", to, from.format) {
				continue
			}
			back++
			if is := sent(t, "again", from.format, size); is != was {
				t.Errorf("%s to %s and back:\n%sbecame\n%s", from.name, to, was, is)
			}
		}
	}
	if kept < 30 || back < 20 {
		t.Errorf("only %d pairs are kept, %d also back", kept, back)
	}
}

// TestConvertPairs: from every format to every other one a file keeps its requests, their lengths and sessions, or is refused with a row and a reason.
func TestConvertPairs(t *testing.T) {
	testhome.Slow(t)
	refused := regexp.MustCompile(`\.(jsonl|json|csv|parquet):( row )?\d+: .{10}|\.json: .{10}`)
	files := map[string]string{}
	for _, s := range sourcesOfConvert {
		files[s.name] = s.text
	}
	// All that is known of a file but its name and rows. Not compared: the clock's zero, which sagemaker_data_capture has at its first row, and lengths
	// of what becomes ready messages, which nothing measures (TestConvert has their words).
	describe := func(name, format string, messages bool) string {
		var o, e strings.Builder
		var s convert.Survey
		status := Main(t.Context(), &Program{Streams: Streams{Out: &o, Err: &e}}, []string{"dataset", "describe", name, "--custom-dataset-type", format, "--json"})
		if err := json.Unmarshal([]byte(o.String()), &s); err != nil || status != 0 {
			t.Fatalf("describe %s as %s: %d %v %s", name, format, status, err, e.String())
		}
		s.Path, s.Format, s.Rows = "", "", 0
		if messages {
			s.Input = nil
		}
		if a := s.Arrivals; a != nil {
			a.First, a.Last = 0, a.Last-a.First
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	kept := 0
	for _, from := range sourcesOfConvert {
		for to := range strings.SplitSeq(convert.Targets, ", ") {
			status, _, errs := say(t, files, "dataset convert "+from.name+" out --to "+to+" --custom-dataset-type "+from.format)
			if status != 0 {
				if _, err := os.Stat("out"); err == nil || !refused.MatchString(errs) || from.format == to && from.name != "forks.jsonl" {
					t.Errorf("%s to %s: %v %s", from.name, to, err, errs)
				}
				continue
			}
			kept++
			if was, is := describe(from.name, from.format, to == "dag_jsonl"), describe("out", to, to == "dag_jsonl"); was != is {
				t.Errorf("%s to %s:\n%s\nbecame\n%s", from.name, to, was, is)
			}
		}
	}
	if kept < 20 {
		t.Errorf("only %d pairs are kept", kept)
	}
}
