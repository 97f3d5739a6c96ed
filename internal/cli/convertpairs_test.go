package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"aiperf/internal/dataset/survey"
)

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
	{"dag_jsonl", "forks.jsonl", `{"session_id":"g","turns":[{"messages":[{"role":"user","content":"a"}],"forks":["h"]}]}` + "\n" +
		`{"session_id":"h","turns":[{"messages":[{"role":"user","content":"b"}]}]}` + "\n"},
}

// TestConvertPairs: from every format to every other one a file keeps its requests, their lengths and sessions, or is refused with a row and a reason.
func TestConvertPairs(t *testing.T) {
	refused := regexp.MustCompile(`\.(jsonl|json|csv):\d+: .{10}|\.json: .{10}`)
	files := map[string]string{}
	for _, s := range sourcesOfConvert {
		files[s.name] = s.text
	}
	// All that is known of a file but its name and rows. Not compared: the clock's zero, which sagemaker_data_capture has at its first row, and lengths
	// of what becomes ready messages, which nothing measures (TestConvert has their words).
	describe := func(name, format string, messages bool) string {
		var o, e strings.Builder
		var s survey.Survey
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
		for to := range strings.SplitSeq(survey.Targets, ", ") {
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
