package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLock: a lock notices every change of a file, a program, and the set of packages; files that Python makes are none of them.
func TestLock(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	write(filepath.Join(bin, "run"), "#!/bin/sh\n")
	const one = "accuracy_grader:\n  a:\n    exec: [run, a.py]\n  b:\n    exec: [./own]\n"
	files := map[string]string{"one/plugins.yaml": one, "one/a.py": "1", "one/own": "2", "one/sub/c.txt": "3", "one/__pycache__/a.pyc": "4", "one/.git/x": "5",
		"two/plugins.yaml": "accuracy_grader:\n  c:\n    class: a:B\n"}
	for name, text := range files {
		write(filepath.Join(dir, name), text)
	}
	own := filepath.Join(dir, "one", LockName) // in the directory of a plug-in, as the guide of plug-ins has it
	lockOf := func() *Lock {
		t.Helper()
		l, err := Load(Places{Path: dir}).Lock(own)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	text, err := lockOf().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	write(own, string(text))
	locked, err := ReadLock(own)
	if err != nil {
		t.Fatal(err)
	}
	if p := locked.Packages[0]; len(locked.Packages) != 2 || p.Name != "one" || len(p.Files) != 4 || len(p.Programs) != 1 || p.Programs["run"] == "" || strings.Join(p.Plugins, " ") != "accuracy_grader:a accuracy_grader:b" {
		t.Errorf("%+v", locked)
	}
	for path, want := range map[string]string{
		"":                      "",
		"one/__pycache__/b.pyc": "",
		"one/artifacts/run/x":   "package one: the file artifacts/run/x is not locked",
		"one/artifacts/x.json":  "package one: the file artifacts/x.json is not locked",
		"one/other.lock":        "package one: the file other.lock is not locked",
		"one/a.py":              "package one: the file a.py has changed",
		"one/sub/c.txt":         "package one: the file sub/c.txt has changed",
		"one/new.py":            "package one: the file new.py is not locked",
		"-one/own":              "package one: the file own is missing",
		"../bin/run":            "package one: the program run has changed",
		"three/plugins.yaml":    "package three (accuracy_grader:c) is not locked",
		"-two/plugins.yaml":     "package two is locked, but not installed",
	} {
		name, removed := strings.CutPrefix(path, "-")
		full := filepath.Join(dir, name)
		if strings.HasPrefix(path, "../bin") {
			full = filepath.Join(bin, "run")
		}
		before, readErr := os.ReadFile(full)
		switch {
		case path == "":
		case removed:
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
		case path == "three/plugins.yaml":
			write(full, files["two/plugins.yaml"])
		default:
			write(full, "changed")
		}
		if got := strings.Join(locked.Changes(lockOf()), "; "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		switch {
		case path == "":
		case readErr == nil:
			write(full, string(before))
		case path == "three/plugins.yaml":
			_ = os.RemoveAll(filepath.Dir(full))
		default:
			_ = os.Remove(full)
		}
	}
	if list := changesByResults(t, filepath.Join(dir, "one"), func() []string { return locked.Changes(lockOf()) }); len(list) > 0 {
		t.Error(strings.Join(list, "\n"))
	}
	for text, want := range map[string]string{"x": "is not a lock file of plug-ins", `{"version":2}`: "has version 2, but this aiperf knows version 1"} {
		write(own, text)
		if _, err := ReadLock(own); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := os.Remove(filepath.Join(bin, "run")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(Places{Path: dir}).Lock(own); err == nil || !strings.Contains(err.Error(), "plugins.yaml:2: accuracy_grader:a: ") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// changesByResults puts results of runs below the directory of a locked plug-in, then other files among them. It returns what is wrong about the changes
// that a lock sees: results change nothing, whatever their folder is called. Anything else among them is a change, as is code in a folder named artifacts.
func changesByResults(t *testing.T, dir string, changes func() []string) (wrong []string) {
	t.Helper()
	put := func(name string, mode os.FileMode) {
		t.Helper()
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"artifacts/run/profile_export.jsonl", "artifacts/run/profile_export_aiperf.json", "artifacts/run/plots/a.png", "artifacts/run/phases/profiling/x.json", // a run
		"artifacts/cut/logs/aiperf.log", "artifacts/cut/inputs.json", "artifacts/own/logs/aiperf.log", "artifacts/own/mine.jsonl", // interrupted; with its own names
		"artifacts/sweep/c1/profile_export.jsonl", "artifacts/sweep/aggregate/c1/profile_export_aiperf_aggregate.csv", // a series
		"artifacts/ab/comparison.json", "artifacts/ab/blocks/pair_01_a/profile_export.jsonl", "sub/results/profile_export_aiperf.json", "sub/results/server_metrics_export.parquet",
	} {
		put(name, 0o600)
	}
	if list := changes(); len(list) > 0 {
		wrong = append(wrong, "results are seen as changes: "+strings.Join(list, "; "))
	}
	for name, mode := range map[string]os.FileMode{
		"artifacts/run/helper.py": 0o600, "artifacts/run/grade.json": 0o700, "artifacts/table.json": 0o600, "artifacts/sweep/c1/a.so": 0o600, "sub/results/plots/tool": 0o600, "artifacts/ab/data/x.csv": 0o600,
	} {
		put(name, mode)
		if !strings.Contains(strings.Join(changes(), "; "), "the file "+name+" is not locked") {
			wrong = append(wrong, name+" is not seen: "+strings.Join(changes(), "; "))
		}
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	return wrong
}
