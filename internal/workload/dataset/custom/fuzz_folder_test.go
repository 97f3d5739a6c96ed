package custom

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/workload/dataset"
)

// FuzzFolder reads any two files in a folder, as every format that takes a folder and with detection.
func FuzzFolder(f *testing.F) {
	for _, pair := range [][2]string{
		{`{"text":"a"}`, `{"texts":["b","c"]}`}, {`{"text":"a","image":"x.png"}`, ""}, {`{"messages":[]}` + "\n" + `{"a":1}`, `{"messages":[{"role":"user"}]}`},
		{wekaTrace, wekaTrace}, {`{"captureData":{"endpointInput":{"data":"e30="}},"eventMetadata":{"eventId":"e","inferenceTime":"2025-03-01T10:00:00Z"}}`, "{"},
		{`{"type":"random_pool","texts":[{"name":"n","contents":["a"]}]}`, "\xff\xfe"}, {`{"data":[{"session_id":"s","payloads":[{}]}]}`, "[1]"},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, one, two []byte) {
		for name, content := range map[string][]byte{"a.jsonl": one, "b.json": two, "b.jsonl": two} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, format := range builtTypes() {
			o := agentsBase(format)
			o.Corpus, o.Entries = nil, 3
			check(t, dir, o)
		}
	})
}

// FuzzRecords reads any rows of a configuration as every format, unnamed and as a named list.
func FuzzRecords(f *testing.F) {
	for _, row := range []string{
		`{"text":"a"}`, `{"turns":[{"text":"a"}]}`, `{"messages":[{"role":"user"}],"output_length":1}`, `null`, `[]`, `5`, `{"text":"a","session_id":"s"}` + "\n" + `{"texts":[1]}`, "{",
		`{"question_id":"q","category":"c","messages":[]}`, `{"chat_id":1,"timestamp":1,"input_length":1,"output_length":1}`,
	} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var list []json.RawMessage
		for row := range bytes.SplitSeq(text, []byte("\n")) {
			list = append(list, row)
		}
		for _, name := range []string{"", "queries"} {
			for _, format := range builtTypes() {
				o := agentsBase(format)
				o.Corpus, o.Entries, o.Records = nil, 3, []Pool{{Name: name, Rows: list}}
				if name != "" && len(text)%2 == 0 {
					o.Records = append(o.Records, Pool{Name: "passages"})
				}
				_, looked := SampleRecords(o.Records, format, nil)
				if check(t, "", o) && looked != nil {
					t.Fatalf("%s: read, and refused at the first look: %v", format, looked)
				}
			}
		}
	})
}

// check opens data. This must give an error, or conversations that can be generated. It reports whether there are any.
func check(t *testing.T, path string, o Options) bool {
	s, err := Open(path, o)
	if (s == nil) == (err == nil) {
		t.Fatalf("%s: set %v, error %v", o.Type, s, err)
	}
	if s == nil {
		return false
	}
	for n := range dataset.All(s) {
		i := dataset.Nth(n, s.Len())
		if c := s.Conversation(i); len(c.Turns) == 0 || len(s.Timings(i)) != len(c.Turns) {
			t.Fatalf("%s: conversation %d has %d turns", o.Type, i, len(c.Turns))
		}
	}
	return true
}
