//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
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
	testhome.Slow(t)
	t.Parallel()
	run := program(t, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.3&dcgm=2", "--model", "watched-model", "--tokenizer", "builtin", "--streaming", "--concurrency", "2",
		"--benchmark-duration", "600", "--stats-interval", "0.25").start()
	run.says("in flight")
	p := watcher(t, filepath.Dir(run.dir)) // that of a series: the run is below it
	s := startScreen(t, p, 120, 40)
	s.shows("Profiling", "watched-model", "Requests /s", "500  Internal Server Error", "GPUs", "q leave")
	for _, step := range []struct{ keys, shows string }{
		{"2", "Record backlog"}, {"3", "Request Latency"}, {"4", "healthy"}, {"5", "current"}, {"6", "phase begins"}, {"1", "last 10 s"}, {"?", "Leave"}, {"\x1b", "last 10 s"},
		{"q", "the run continues"}, {"n", "q leave"},
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
	if status != 0 || !strings.Contains(left, "continues") {
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

// TestWatchTerminals: the view comes up and gives back every kind of terminal, as it is over ssh and in tmux; one that takes nothing any more keeps
// nobody from leaving; a dumb one, and one that asks for plain lines, gets lines.
func TestWatchTerminals(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	run := program(t, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--model", "m", "--tokenizer", "builtin", "--concurrency", "2", "--benchmark-duration", "600", "--stats-interval", "0.25").start()
	t.Cleanup(func() {
		run.signal(syscall.SIGKILL)
		run.wait()
	})
	run.says("in flight")
	for _, c := range []struct {
		name    string
		environ []string
		keys    string
	}{
		{"screen", []string{"TERM=screen"}, "qy"}, {"tmux", []string{"TERM=tmux-256color", "TMUX=/tmp/none,1,0"}, "\x03"},
		{"ssh", []string{"TERM=xterm", "SSH_TTY=/dev/pts/1", "SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22", "LANG=C", "LC_ALL=C"}, "qy"},
		{"no colour", []string{"TERM=vt100", "NO_COLOR=1"}, "qy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := watcher(t, run.dir)
			s := startScreen(t, p, 80, 24, c.environ...)
			s.shows("Profiling", "Requests /s", "q leave")
			s.types(c.keys)
			if status, left := s.ends(); status != 0 || !strings.Contains(left, "continues") {
				t.Errorf("status %d, %q", status, left)
			}
		})
	}
	t.Run("nobody reads", func(t *testing.T) {
		t.Parallel()
		s := startScreen(t, watcher(t, run.dir), 120, 40)
		s.shows("Requests /s")
		s.reads.Lock()
		s.fill()
		time.Sleep(time.Second) // a frame waits for the terminal by then
		s.types("\x03")
		if status := s.wait(); status != 0 {
			t.Errorf("status %d", status)
		}
		s.reads.Unlock()
	})
	t.Run("dumb", func(t *testing.T) {
		t.Parallel()
		s := startScreen(t, watcher(t, run.dir, "--stats-interval", "0.25"), 80, 24, "TERM=dumb")
		s.shows("requests/s", "in flight")
		s.types("\x03")
		if status := s.wait(); status != 0 || strings.Contains(s.raw(), "\x1b") {
			t.Errorf("status %d, %q", status, s.raw())
		}
	})
}

// TestWatchLines: without a terminal a run is shown in lines until it ends; a finished run, one that died and a missing one give one line.
func TestWatchLines(t *testing.T) {
	testhome.Slow(t)
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
	for dir, want := range map[string]string{filepath.Join(none, "nowhere"): "nowhere does not exist", file: "is not a directory", none: "contains no run"} {
		p = watcher(t, dir)
		if status := p.run(); status != 1 || !strings.Contains(p.stderr.String(), want) || bytes.Count([]byte(p.stderr.String()), []byte("\n")) != 1 {
			t.Errorf("%s: %d, %q, want %q", dir, status, p.stderr.String(), want)
		}
	}
}

// TestWatchDead: a killed run leaves its file, and watch says that the run died.
func TestWatchDead(t *testing.T) {
	testhome.Slow(t)
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

// TestNoLiveFile: without a live file a run cannot be watched.
func TestNoLiveFile(t *testing.T) {
	testhome.Slow(t)
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
