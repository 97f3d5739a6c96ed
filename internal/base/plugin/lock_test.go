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
		"one/artifacts/run/x":   "", // results of a benchmark
		"one/sub/artifacts/x":   "package one: the file sub/artifacts/x is not locked",
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
