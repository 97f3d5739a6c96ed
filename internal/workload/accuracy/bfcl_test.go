package accuracy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBFCL: descriptions of functions stand in the system message as Python writes them, in the words of their language; the gold has them as they are.
func TestBFCL(t *testing.T) {
	o := Options{Benchmark: "bfcl_ast", Dir: "testdata/rows/bfcl_ast", Pin: AnyVersion, Tasks: []string{"simple_java", "simple_python", "irrelevance"}}
	set, err := Load(t.Context(), o)
	if err != nil || len(set.Problems) != 3 || set.System != "" {
		t.Fatalf("%+v, %v", set, err)
	}
	java, python, none := set.Problems[0], set.Problems[1], set.Problems[2]
	for _, want := range []string{
		"            \"properties\": {\n                \"key\": {\n                    \"type\": \"string\",\n",
		`"description": "Key. This is Java String type parameter in string representation."`,
		`"description": "Parts. This is Java ArrayList type parameter in string representation. The list elements are of type integer; they are not in string representation."`,
		`"description": "More. This parameter can be of any type of Java object in string representation."`,
		`"description": "Stores. Note that the provided function is in Java 8 SDK syntax."`,
	} {
		if !strings.Contains(java.Turns[0].Content, want) {
			t.Errorf("no %s in\n%s", want, java.Turns[0].Content)
		}
	}
	if !strings.HasSuffix(java.Turns[0].Content, "]\n\n\nBe brief.") || java.Turns[0].Role != "system" || len(java.Turns) != 2 || strings.Contains(java.Gold, "Java") {
		t.Errorf("%+v", java)
	}
	if !strings.Contains(python.Turns[0].Content, `Area of a figure \u2014 \u03c0 included. Note that the provided function is in Python 3 syntax.`) ||
		!strings.Contains(python.Turns[0].Content, `"default": 1.5`+"\n") || python.Turns[1] != (Message{"user", "Area for a base of 10?"}) {
		t.Errorf("%+v", python)
	}
	if none.Task != "irrelevance" || strings.Contains(none.Gold, "answers") || !strings.Contains(none.Text, "Sing.") {
		t.Errorf("%+v", none)
	}
}

// TestBFCLRefusals: problems that cannot be asked are reported before the first request.
func TestBFCLRefusals(t *testing.T) {
	system := "x"
	release := t.TempDir()
	for _, d := range []string{"bfcl_eval/data/possible_answer", "bfcl_eval-2025.1.1.dist-info"} {
		if err := os.MkdirAll(filepath.Join(release, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, "pip download"},
		{Options{Dir: t.TempDir()}, "the folder possible_answer was not found"},
		{Options{Dir: "testdata/rows/bfcl_ast", Pin: "2026.3.23"}, "the release is unknown"},
		{Options{Dir: release, Pin: "2026.3.23"}, "the data belong to bfcl-eval 2025.1.1"},
		{Options{Dir: release, Pin: "2025.1.1"}, "BFCL_v4_simple_python.json"},
		{Options{Tasks: []string{"multi_turn_base"}}, "multi_turn_*"},
		{Options{Tasks: []string{"exec_simple"}}, "exec_*"},
		{Options{Tasks: []string{"web_search_base"}}, "web_search_*"},
		{Options{Tasks: []string{"memory_kv"}}, "memory_*"},
		{Options{Tasks: []string{"simple"}}, "unknown task"},
		{Options{System: &system}, "cannot be replaced"},
	} {
		c.o.Benchmark = "bfcl_ast"
		if _, err := Load(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.says)
		}
	}
}

func TestPythonJSON(t *testing.T) {
	v, err := readDocument(`{"b": [], "a": {}, "n": [1, 2.50, 1e-7, 1e20, -0.0], "s": "é\u0001\"\\😀\u007f", "t": [true, null]}`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	pythonJSON(&b, v, -1, 0)
	want := `{"b": [], "a": {}, "n": [1, 2.5, 1e-07, 1e+20, -0.0], "s": "\u00e9\u0001\"\\\ud83d\ude00\u007f", "t": [true, null]}`
	if b.String() != want {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
	for _, text := range []string{"{", `{"a"}`, "[1 2]", "1 2", ""} {
		if _, err := readDocument(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
