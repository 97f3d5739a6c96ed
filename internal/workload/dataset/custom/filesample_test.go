package custom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func lookAt(t *testing.T, content, named string) (*FileSample, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return SampleFile(path, named, "", nil)
}

func TestLookInto(t *testing.T) {
	for _, c := range []struct {
		content, named string
		format         string
		records        int
		timed          bool
	}{
		{`{"text":"a"}` + "\n\n" + `{"text":"b"}`, "", "single_turn", 2, false},
		{`{"text":"a","timestamp":1}`, "", "single_turn", 1, true},
		{`{"text":"a","timestamp":null}`, "single_turn", "single_turn", 1, false},
		{`{"turns":[{"text":"a"}]}`, "", "multi_turn", 1, false},
		{`{"turns":[{"text":"a","timestamp":5}]}`, "", "multi_turn", 1, true},
		{`{"turns":[{"messages":[]}]}`, "", "dag_jsonl", 1, false},
		{`{"input_length":1,"timestamp":0}`, "", "mooncake_trace", 1, true},
		{`{"messages":[],"delay":1}`, "", "mooncake_trace", 1, false},
		{`{"messages":[]}`, "", "raw_payload", 1, false},
		{`{"type":"random_pool","text":"a"}`, "", "random_pool", 1, false},
		{`{"type":"text","chat_id":1,"timestamp":1,"input_length":1,"output_length":1}`, "", "bailian_trace", 1, true},
		{`{"captureData":{}}`, "", "sagemaker_data_capture", 1, true},
		{"{\n \"data\": [\n  {\"session_id\": \"s\", \"payloads\": [{\"a\": 1}]}\n ]\n}\n", "", "inputs_json", 0, false},
		{`{"requests":[],"block_size":64}`, "", "weka_trace", 1, true},
		{`{"round_index":0,"input_tokens_total":1,"timing_events":[{}]}`, "", "tracelab", 1, true},
		{"Timestamp,Model,Request tokens,Response tokens\n5,m,1,1\n", "", "burst_gpt_trace", 1, true},
		{`{"text":"Timestamp, Request tokens and Response tokens are its columns"}`, "", "single_turn", 1, false},
	} {
		l, err := lookAt(t, c.content, c.named)
		if err != nil {
			t.Errorf("%s: %v", c.content, err)
			continue
		}
		if l.Format.Name != c.format || l.Records != c.records || l.Timed != c.timed || l.Recognised != (c.named == "") {
			t.Errorf("%s: %s, %d records, timed %v, recognised %v", c.content, l.Format.Name, l.Records, l.Timed, l.Recognised)
		}
	}
}

func TestLookIntoCountsTurns(t *testing.T) {
	for _, c := range []struct {
		content string
		turns   int
		all     bool
	}{
		{`{"text":"a","timestamp":0}` + "\n" + `{"text":"b"}`, 2, false},
		{`{"turns":[{"text":"a","timestamp":0},{"text":"b"}]}` + "\n" + `{"turns":[{"text":"c","timestamp":1},{"text":"d"},{"text":"e"}]}`, 5, true},
		{`{"turns":[{"role":"system","text":"s"},{"text":"a","timestamp":0}]}`, 1, true},
		{`{"turns":[{"role":"system","text":"s","timestamp":0},{"text":"a"}]}`, 2, true},
		{`{"turns":[{"role":"system","text":"s"}]}`, 1, false},
		{`{"input_length":1,"timestamp":0}` + "\n" + `{"input_length":1,"timestamp":0}`, 2, true},
	} {
		l, err := lookAt(t, c.content, "")
		if err != nil || l.Turns != c.turns || l.AllTimed != c.all {
			t.Errorf("%s: %+v, %v", c.content, l, err)
		}
	}
}

func TestLookIntoFaults(t *testing.T) {
	for content, want := range map[string]string{
		`{"foo":1}`:           "cannot detect the format of the file (keys: foo)",
		`{"turns":1}`:         "cannot detect the format",
		"{\"text\":\"a\"}\n[": "in.jsonl:2: invalid JSON",
		"":                    "no records",
		"\n{\"text\":\"a\"":   "in.jsonl:2: invalid JSON: the line ends inside a value; a JSONL file has one object per line",
		`[{"text":"a"}]`:      "in.jsonl:1: must be a JSON object, got array; a JSONL file has one object per line; convert it with: jq -c '.[]' FILE",
		"a,b\n1,2":            "the first line is not a JSON object",
	} {
		if l, err := lookAt(t, content, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %q", content, l, err, want)
		}
	}
	// A row that is not JSON does not hide the errors of other rows.
	path := write(t, "{\"text\":5}\n{\"text\":\"b\"\n{\"texts\":7}")
	_, err := SampleFile(path, "single_turn", "", nil)
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Fatal(err)
	}
	err = AllFaults(path, "single_turn", Options{}, err)
	for i, want := range []string{"in.jsonl:1: text: ", "in.jsonl:2: invalid JSON: ", "in.jsonl:3: texts: "} {
		if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 || !strings.Contains(lines[i], want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := SampleFile(t.TempDir(), "multi_turn", "", nil); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("directory: %v", err)
	}
	if _, err := SampleFile(filepath.Join(t.TempDir(), "gone"), "", "", nil); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("missing file: %v", err)
	}
}

// TestLookIntoLargeFiles checks that the rows of a large file are not counted, so that the first rows are not taken for all.
func TestLookIntoLargeFiles(t *testing.T) {
	leave(t)
	l, err := SampleFile(write(t, strings.Repeat(`{"timestamp":1,"input_length":5}`+"\n", 3)), "mooncake_trace", "", nil)
	if err != nil || l.Turns != 0 || l.Records != 0 || !l.Timed {
		t.Errorf("%+v %v", l, err)
	}
}
