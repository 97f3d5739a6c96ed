//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// TestDashboard: every key has its effect, the size of the terminal changes, and at the end the report is printed and the terminal is restored.
func TestDashboard(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	s := atTerminal(t, 120, 40, "--url", "mock://?ttft=20ms&itl=2ms&tokens=20", "--streaming", "--concurrency", "4", "--benchmark-duration", "600",
		"--warmup-request-count", "4", "--osl", "20")
	s.shows("Profiling", "last 10 s", "Requests /s", "q stop  ? keys")
	for _, step := range []struct {
		keys  string
		shows []string
	}{
		{"2", []string{"Record backlog", "Began", "Records %"}},
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
		{twice(13), []string{"Record backlog"}}, // the counts
		{twice(13), []string{"last 10 s"}},
	} {
		s.types(step.keys)
		s.shows(step.shows...)
	}
	s.types("3")
	s.resize(80, 14)
	s.shows("more below")
	s.types("\x1b[<65;5;5M\x1b[<65;5;5M\x1b[<65;5;5M") // the wheel
	s.shows("end,")                                    // the blank behind it may be a move of the cursor
	s.types("1")
	s.resize(40, 10)
	s.shows("40×10 is too small")
	s.resize(70, 30)
	s.shows("last 10 s", "Slowest")
	s.types("q")
	s.shows("Stop now? y = stop")
	s.types("y")
	status, left := s.ends()
	_, report, _ := strings.Cut(left, "LLM Metrics")
	report, _, _ = strings.Cut(report, "CLI Command:")
	for line := range strings.Lines(report) {
		if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > 70 {
			t.Errorf("%d columns on a terminal of 70 by now: %s", n, line)
		}
	}
	if status != 0 {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"\nTTFT (ms) ", "\nVerdict ─", "Benchmark Duration:", "JSON Export:", " Requests/s "} {
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
	if picture, err := os.ReadFile(strings.TrimSuffix(saved[0], "txt") + "svg"); err != nil || !bytes.Contains(picture, []byte("Requests")) || xml.Unmarshal(picture, new(struct{})) != nil {
		t.Errorf("%v: %s", err, picture)
	}
}

// twice is a double click on a row, counted from 1.
func twice(row int) string {
	click := fmt.Sprintf("\x1b[<0;5;%dM\x1b[<0;5;%dm", row, row)
	return click + click
}

// TestDashboardInterrupted: Ctrl+C in the view is that of the shell: it stops and reports; a signal does the same.
func TestDashboardInterrupted(t *testing.T) {
	testhome.Slow(t)
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
		{"SIGHUP", func(s *screen) { s.signal(syscall.SIGHUP) }, 143, "The run was cancelled early"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.5", "--concurrency", "2", "--benchmark-duration", "600"}
			s := atTerminal(t, 80, 24, args...)
			s.shows("1 s a cell", " ago") // some requests have ended
			c.stop(s)
			status, left := s.ends()
			if status != c.status || !strings.Contains(left, c.says) {
				t.Errorf("status %d, want %d with %q after the view:\n%s", status, c.status, c.says, left)
			}
		})
	}
}

// TestDashboardOfADeadServer: if the server dies during the run, the view, the terminal and the report still work.
func TestDashboardOfADeadServer(t *testing.T) {
	testhome.Slow(t)
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
	s := atTerminal(t, 80, 24, "--url", "http://"+listener.Addr().String(), "--concurrency", "2", "--benchmark-duration", "600", "--no-probe", "--no-fail-fast")
	s.shows("Profiling", "ok ")
	until(t, "answers", func() bool { return asked.Load() > 10 })
	server.Close()
	s.shows("ClientConnectorError")
	s.types("\x03")
	status, left := s.ends()
	if !strings.Contains(left, "Errors ─") || !strings.Contains(left, "Log File:") {
		t.Errorf("status %d:\n%s", status, left)
	}
}

