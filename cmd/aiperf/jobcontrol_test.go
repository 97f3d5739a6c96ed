//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestDashboardAside: Ctrl+Z gives the terminal back to the shell, which can use it; fg brings the view again, and the run ends with its report.
func TestDashboardAside(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	p := program(t, "--ui", "dashboard", "--model", "mock", "--tokenizer", "builtin", "--url", "mock://?ttft=5ms&itl=1ms&tokens=10", "--concurrency", "2",
		"--benchmark-duration", "600")
	quoted := make([]string, len(p.cmd.Args))
	for i, a := range p.cmd.Args {
		quoted[i] = "'" + a + "'"
	}
	p.cmd.Path, p.cmd.Args = shell, []string{"bash", "--norc", "--noprofile", "-i"}
	s := startScreen(t, p, 100, 30)
	s.types(strings.Join(quoted, " ") + "\r")
	s.shows("1 s a cell")
	s.types("\x1a")
	s.shows("Stopped")
	if got, back := s.modes(), strings.HasSuffix(lastOf(s.raw(), "\x1b[?1049h", "\x1b[?1049l"), "l"); got.Lflag&syscall.ICANON == 0 && !back {
		t.Error("the shell has not got its terminal")
	}
	s.types("echo a$((40+2))b\r")
	s.shows("a42b")
	s.types("fg\r")
	s.shows("1 s a cell")
	s.types("\x03")
	s.shows("Benchmark Duration:", "Results ")
	if _, err := os.Stat(filepath.Join(p.dir, "profile_export_aiperf.json")); err != nil {
		t.Error(err)
	}
	s.types("exit 7\r")
	if status := p.wait(); status != 7 {
		t.Errorf("the shell ended with %d", status)
	}
}

// lastOf returns the text that occurs last in the output.
func lastOf(text string, words ...string) (last string) {
	at := -1
	for _, w := range words {
		if i := strings.LastIndex(text, w); i > at {
			at, last = i, w
		}
	}
	return last
}

// TestDashboardNobodyReads: a terminal that takes nothing, as after Ctrl+S, costs the run nothing: its files are complete, and when the terminal
// reads again the report is there.
func TestDashboardNobodyReads(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	s := atTerminal(t, 200, 50, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.2", "--request-rate", "50", "--request-rate-mode", "constant", "--request-count", "150")
	s.shows("Profiling")
	s.reads.Lock()
	until(t, "the files of the run", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "profile_export_console.txt"))
		return err == nil
	})
	s.reads.Unlock()
	status, left := s.ends()
	if status != 0 || !strings.Contains(left, "Benchmark Duration:") {
		t.Errorf("status %d:\n%s", status, left)
	}
	if n := s.summary().avg(t, "request_count") + s.summary().avg(t, "error_request_count"); n != 150 {
		t.Errorf("%v requests of 150", n)
	}
}

// TestDashboardForced: the second Ctrl+C leaves at once, although the terminal accepts no output, or only the end of the view, and restores it.
func TestDashboardForced(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, room := range []int{0, 1200} {
		t.Run(fmt.Sprintf("room for %d bytes", room), func(t *testing.T) {
			t.Parallel()
			dashboardForced(t, room)
		})
	}
}

// dashboardForced interrupts a run twice whose terminal accepts only a number of bytes (room).
func dashboardForced(t *testing.T, room int) {
	s := atTerminal(t, 200, 50, "--url", "mock://?ttft=5ms&itl=1ms&tokens=10&error-rate=0.5", "--concurrency", "2", "--benchmark-duration", "600")
	s.shows("client CPU", " ago")
	s.reads.Lock()
	s.fill()
	if _, err := io.ReadFull(s.tty, make([]byte, room)); err != nil {
		t.Fatal(err)
	}
	s.types("\x03")
	if !within(patience, func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "profile_export_console.txt"))
		return err == nil
	}) {
		s.signal(syscall.SIGQUIT) // the runtime writes what every goroutine does
		s.reads.Unlock()
		s.wait()
		t.Fatalf("the files of the run do not come\n%s", s.raw())
	}
	s.signal(syscall.SIGINT)
	if status := s.wait(); status != 130 {
		t.Errorf("status %d", status)
	}
	s.reads.Unlock()
	if after := s.modes(); after != s.before {
		t.Errorf("the modes of the terminal were %+v and are %+v", s.before, after)
	}
}
