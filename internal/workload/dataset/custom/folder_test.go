package custom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
)

// writeFolder writes a folder with files.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func seven() *rng.Root {
	seed := uint64(7)
	return rng.New(&seed)
}

// TestPools compares the drawn rows with those of the Python tool for the same files and seed (--random-seed 7).
func TestPools(t *testing.T) {
	o := base("random_pool")
	o.Root, o.Entries = seven(), 4
	s := open(t, "{\"text\":\"t0\"}\n{\"text\":\"t1\"}\n{\"text\":\"t2\"}\n{\"text\":\"t3\"}\n", o)
	want := []string{"session_000000: in[t0]", "session_000001: in[t1]", "session_000002: in[t2]", "session_000003: in[t1]"}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	dir := writeFolder(t, map[string]string{
		"passages.jsonl": "{\"texts\":[\"x\",\"y\"]}\n{\"texts\":[\"z\"]}\n", "queries.jsonl": "{\"text\":\"q1\"}\n{\"text\":\"q2\"}\n",
	})
	o.Root, o.Entries, o.Type = seven(), 3, ""
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"session_000000: passages[x|y]queries[q1]", "session_000001: passages[x|y]queries[q2]", "session_000002: passages[z]queries[q1]"}
	var got []string
	for _, line := range lines(s) {
		got = append(got, strings.Replace(line, "][", "", 1))
	}
	for i := range want {
		if strings.ReplaceAll(got[i], "]", "") != strings.ReplaceAll(want[i], "]", "") {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	o.Entries = 0
	if s, err = Open(dir, o); err != nil || s.Len() != 100 || s.Info().Type != "random_pool" {
		t.Errorf("%d conversations, %v", s.Len(), err)
	}
}

// TestPayloadFolder checks that each file of a folder is a conversation and that its lines are sent unchanged.
func TestPayloadFolder(t *testing.T) {
	dir := writeFolder(t, map[string]string{
		"b.jsonl": "{\"messages\":[], \"n\":1.0}\n\n{\"messages\":[],\"n\":2}\n", "a.jsonl": "{\"messages\":[]}", "readme.txt": "no body",
	})
	s, err := Open(dir, base(""))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`a: {"messages":[]}`, `b: {"messages":[], "n":1.0}; {"messages":[],"n":2}`}
	if got := lines(s); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if l, err := SampleFile(dir, "", "", nil); err != nil || l.Format.Name != "raw_payload" || l.Records != 3 || l.Turns != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestFolderFaults(t *testing.T) {
	for _, c := range []struct {
		files  map[string]string
		format string
		want   []string
	}{
		{map[string]string{"a.jsonl": `{"text":"a"}`, "b.jsonl": `{"turns":[]}`}, "", []string{"a.jsonl is a single_turn file", "b.jsonl is a multi_turn file"}},
		{map[string]string{"a.jsonl": `{"turns":[]}`}, "", []string{"a.jsonl is a multi_turn file", "datasets.main.format"}},
		{map[string]string{"a.jsonl": `{"foo":1}`}, "", []string{"a.jsonl: cannot detect"}},
		{map[string]string{"a.jsonl": `{"text":1}`, "b.jsonl": "\n{}"}, "random_pool", []string{"a.jsonl:1: text: must be a string", "b.jsonl:2: at least one of text"}},
		{map[string]string{"a.jsonl": "{", "b.jsonl": "[]"}, "raw_payload", []string{"a.jsonl:1: invalid JSON", "b.jsonl:1: must be a JSON object"}},
		{map[string]string{"a.txt": "{}"}, "raw_payload", []string{"holds no .jsonl file"}},
	} {
		_, err := Open(writeFolder(t, c.files), base(c.format))
		for _, piece := range c.want {
			if err == nil || !strings.Contains(err.Error(), piece) {
				t.Errorf("%v: %v, want %q", c.files, err, piece)
			}
		}
	}
}
