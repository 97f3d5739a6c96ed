//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// again is the same program once more, into the directory of p.
func (p *process) again(args ...string) *process {
	next := program(p.t, args...)
	next.dir = p.dir
	next.cmd.Args[3] = p.dir
	return next
}

// TestSecondRun: files of an earlier run go when the next one begins to write, and only then.
func TestSecondRun(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 1000)
	args := towards(server.URL, "--request-count", "2", "--export-level")
	first := program(t, append(args, "raw", "--slice-duration", "0.1", "--warmup-request-count", "1")...)
	if got := first.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, first.stderr.String())
	}
	if err := os.WriteFile(filepath.Join(first.dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := len(tree(t, first.dir))
	refused := first.again(towards(server.URL, "--request-count", "0")...)
	if got := refused.run(); got == 0 || len(tree(t, first.dir)) != before {
		t.Errorf("exit status %d; a run that is refused left %v", got, tree(t, first.dir))
	}
	second := first.again(append(args, "records")...)
	if got := second.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, second.stderr.String())
	}
	if !strings.Contains(second.stderr.String(), " of an earlier run from ") {
		t.Errorf("stderr does not say that files were removed:\n%s", second.stderr.String())
	}
	want := []string{"inputs.json", "logs/aiperf.log", "notes.txt", "profile_export.jsonl", "profile_export_aiperf.csv", "profile_export_aiperf.json",
		"profile_export_client_machine.jsonl", "profile_export_console.txt", "profile_export_timeline.jsonl"}
	if got := tree(t, second.dir); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("left:\n%v, want\n%v", got, want)
	}
}

// TestNothingIsLost: a run or series that never begins leaves every file of an earlier one as it was, and adds none.
func TestNothingIsLost(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 1000)
	fresh := towards(server.URL, "--request-count", "2", "--export-level", "raw")
	series := append(slices.Clone(fresh), "--num-profile-runs", "2")
	dead := func(more ...string) []string {
		return append(towards("http://127.0.0.1:1", "--ui", "simple", "--request-count", "2"), more...)
	}
	for name, c := range map[string]struct {
		first, then []string
		atTerminal  bool
		says        string
	}{
		"nobody listens":              {fresh, dead(), true, "no server at"},
		"nobody listens, a series":    {series, dead("--num-profile-runs", "2"), true, "no server at"},
		"nobody listens, a sweep":     {series, dead("--concurrency", "1,2"), true, "no server at"},
		"the model does not get up":   {fresh, dead("--wait-for-model-timeout", "0.2"), false, "--wait-for-model-timeout"},
		"the cache cannot be emptied": {fresh, dead("--reset-kv-cache", "--reset-kv-cache-max-retry-seconds", "0"), false, "--reset-kv-cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := program(t, c.first...)
			if got := first.run(); got != 0 {
				t.Fatalf("exit status %d\n%s", got, first.stderr.String())
			}
			before := contents(t, first.dir)
			next := first.again(c.then...)
			var status int
			var said string
			if c.atTerminal {
				s := startScreen(t, next, 100, 40)
				status = s.wait()
				s.slave.Close()
				<-s.done
				said = s.text()
			} else {
				status = next.run()
				said = next.stderr.String()
			}
			if status != 1 || !strings.Contains(said, c.says) {
				t.Errorf("status %d, said %s", status, said)
			}
			after := contents(t, first.dir)
			for path, text := range before {
				if after[path] != text {
					t.Errorf("%s was changed or lost", path)
				}
			}
			for path := range after {
				if _, was := before[path]; !was && filepath.Base(path) != "aiperf.log" { // of a directory of the series that had none
					t.Errorf("%s is new", path)
				}
			}
		})
	}
}

// contents are the files below a directory, by their paths in it.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range tree(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		all[path] = string(text)
	}
	return all
}

// TestTwoRunsAtOnce: the second is refused while the first lives, and not once it was killed.
func TestTwoRunsAtOnce(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 0)
	args := towards(server.URL, "--request-count", "2")
	first := program(t, args...).start()
	server.await(t, 1)
	second := first.again(args...)
	if got := second.run(); got != 1 || !strings.Contains(second.stderr.String(), "another run is writing to this directory") {
		t.Errorf("exit status %d\n%s", got, second.stderr.String())
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait() // killed
	close(server.release)
	third := first.again(args...)
	if got := third.run(); got != 0 {
		t.Errorf("after the first was killed: exit status %d\n%s", got, third.stderr.String())
	}
}
