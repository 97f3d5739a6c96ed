package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	if !strings.Contains(second.stderr.String(), "removed the files of an earlier run") {
		t.Errorf("stderr does not say that files were removed:\n%s", second.stderr.String())
	}
	want := []string{"inputs.json", "logs/aiperf.log", "notes.txt", "profile_export.jsonl", "profile_export_aiperf.csv", "profile_export_aiperf.json",
		"profile_export_client_machine.jsonl", "profile_export_console.txt", "profile_export_timeline.jsonl"}
	if got := tree(t, second.dir); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("left:\n%v, want\n%v", got, want)
	}
}

// TestTwoRunsAtOnce: the second is refused while the first lives, and not once it was killed.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	server := newScripted(t, 0)
	args := towards(server.URL, "--request-count", "2")
	first := program(t, args...).start()
	server.await(t, 1)
	second := first.again(args...)
	if got := second.run(); got != 1 || !strings.Contains(second.stderr.String(), "another run is writing there") {
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
