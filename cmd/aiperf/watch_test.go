package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// watcher is a process that watches a directory without a terminal.
func watcher(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: command(t, append([]string{"watch"}, args...)...)}
	p.stderr.more = make(chan struct{}, 1)
	p.cmd.Stdout, p.cmd.Stderr = &p.stderr, &p.stderr
	return p
}

// TestWatchTerminal: another process shows the view of a run with its figures; leaving it leaves the run alone.
func TestWatchTerminal(t *testing.T) {
	t.Parallel()
	run := program(t, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.3&dcgm=2", "--model", "watched-model", "--tokenizer", "builtin", "--streaming", "--concurrency", "2",
		"--benchmark-duration", "600", "--stats-interval", "0.25").start()
	run.says("in flight")
	p := watcher(t, filepath.Dir(run.dir)) // that of a series: the run is below it
	s := startScreen(t, p, 120, 40)
	s.shows("Profiling", "watched-model", "Requests /s", "500  Internal Server Error", "GPUs", "q leave")
	for _, step := range []struct{ keys, shows string }{
		{"2", "Record backlog"}, {"3", "Request Latency"}, {"4", "healthy"}, {"5", "current"}, {"6", "phase begins"}, {"1", "last 10 s"}, {"?", "Leave"}, {"\x1b", "last 10 s"},
		{"q", "the run goes on"}, {"n", "q leave"},
	} {
		if step.keys == "4" || step.keys == "?" {
			s.types(step.keys)
			s.shows(map[string]string{"4": "completed", "?": "leave (asks)"}[step.keys])
			continue
		}
		s.types(step.keys)
		s.shows(step.shows)
	}
	s.types("\x03")
	status, left := s.ends()
	if status != 0 || !strings.Contains(left, "goes on") {
		t.Errorf("status %d, %q", status, left)
	}
	run.signal(syscall.SIGINT)
	if status := run.wait(); status != 0 {
		t.Errorf("the run ended with %d\n%s", status, run.stderr.String())
	}
	if strings.Contains(run.stderr.String(), "watch") {
		t.Errorf("the run was disturbed: %s", run.stderr.String())
	}
	if _, err := os.Stat(filepath.Join(run.dir, "logs/live")); err == nil {
		t.Error("a finished run leaves its live file behind")
	}
}

// TestWatchLines: without a terminal a run is told of in lines until it is over; a finished one, one that died and none are told of in one.
func TestWatchLines(t *testing.T) {
	t.Parallel()
	run := program(t, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--model", "m", "--tokenizer", "builtin", "--concurrency", "2", "--benchmark-duration", "600", "--stats-interval", "0.25").start()
	run.says("in flight")
	p := watcher(t, run.dir, "--ui", "none", "--stats-interval", "0.25").start()
	p.says("profiling")
	p.says("requests/s")
	run.signal(syscall.SIGINT)
	if status := run.wait(); status != 0 {
		t.Fatalf("the run ended with %d", status)
	}
	if status := p.wait(); status != 0 || !strings.Contains(p.stderr.String(), "is over: cancelled early") || strings.ContainsAny(p.stderr.String(), "\x1b\r") {
		t.Errorf("status %d: %q", status, p.stderr.String())
	}
	p = watcher(t, run.dir)
	if status := p.run(); status != 0 || !strings.Contains(p.stderr.String(), "is over: cancelled early") {
		t.Errorf("a finished run: %d, %s", status, p.stderr.String())
	}
	none := t.TempDir()
	file := filepath.Join(none, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{filepath.Join(none, "nowhere"): "there is no directory", file: "is no directory", none: "holds no run"} {
		p = watcher(t, dir)
		if status := p.run(); status != 1 || !strings.Contains(p.stderr.String(), want) || bytes.Count([]byte(p.stderr.String()), []byte("\n")) != 1 {
			t.Errorf("%s: %d, %q, want %q", dir, status, p.stderr.String(), want)
		}
	}
}

// TestWatchDead: a run that is killed leaves its file; who watches learns that it died.
func TestWatchDead(t *testing.T) {
	t.Parallel()
	run := program(t, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--model", "m", "--tokenizer", "builtin", "--concurrency", "2", "--benchmark-duration", "600", "--stats-interval", "0.25").start()
	run.says("in flight")
	p := watcher(t, run.dir, "--ui", "none", "--stats-interval", "0.25").start()
	p.says("requests/s")
	run.signal(syscall.SIGKILL)
	run.wait()
	if status := p.wait(); status != 1 || !strings.Contains(p.stderr.String(), "the run has died: its process") {
		t.Errorf("status %d: %q", status, p.stderr.String())
	}
}

// TestNoLiveFile: who wants no file of a run that goes on has none, and nobody can watch it.
func TestNoLiveFile(t *testing.T) {
	t.Parallel()
	run := program(t, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--model", "m", "--tokenizer", "builtin", "--concurrency", "2", "--benchmark-duration", "600", "--stats-interval", "0.25")
	run.cmd.Env = append(run.cmd.Env, "AIPERF_UI_LIVE_FILE=false")
	run.start()
	run.says("in flight")
	if _, err := os.Stat(filepath.Join(run.dir, "logs/live")); err == nil {
		t.Error("there is a live file")
	}
	run.signal(syscall.SIGINT)
	if status := run.wait(); status != 0 {
		t.Errorf("the run ended with %d", status)
	}
}
