//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestGatesOfFinishedRuns: gates on a report and on a comparison end with status 3, a JUnit file and a step summary; what holds ends with 0.
func TestGatesOfFinishedRuns(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	run := program(t, "--model", "m", "--url", "mock://?ttft=5ms&itl=1ms", "--endpoint-type", "chat", "--streaming", "--tokenizer", "builtin", "--isl", "8", "--osl", "4",
		"--request-count", "4", "--export-level", "raw", "--no-gpu-telemetry", "--no-server-metrics").start()
	if status := run.wait(); status != 0 {
		t.Fatalf("%d %s", status, run.stderr.String())
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(run.dir)); err != nil {
		t.Fatal(err)
	}
	junit, step := filepath.Join(t.TempDir(), "junit.xml"), filepath.Join(t.TempDir(), "step.md")
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"report", run.dir, "--allow-invalid", "--fail-if", "request_latency:avg>1", "--junit", junit}, 3, "gate: FAILED: request_latency avg is "},
		{[]string{"report", run.dir, "--allow-invalid", "--fail-if", "request_latency:avg>100000"}, 0, ""},
		{[]string{"report", run.dir, "--fail-if", "latncy>1"}, 1, "there is no metric latncy"},
		{[]string{"compare", run.dir, other, "--allow-invalid", "--fail-if", "request_latency:avg>1"}, 3, "gate: FAILED: B: request_latency avg is "},
		{[]string{"compare", run.dir, other, "--allow-invalid", "--fail-if", "error_rate>50"}, 0, ""},
	} {
		cmd := command(t, c.args...)
		cmd.Env = append(cmd.Env, "GITHUB_STEP_SUMMARY="+step)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run() // the status is looked at below
		if got := cmd.ProcessState.ExitCode(); got != c.status || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: status %d, %s", c.args, got, errs.String())
		}
	}
	if text, err := os.ReadFile(junit); err != nil || !strings.Contains(string(text), `failures="1"`) {
		t.Errorf("%s %v", text, err)
	}
	if text, err := os.ReadFile(step); err != nil || !strings.Contains(string(text), "**failed**: request\\_latency") && !strings.Contains(string(text), "**failed**: request_latency") {
		t.Errorf("%s %v", text, err)
	}
}

// TestComparedSweeps: two sweeps are compared cell by cell, on the terminal, in JSON and on a page, and gates are tried on every cell.
func TestComparedSweeps(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	run := program(t, "--model", "m", "--url", "mock://?ttft=5ms&itl=1ms", "--endpoint-type", "chat", "--streaming", "--tokenizer", "builtin", "--isl", "8", "--osl", "4",
		"--request-count", "4", "--concurrency", "1,2", "--no-gpu-telemetry", "--no-server-metrics").start()
	if status := run.wait(); status != 0 {
		t.Fatalf("%d %s", status, run.stderr.String())
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(run.dir)); err != nil {
		t.Fatal(err)
	}
	junit, file, page := filepath.Join(t.TempDir(), "junit.xml"), filepath.Join(t.TempDir(), "c.json"), filepath.Join(t.TempDir(), "c.html")
	cmd := command(t, "compare", run.dir, other, "--allow-invalid", "--fail-if", "request_latency:avg>1", "--junit", junit, "--json", file, "--html", page, "--fail-on", "cannot-tell")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the status is looked at below
	if got := cmd.ProcessState.ExitCode(); got != 4 || !strings.Contains(errs.String(), "gate: FAILED: concurrency_2: request_latency avg is ") || !strings.Contains(out.String(), "2 cells, 2 cannot tell: cannot tell") {
		t.Errorf("status %d\n%s\n%s", got, out.String(), errs.String())
	}
	for path, want := range map[string]string{junit: `failures="2"`, file: `"kind": "comparison of series"`, page: "Series against series, 2 cells"} {
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s: %v", path, want, err)
		}
	}
}
