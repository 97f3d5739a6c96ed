package custom

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

// FuzzOpen reads any file as every format, row by row, from memory and from the disk. This must give an error, or a dataset with the same
// conversations each time.
func FuzzOpen(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a"}`, `{"texts":[{"name":"n","contents":["a"]}]}`, `{"turns":[{"role":"system","text":"s"},{"text":"a","delay":1}]}`,
		`{"text_input":"a","timestamp":1}`, `{"messages":[{"role":"user"}],"tools":[1]}`, `{"payload":{"a":1}}`,
		`{"data":[{"session_id":"s","payloads":[{}]}]}`, `{"type":"weka_trace"}`, `{"text":"a","image":"x.png","audios":["wav,AAAA"],"video":"http://h/v"}`, `{"images":["data:,"],"image_uuids":["u"]}`, `{"texts":[null]}`, "PAR1", "Timestamp,Request tokens,Response tokens",
	} {
		f.Add([]byte(seed))
	}
	for _, seed := range []string{
		`{"chat_id":1,"parent_chat_id":1,"timestamp":0.5,"input_length":20,"output_length":0,"turn":1,"hash_ids":[1,2]}`,
		`{"session_id":"a","turns":[{"messages":[{"role":"user"}],"forks":["b"],"spawns":["b"]}]}` + "\n" + `{"session_id":"b","turns":[{"messages":[{"role":"user"}],"forks":["a"]}]}`,
		"Timestamp,Request tokens,Response tokens\n1,2,3\n\"x,y\n",
		`{"captureData":{"endpointInput":{"data":"eyJtZXNzYWdlcyI6W119"}},"eventMetadata":{"eventId":"e","inferenceTime":"2025-03-01T10:00:00Z"}}`,
		`{"captureData":{"endpointInput":{"data":"{\"messages\":[{\"role\":\"user\"}],\"a\":1}","encoding":"JSON"}},"eventMetadata":{"inferenceTime":"2025-03-01T10:00:00+01:00"}}`,
		`{"session_id":"a","text":"x"}` + "\n" + `{"text":"y"}` + "\n" + `{"session_id":"a","text":"z"}`,
		`{"session_id":"a","turns":[{"role":"system","text":"x"}]}` + "\n" + `{"session_id":"a","turns":[{"text":"z"}]}`,
		"{\"data\":[\n{\"session_id\":\"a\",\"payloads\":[{}]},\n{\"session_id\":\"b\",\"payloads\":[{}, {}]}]}",
	} {
		f.Add([]byte(seed))
	}
	columns, err := os.ReadFile("testdata/baseten.parquet")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(columns)
	f.Add([]byte(wekaTrace))
	f.Add([]byte(`{"session_id":"p","round_index":0,"input_tokens_total":9,"timing_events":[{"event_type":"text","timestamp":"2026-01-01T00:00:00"}],"tools":[{"tool_name":"Task"}]}`))
	path := filepath.Join(f.TempDir(), "in.jsonl")
	before := maxFileInMemory
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range builtTypes() {
			o := agentsBase(format)
			o.Corpus = nil // no prompts of a given length: the time is better spent on the parsers
			_, _, streamed := Stream(path, format, o, func(Entry) error { return nil })
			s, err := Open(path, o)
			if err == nil && streamed != nil && !strings.Contains(streamed.Error(), "sort the rows") {
				t.Fatalf("%s: row by row %v", format, streamed)
			}
			if (s == nil) == (err == nil) {
				t.Fatalf("set %v, error %v", s, err)
			}
			maxFileInMemory = -1
			left, leftErr := Open(path, o)
			maxFileInMemory = before
			if (err == nil) != (leftErr == nil) {
				t.Fatalf("%s: in memory %v, in its file %v", format, err, leftErr)
			}
			if s == nil {
				continue
			}
			for n := range dataset.All(s) {
				i := dataset.Nth(n, s.Len())
				c := s.Conversation(i)
				if len(c.Turns) == 0 || len(s.Timings(i)) != len(c.Turns) {
					t.Fatalf("conversation %d has %d turns", i, len(c.Turns))
				}
				a, _ := json.Marshal(c)
				if b, _ := json.Marshal(left.Conversation(i)); !bytes.Equal(a, b) || !reflect.DeepEqual(left.Timings(i), s.Timings(i)) {
					t.Fatalf("%s: in memory %s, in its file %s", format, a, b)
				}
			}
		}
	})
}

// builtTypes returns all formats, and "" for detection.
func builtTypes() []string {
	list := []string{""}
	for _, f := range Formats {
		list = append(list, f.Name)
	}
	return list
}