// TestDashboardOfAStandstill: while the server does not answer, the view says so, with the number of waiting requests; afterwards it says how long the stall was; the report
// marks the timeline and gives the span in the verdict.
func TestDashboardOfAStandstill(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	var asked atomic.Int64
	goOn := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 2000 {
			select {
			case <-goOn:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"content":"hello"}}]}`)
	}))
	defer server.Close()
	s := atTerminal(t, 100, 30, "--url", server.URL, "--concurrency", "2", "--benchmark-duration", "600", "--no-probe")
	s.shows("no answer for", "2 requests wait")
	close(goOn)
	s.shows("! no answer for", "2 requests waited")
	until(t, "more answers", func() bool { return asked.Load() > 4000 })
	s.types("\x03")
	status, left := s.ends()
	if status != 0 || !strings.Contains(left, "! The server sent nothing for ") || !strings.Contains(left, "while 2 requests waited") || !strings.Contains(left, "No answer  ") {
		t.Errorf("status %d:\n%s", status, left)
	}
}

// TestShortRuns: a run of two seconds is shown with its figures; one that ends at once leaves nothing on the prompt.
func TestShortRuns(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	s := atTerminal(t, 80, 24, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--streaming", "--concurrency", "2", "--benchmark-duration", "2")
	s.shows("Latency p50 ms", "sent")
	if status, left := s.ends(); status != 0 || !strings.Contains(left, "Requests/s") {
		t.Errorf("status %d:\n%s", status, left)
	}
	s = atTerminal(t, 80, 24, "--url", "mock://?ttft=0&itl=0&tokens=1", "--request-count", "1", "--no-probe")
	status, left := s.ends()
	if first, _, _ := strings.Cut(strings.TrimLeft(left, "\r\n"), "\n"); status != 0 || !strings.Contains(first, "note:") && !strings.Contains(first, "LLM Metrics") && !strings.Contains(first, "aiperf:") {
		t.Errorf("status %d, after the view comes %q", status, first)
	}
}

// TestColoursOfTerminals: the view uses only 16 colours, so that it looks the same everywhere; NO_COLOR takes them away and leaves bold and
// faint; a terminal without UTF-8 gets ASCII.
func TestColoursOfTerminals(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	hue := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, c := range []struct {
		name    string
		environ []string
		colours bool
		ascii   bool
	}{
		{"true colour", []string{"COLORTERM=truecolor"}, true, false},
		{"256", nil, true, false},
		{"16", []string{"TERM=xterm-16color"}, true, false},
		{"none", []string{"NO_COLOR=1"}, false, false},
		{"ASCII", []string{"LC_ALL=C", "LANG=C"}, true, true},
		{"xterm", []string{"TERM=xterm"}, true, false},
		{"screen", []string{"TERM=screen"}, true, false},
		{"tmux", []string{"TERM=tmux-256color"}, true, false},
		{"console", []string{"TERM=linux"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := program(t, "--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin", "--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.5", "--concurrency", "2",
				"--benchmark-duration", "600")
			s := startScreen(t, p, 120, 40, c.environ...)
			s.shows("Internal Server Error", " ago")
			s.types("\x03")
			s.ends()
			colours := false
			for _, one := range hue.FindAllString(s.raw(), -1) {
				for code := range strings.SplitSeq(strings.Trim(one, "\x1b[m"), ";") {
					switch n, err := strconv.Atoi(code); {
					case code == "":
					case err != nil || n >= 38 && n != 39: // 38 begins a colour of 256 or more
						t.Errorf("%q", one)
					case n >= 30 && n <= 37:
						colours = true
					}
				}
			}
			if colours != c.colours {
				t.Errorf("colours: %v", colours)
			}
			text := s.raw()
			if beyond := strings.ContainsFunc(sequences.ReplaceAllString(text, ""), func(r rune) bool { return r > '~' }); beyond == c.ascii {
				t.Errorf("more than ASCII: %v", beyond)
			}
		})
	}
}

// TestLightTerminal: a terminal that says that its ground is light gets darker inks, where it shows 256 colours; one that says it is dark keeps its own.
func TestLightTerminal(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		name, term, ground string
		darker             bool
	}{
		{"light", "xterm-256color", "ffff/ffff/ffff", true}, {"dark", "xterm-256color", "0000/0000/0000", false}, {"light, 16 colours", "xterm-16color", "ffff/ffff/ffff", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := program(t, "--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin", "--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.5", "--concurrency", "2",
				"--benchmark-duration", "600")
			s := startScreen(t, p, 100, 30, "TERM="+c.term, "COLORTERM=")
			until(t, "the question for the ground", func() bool { return strings.Contains(s.raw(), "\x1b]11;?") })
			s.types("\x1b]11;rgb:" + c.ground + "\x1b\\")
			s.shows("Internal Server Error", " ago")
			s.types("\x03")
			if status, _ := s.ends(); status != 0 {
				t.Errorf("status %d", status)
			}
			if got := strings.Contains(s.raw(), "38;5;124"); got != c.darker {
				t.Errorf("darker inks: %v", got)
			}
		})
	}
}

// TestDumbTerminal: on a terminal that cannot show a view, the program says so and prints sentences without escape sequences.
func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	p := program(t, "--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin", "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--concurrency", "2", "--request-count", "20")
	s := startScreen(t, p, 80, 24, "TERM=dumb")
	status := s.wait()
	after := s.modes()
	s.slave.Close()
	<-s.done
	if text := s.raw(); status != 0 || after != s.before || strings.Contains(text, "\x1b") || !strings.Contains(text, "Benchmark Duration:") {
		t.Errorf("status %d: %q", status, text)
	}
}
