package artifact

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// leave writes a file with a text.
func leave(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func none(string) bool { return false }

// TestKeepPrevious: a run moves the results before it aside and leaves the user's files; those before them go with its first success, not earlier; a
// run without a success is not kept.
func TestKeepPrevious(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "run")
	l := NewLayout(dir, "")
	rotate := func(want bool) {
		t.Helper()
		if moved, err := l.KeepPrevious(none); moved != want || err != nil {
			t.Fatalf("moved %v, %v", moved, err)
		}
		if _, err := l.Clear(none); err != nil {
			t.Fatal(err)
		}
	}
	result := func(label string) {
		leave(t, l.SummaryJSON(), `{"request_count":{"avg":3},"label":"`+label+`"}`)
		leave(t, l.Log(), label)
		leave(t, filepath.Join(dir, "report.html"), label)
	}
	if moved, err := l.KeepPrevious(none); moved || err != nil {
		t.Fatalf("nothing is there: %v, %v", moved, err)
	}
	result("one")
	leave(t, filepath.Join(dir, "notes.txt"), "mine")
	leave(t, filepath.Join(dir, "data", "prompts.jsonl"), "mine")
	rotate(true)
	if got, want := left(t, root), []string{"run/data/prompts.jsonl", "run/notes.txt", "run.previous/logs/aiperf.log", "run.previous/profile_export_aiperf.json", "run.previous/report.html"}; !slices.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	result("two")
	rotate(true) // three begins: nothing is lost yet
	if got := left(t, root); !slices.Contains(got, "run.previous/profile_export_aiperf.json") || !slices.Contains(got, "run.previous-2/profile_export_aiperf.json") {
		t.Fatalf("%v", got)
	}
	leave(t, l.SummaryJSON(), `{"error_request_count":{"avg":3}}`)
	rotate(false) // four begins after a run that failed
	if got := left(t, root); !slices.Contains(got, "run.previous-2/profile_export_aiperf.json") {
		t.Fatalf("%v", got)
	}
	result("four")
	if err := DropOldest(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(Previous(dir), "logs", "aiperf.log"))
	if got := left(t, root); err != nil || string(text) != "two" || slices.ContainsFunc(got, func(f string) bool { return filepath.Dir(f) == "run.previous-2" }) {
		t.Fatalf("%s %v %v", text, err, got)
	}
}

// TestKeepPreviousOfSeries: cells of a sweep are results, a run that was killed too; a file that the new run reads stays.
func TestKeepPreviousOfSeries(t *testing.T) {
	for name, path := range map[string]string{"sweep": "concurrency_8/profile_export_aiperf.json", "search": "cells/cell_01_rate_5/profile_export_aiperf.json"} {
		dir := filepath.Join(t.TempDir(), "run")
		leave(t, filepath.Join(dir, path), `{"request_count":{"avg":3}}`)
		if moved, err := NewLayout(dir, "").KeepPrevious(none); !moved || err != nil {
			t.Errorf("%s: %v, %v", name, moved, err)
		}
		if got := left(t, Previous(dir)); !slices.Equal(got, []string{path}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	l := NewLayout(dir, "")
	leave(t, l.Records(), "{}\n")
	leave(t, l.Inputs(), "{}")
	moved, err := l.KeepPrevious(func(path string) bool { return path == l.Inputs() })
	if got := left(t, filepath.Dir(dir)); !moved || err != nil || !slices.Equal(got, []string{"run/inputs.json", "run.previous/profile_export.jsonl"}) {
		t.Errorf("%v %v %v", moved, err, got)
	}
}

// TestClearSeriesOfSearch: cells of an earlier search go, also one that a kill left without a summary.
func TestClearSeriesOfSearch(t *testing.T) {
	dir := t.TempDir()
	leave(t, filepath.Join(dir, "cells", "cell_01_rate_858.2", "profile_export.jsonl"), "{}\n")
	leave(t, filepath.Join(dir, "blocks", "pair_01_a", "profile_export_aiperf.json"), "{}")
	leave(t, filepath.Join(dir, "other", "profile_export_aiperf.json"), "{}")
	read := filepath.Join(dir, "cells", "one_user", "inputs.json") // the next search reads it
	leave(t, read, "{}")
	leave(t, filepath.Join(filepath.Dir(read), "profile_export.jsonl"), "{}\n")
	if n, err := ClearSeries(dir, "", func(path string) bool { return path == read }); n != 3 || err != nil {
		t.Errorf("%d files removed, %v", n, err)
	}
	if got := left(t, dir); !slices.Equal(got, []string{"cells/one_user/inputs.json", "other/profile_export_aiperf.json"}) {
		t.Errorf("left: %v", got)
	}
}

// TestSucceeded: what counts as a run with a success: a summary that counts one, or records of a run that was killed before its summary. A directory of
// the user's, or of a report, does not count.
func TestSucceeded(t *testing.T) {
	const summary, records = "profile_export_aiperf.json", "profile_export.jsonl"
	const success, failure = `{"request_count":{"avg":3}}`, `{"error_request_count":{"avg":3}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"a success":                     {map[string]string{summary: success}, true},
		"failures alone":                {map[string]string{summary: failure}, false},
		"failures, with their records":  {map[string]string{summary: failure, records: "{}\n"}, false},
		"killed before its summary":     {map[string]string{records: "{}\n"}, true},
		"killed before its first":       {map[string]string{records: ""}, false},
		"a success in a hidden folder":  {map[string]string{".old/" + summary: success}, false},
		"a success of a report":         {map[string]string{"report/" + summary: success}, false},
		"a success far below":           {map[string]string{"a/b/c/d/e/f/" + summary: success}, false},
		"one cell failed, one did not":  {map[string]string{"a/" + summary: failure, "b/" + summary: success}, true},
		"a summary that is no JSON":     {map[string]string{summary: "{"}, false},
		"a success, and a hidden other": {map[string]string{summary: success, ".old/" + summary: success, "logs/aiperf.log": ""}, true},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		for path, text := range c.files {
			leave(t, filepath.Join(dir, path), text)
		}
		l := NewLayout(dir, "")
		if moved, err := l.KeepPrevious(none); moved != c.want || err != nil {
			t.Errorf("%s: moved %v, %v", name, moved, err)
		}
		if hidden := filepath.Join(dir, ".old"); c.files[".old/"+summary] != "" && !exists(hidden) {
			t.Errorf("%s: the user's hidden folder is gone", name)
		}
	}
}

// TestKeepPreviousInPart: a directory with a file that must stay stays whole. Results that cannot be moved are an error.
func TestKeepPreviousInPart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	l := NewLayout(dir, "")
	leave(t, l.SummaryJSON(), `{"request_count":{"avg":3}}`)
	leave(t, l.Log(), "log")
	leave(t, filepath.Join(dir, "cells", "a", "inputs.json"), "{}")
	moved, err := l.KeepPrevious(func(path string) bool {
		if path == l.Log() { // somebody writes to the place meanwhile
			leave(t, filepath.Join(Previous(dir), "logs", "other"), "x")
		}
		return filepath.Base(path) == "inputs.json"
	})
	if !moved || err == nil || !exists(l.Log()) || exists(l.SummaryJSON()) {
		t.Errorf("moved %v, %v, log there %v", moved, err, exists(l.Log()))
	}
	if !exists(filepath.Join(dir, "cells", "a", "inputs.json")) {
		t.Error("a file that must stay was moved with its directory")
	}
}
