package custom

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStreamEveryFormat checks that rows of every format come one by one with the same sessions, times and lengths as from the whole file.
func TestStreamEveryFormat(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	question := strings.Repeat("q", QuestionID)
	capture := func(at string) string {
		return `{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\"}],\"max_tokens\":4}","encoding":"JSON"}},"eventMetadata":{"inferenceTime":"` + at + `"}}` + "\n"
	}
	done := map[string]bool{}
	for _, c := range []struct {
		format, path string
		want         []string
	}{
		{"single_turn", put("a", `{"text":"a","timestamp":5}`), []string{"[a@5]"}},
		{"multi_turn", put("b", `{"session_id":"s","turns":[{"text":"a"},{"text":"b"}]}`), []string{"s [a] [b]"}},
		{"random_pool", put("c", `{"text":"a"}`), []string{"[a]"}},
		{"mooncake_trace", put("d", `{"input_length":9,"hash_ids":[4],"session_id":"m"}`), []string{"m 9 [4]"}},
		{"raw_payload", put("e", `{"a":1}`), []string{`[{"a":1}]`}},
		{"inputs_json", put("f", `{"data":[{"session_id":"i","payloads":[{"a":1},{"b":2}]}]}`), []string{`i [{"a":1}] [{"b":2}]`}},
		{"burst_gpt_trace", put("g", "Timestamp,Request tokens,Response tokens\n2,7,8\n"), []string{"7 []@2000"}},
		{"bailian_trace", put("h", `{"chat_id":1,"timestamp":0.5,"input_length":20,"output_length":3,"hash_ids":[1,2]}`+"\n"+`{"chat_id":2,"parent_chat_id":1,"turn":2,"timestamp":1,"input_length":30,"output_length":0}`),
			[]string{"1 20 [1 2]@500", "1 30 []@1000"}},
		{"sagemaker_data_capture", put("i", capture("2025-03-01T10:00:05Z")+capture("2025-03-01T10:00:00Z")), []string{`0 []@5000`, `0 []@0`}},
		{"dag_jsonl", put("j", `{"session_id":"k","turns":[{"messages":[{"role":"user","content":"x"}]}]}`), []string{`k [{"role":"user","content":"x"}]`}},
		{"speed_bench_qualitative", put("k", `{"question_id":"`+question+`","category":"math","messages":[{"role":"user","content":"x"}]}`), []string{question + " [x]"}},
		{"baseten_trace", "testdata/baseten.parquet", []string{"s2 [later@3000]", "s1 [first@0]", "s1 [first second@2000]", "[alone é@100000]"}},
		{"weka_trace", put("l.json", wekaTrace), []string{"t 130 [1 2]@0", "t 260 [1 2 3 4]@1600", "t::sa:x 100 [5]@700"}},
		{"tracelab", put("m", `{"session_id":"p","round_index":0,"input_tokens_total":130,"prefix_tokens":0,"timing_events":[{"event_type":"user_message","timestamp":"2026-01-01T00:00:00Z"}]}`),
			[]string{"p 130 [1 2]@0"}},
		{linesType, put("n", "a\n\nb\n"), []string{"session_000000 [a]", "session_000001 [b]"}},
		{tableType, put("o.csv", "id,prompt\n1,\"a, b\"\n2,c\n"), []string{"session_000000 [a, b]", "session_000001 [c]"}},
	} {
		var got []string
		o := agentsBase("")
		name, _, err := Stream(c.path, c.format, o, func(e Entry) error {
			text := e.Session
			if e.Record != nil {
				text += fmt.Sprintf(" %d %v", e.Record.InputLength, e.Record.HashIDs)
				if e.Record.Timestamp != nil {
					text += fmt.Sprintf("@%g", *e.Record.Timestamp)
				}
			}
			for _, turn := range e.Turns {
				said := strings.Join(turn.Contents(), " ") + string(turn.RawPayload)
				for _, m := range turn.RawMessages {
					said += string(m)
				}
				if turn.Timestamp != nil {
					said += fmt.Sprintf("@%g", *turn.Timestamp)
				}
				text += " [" + said + "]"
			}
			got = append(got, strings.TrimSpace(text))
			return nil
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %v, want %q", c.format, got, err, c.want)
		}
		done[name] = true
	}
	for _, f := range Formats {
		if !done[f.Name] {
			t.Errorf("%s is not tried", f.Name)
		}
	}
}

// TestStreamStops checks that the first error of the callback ends the stream, and that a session out of order is rejected.
func TestStreamStops(t *testing.T) {
	path := write(t, `{"chat_id":1,"timestamp":0,"input_length":1,"output_length":1,"turn":2}`+"\n"+`{"chat_id":2,"parent_chat_id":1,"timestamp":0,"input_length":1,"output_length":1,"turn":1}`)
	if _, _, err := Stream(path, "", base(""), func(Entry) error { return nil }); err == nil || !strings.Contains(err.Error(), ":2: turn: 1 comes after turn 2") {
		t.Error(err)
	}
	want := json.Unmarshal([]byte("x"), new(int))
	if _, _, err := Stream(write(t, `{"text":"a"}`), "", base(""), func(Entry) error { return want }); err != want { //nolint:errorlint // it is handed through
		t.Error(err)
	}
}
