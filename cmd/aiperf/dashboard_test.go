package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// screen is the program at a terminal of its own.
type screen struct {
	*process
	tty, slave *os.File
	before     unix.Termios

	mu   sync.Mutex
	all  bytes.Buffer
	mark int
	done chan struct{}
}

// atTerminal starts the program with a dashboard on a terminal of a size.
func atTerminal(t *testing.T, width, height uint16, args ...string) *screen {
	t.Helper()
	p := program(t, append([]string{"--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin"}, args...)...)
	return startScreen(t, p, width, height)
}

func startScreen(t *testing.T, p *process, width, height uint16) *screen {
	t.Helper()
	tty, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{process: p, tty: tty, slave: slave, done: make(chan struct{})}
	t.Cleanup(func() { slave.Close(); tty.Close() })
	if err := pty.Setsize(tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		t.Fatal(err)
	}
	s.before = s.modes()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "COLUMNS=", "NO_COLOR=")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.start()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	go func() {
		defer close(s.done)
		buffer := make([]byte, 64<<10)
		for {
			n, err := tty.Read(buffer)
			s.mu.Lock()
			s.all.Write(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screen) modes() unix.Termios {
	s.t.Helper()
	m, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *m
}

// sequences are what a terminal obeys.
var sequences = regexp.MustCompile("\x1b(\\[[0-9;?<>=$]*[A-Za-z]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[()][0-9A-B]|[=>78M])")

// text is what came since the mark, without what moves the cursor.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sequences.ReplaceAllString(s.all.String()[s.mark:], "")
}

func (s *screen) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// shows waits until the terminal shows texts.
func (s *screen) shows(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		for end := time.Now().Add(patience / 2); !strings.Contains(s.text(), text); {
			if time.Now().After(end) {
				s.t.Fatalf("%q is not shown; shown is\n%s", text, s.text())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// types types keys; what is shown from then on counts.
func (s *screen) types(keys string) {
	s.t.Helper()
	s.mu.Lock()
	s.mark = s.all.Len()
	s.mu.Unlock()
	if _, err := s.tty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) resize(width, height uint16) {
	s.t.Helper()
	s.mu.Lock()
	s.mark = s.all.Len()
	s.mu.Unlock()
	if err := pty.Setsize(s.tty, &pty.Winsize{Cols: width, Rows: height}); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end, checks that the terminal is as it was, and returns the status and what stays on the screen.
func (s *screen) ends() (status int, left string) {
	s.t.Helper()
	status = s.wait()
	after := s.modes()
	s.slave.Close()
	<-s.done
	raw := s.raw()
	if after != s.before {
		s.t.Errorf("the modes of the terminal were %+v and are %+v", s.before, after)
	}
	for _, mode := range []struct {
		name, on, off string
	}{
		{"screen", "\x1b[?1049h", "\x1b[?1049l"}, {"cursor", "\x1b[?25l", "\x1b[?25h"}, {"paste", "\x1b[?2004h", "\x1b[?2004l"},
		{"mouse", "\x1b[?1002h", "\x1b[?1002l"}, {"mouse", "\x1b[?1006h", "\x1b[?1006l"},
	} {
		if on, off := strings.LastIndex(raw, mode.on), strings.LastIndex(raw, mode.off); on > off {
			s.t.Errorf("the %s is not given back", mode.name)
		}
	}
	at := strings.LastIndex(raw, "\x1b[?1049l")
	if at < 0 {
		s.t.Fatalf("there was no view\n%s", raw)
	}
	return status, sequences.ReplaceAllString(raw[at:], "")
}

// TestDashboard: every key does what it says, sizes come and go, and at the end the report stands on a terminal that is as it was.
func TestDashboard(t *testing.T) {
	t.Parallel()
	s := atTerminal(t, 120, 40, "--url", "mock://?ttft=20ms&itl=2ms&tokens=20", "--streaming", "--concurrency", "4", "--benchmark-duration", "4",
		"--warmup-request-count", "4", "--osl", "20")
	s.shows("Profiling", "last 10 s", "Requests /s", "q stop  ? keys")
	for _, step := range []struct {
		keys  string
		shows []string
	}{
		{"2", []string{"Record backlog"}},
		{"2", []string{"last 10 s"}},
		{"3", []string{"Throughput", "Request Latency"}},
		{"4", []string{"in flight", "completed", "healthy"}},
		{"5", []string{"no exporter reachable"}},
		{"6", []string{"phase begins"}},
		{"1", []string{"last 10 s"}},
		{"?", []string{"Keys", "stop (asks)"}},
		{"\x1b", []string{"last 10 s"}},
		{"l", []string{"show"}},
		{"l", []string{"hide"}},
		{"c", []string{"copied", "characters of the log"}},
		{"\x13", []string{"saved"}},
		{"q", []string{"Stop now? y = stop"}},
		{"n", []string{"saved"}},
	} {
		s.types(step.keys)
		s.shows(step.shows...)
	}
	s.resize(40, 10)
	s.shows("40×10 is too small")
	s.resize(100, 30)
	s.shows("last 10 s", "Slowest")
	status, left := s.ends()
	if status != 0 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"Time to First Token", "Benchmark Duration:", "JSON Export:"} {
		if !strings.Contains(left, want) {
			t.Errorf("no %q in the report\n%s", want, left)
		}
	}
	if !strings.Contains(s.raw(), "\x1b]52;c;") {
		t.Error("nothing was copied")
	}
	saved, err := filepath.Glob(filepath.Join(s.dir, "screen-*.txt"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("saved %v, %v", saved, err)
	}
	if text, err := os.ReadFile(saved[0]); err != nil || !strings.Contains(string(text), " Requests /s") || bytes.Contains(text, []byte("\x1b")) {
		t.Errorf("%v: %s", err, text)
	}
}

// TestDashboardInterrupted: Ctrl+C in the view is that of the shell: it stops and reports; a signal does the same.
func TestDashboardInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		stop   func(s *screen)
		status int
		says   string
	}{
		{"once", func(s *screen) { s.types("\x03") }, 0, "The run was cancelled early"},
		{"q and y", func(s *screen) { s.types("q"); s.shows("Stop now?"); s.types("y") }, 0, "The run was cancelled early"},
		{"SIGTERM", func(s *screen) { s.signal(syscall.SIGTERM) }, 143, "The run was cancelled early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--concurrency", "2", "--benchmark-duration", "600"}
			s := atTerminal(t, 80, 24, args...)
			s.shows("1 s a cell")
			time.Sleep(300 * time.Millisecond) // some requests end
			c.stop(s)
			status, left := s.ends()
			if status != c.status || !strings.Contains(left, c.says) {
				t.Errorf("status %d, want %d with %q after the view:\n%s", status, c.status, c.says, left)
			}
		})
	}
}

// TestDashboardOfADeadServer: a server that dies while it is watched is no reason to lose the view, the terminal or the report.
func TestDashboardOfADeadServer(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"content":"hello"}}]}`)
	}), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	s := atTerminal(t, 80, 24, "--url", "http://"+listener.Addr().String(), "--concurrency", "2", "--benchmark-duration", "2", "--no-probe")
	s.shows("Profiling", "ok ")
	until(t, "answers", func() bool { return asked.Load() > 10 })
	server.Close()
	s.shows("Connect")
	status, left := s.ends()
	if !strings.Contains(left, "Error Summary") && !strings.Contains(left, "Errors ─") || !strings.Contains(left, "Log File:") {
		t.Errorf("status %d:\n%s", status, left)
	}
}
