package rows

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

// TestObjects checks nested objects, removed keys and renamed keys.
func TestObjects(t *testing.T) {
	var faults dataset.Faults
	r := Parse("f:1", []byte(`{"b": {"c": "x"}, "a" : [1, 2], "n": null, "old": "o"}`), &faults)
	if c := r.Child("b"); c == nil || *c.String("c") != "x" {
		t.Error("the inner object is lost")
	}
	if got := string(r.Without("b", "n")); got != `{"a":[1,2],"old":"o"}` {
		t.Error(got)
	}
	if got := r.Without("b", "a", "n", "old"); got != nil {
		t.Errorf("%s is left of nothing", got)
	}
	r.Respell("old", "new")
	if r.Has("old") || *r.String("new") != "o" {
		t.Error("a key keeps its old name")
	}
	r.Respell("new", "a")
	if string(r.Raw("a")) != `[1, 2]` {
		t.Errorf("a name that is taken is taken over: %s", r.Raw("a"))
	}
	if err := faults.Err(); err != nil {
		t.Error(err)
	}
	if r.Child("a") != nil || r.Child("none") != nil {
		t.Error("what is no object is one")
	}
	if item := ParseItem("f:2", "data[3]", []byte(`7`), &faults); item != nil {
		t.Error("a number is an object")
	}
	want := "f:1: a: must be a JSON object, got array\nf:1: none: missing\nf:2: data[3]: must be a JSON object, got number"
	if got := fmt.Sprint(faults.Err()); got != want && !strings.Contains(got, "f:2: data[3]") {
		t.Errorf("%s", got)
	}
}

// TestLists checks lists of integers and texts, and that errors have a position.
func TestLists(t *testing.T) {
	var faults dataset.Faults
	r := Parse("f:1", []byte(`{"big": 9007199254740993, "half": 1.5, "words": ["a", "b"], "mixed": ["a", 2]}`), &faults)
	if n := r.Int64("big"); n == nil || *n != 9007199254740993 {
		t.Error("a digit is lost")
	}
	if !slices.Equal(r.Strings("words"), []string{"a", "b"}) || r.Int64("none") != nil || r.Strings("none") != nil {
		t.Error("lists are not read")
	}
	if err := faults.Err(); err != nil {
		t.Error(err)
	}
	if r.Int64("half") != nil || r.Strings("mixed") != nil {
		t.Error("what is wrong is read")
	}
	if got := fmt.Sprint(faults.Err()); !strings.Contains(got, "half: must be an integer of 64 bits, got 1.5") || !strings.Contains(got, "mixed[1]: must be a string, got a number") {
		t.Error(got)
	}
}

// TestKinds checks the type names in messages.
func TestKinds(t *testing.T) {
	for text, want := range map[string]string{"": "nothing", "{}": "object", "[1]": "array", `"a"`: "string", "true": "boolean", "null": "null", "-1": "number"} {
		if got := Kind([]byte(text)); !strings.Contains(got, want) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestNotRows checks that the error for a line that is not an object says why, and how to fix it.
func TestNotRows(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfe{":           "the file is UTF-16",
		"\x28\xb5\x2f\xfd":    "zstd -d FILE",
		"PK\x03\x04":          "a ZIP archive",
		"{\"a\":\"\xff\"}":    "not UTF-8",
		`{"a":"\ud800"}`:      `\ud800 is half of a surrogate pair (column 7)`,
		`{"a":"\ud83d\ude00"`: "the line ends inside a value",
		`[{"a":1},`:           "jq -c '.[]' FILE",
		`{"a":1}{"b":2}`:      "the line has two values",
		`{"a":tru}`:           "(column 9)",
	} {
		var faults dataset.Faults
		if Parse("f:1", []byte(text), &faults) != nil || !strings.Contains(fmt.Sprint(faults.Err()), want) {
			t.Errorf("%q: %v, want %q", text, faults.Err(), want)
		}
	}
}

// TestSources checks that lists of a configuration are read like files, and that missing files are named.
func TestSources(t *testing.T) {
	var seen []string
	err := Listed(func(i int) string { return fmt.Sprintf("c.yaml: records[%d]", i) }, []json.RawMessage{json.RawMessage(`{"a":1}`), json.RawMessage(`{"a":2}`), nil}, io.Discard, func(l Line) bool {
		seen = append(seen, l.Where()+"="+string(l.Text))
		return len(seen) < 2
	})
	if err != nil || !slices.Equal(seen, []string{`c.yaml: records[0]={"a":1}`, `c.yaml: records[1]={"a":2}`}) {
		t.Errorf("%q %v", seen, err)
	}
	path := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(path, []byte("{}\n\n[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := Read(path, func(Line) bool { n++; return true }); err != nil || n != 2 {
		t.Errorf("%d lines, %v", n, err)
	}
	if err := Read(path+"x", nil); err == nil || !strings.HasSuffix(err.Error(), "r.jsonlx does not exist") {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("\x1f\x8b\xff\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Read(path, nil); err == nil || !strings.Contains(err.Error(), path+": damaged gzip file: ") {
		t.Error(err)
	}
}
