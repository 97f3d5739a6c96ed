//go:build unix

package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// TestOneSignal: the first signal ends the sending, cuts what is in flight and leaves the report of what was done.
func TestOneSignal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		status int
	}{{syscall.SIGINT, 0}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 143}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, 3)
			p := program(t, towards(server.URL, "--concurrency", "2", "--request-count", "100")...).start()
			server.await(t, 2)
			p.signal(c.signal)
			if got := p.wait(); got != c.status {
				t.Errorf("exit status %d, want %d\n%s", got, c.status, p.stderr.String())
			}
			p.complete(5)
			cut := 0
			for _, l := range p.records() {
				if l.Metadata.Cancelled {
					cut++
					if l.Error == nil || !strings.Contains(l.Error.Message, "cancelled") {
						t.Errorf("a request that was cut has the error %+v", l.Error)
					}
				}
			}
			s := p.summary()
			if cut != 2 || s.avg(t, "request_count") != 3 || s.avg(t, "error_request_count") != 0 {
				t.Errorf("%d cut, %v counted, %v errors; want 2, 3, 0", cut, s.avg(t, "request_count"), s.avg(t, "error_request_count"))
			}
			if s.text("was_cancelled") != "true" || s.text("is_complete") != "false" || s.text("incomplete_reason") == "" {
				t.Errorf("was_cancelled %s, is_complete %s, reason %s", s.text("was_cancelled"), s.text("is_complete"), s.text("incomplete_reason"))
			}
			if out := p.stdout.String(); !strings.Contains(out, "(cancelled early)") || !strings.Contains(out, "2 requests were cut off") {
				t.Errorf("the report does not say what was cut:\n%s", out)
			}
		})
	}
}

// TestNothingFinished: a signal before the first answer, or in the warm-up, leaves the files and status 1, and says why.
func TestNothingFinished(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"profiling":               {"--request-count", "10"},
		"warm-up":                 {"--request-count", "10", "--warmup-request-count", "10"},
		"warm-up without its end": {"--request-count", "10", "--warmup-duration", "3600"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, 0)
			p := program(t, towards(server.URL, append(flags, "--concurrency", "2")...)...).start()
			server.await(t, 2)
			p.signal(os.Interrupt)
			if got := p.wait(); got != 1 {
				t.Errorf("exit status %d, want 1", got)
			}
			if !strings.Contains(p.stderr.String(), "error: no request finished") {
				t.Errorf("stderr does not say why:\n%s", p.stderr.String())
			}
			p.complete(2)
		})
	}
}

// TestInterruptedStart: a signal while the run waits for its server ends it at once; nothing of the load is sent and no report is left.
func TestInterruptedStart(t *testing.T) {
	t.Parallel()
	asked, gone := make(chan struct{}), make(chan struct{})
	var first sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		first.Do(func() { close(asked) })
		select { // no answer
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	defer server.Close()
	defer close(gone)
	p := program(t, towards(server.URL, "--request-count", "10", "--wait-for-model-timeout", "600")...).start()
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the server was not asked")
	}
	p.signal(os.Interrupt)
	if status := p.wait(); status != 1 || !strings.Contains(p.stderr.String(), "before the first request") {
		t.Errorf("exit status %d, want 1, or stderr does not say why:\n%s", status, p.stderr.String())
	}
	for _, name := range []string{"inputs.json", "profile_export_aiperf.json"} {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
}

// TestInterruptedResolution: a signal while the command line is still being resolved, here by an input file that does not answer, ends the
// program in good order; nothing is written.
func TestInterruptedResolution(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		status int
		flags  []string
	}{{syscall.SIGINT, 1, nil}, {syscall.SIGTERM, 143, nil}, {syscall.SIGHUP, 143, nil}, {syscall.SIGINT, 1, []string{"--dry-run"}}} {
		t.Run(strings.Join(append(c.flags, c.signal.String()), " "), func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "rows.jsonl")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			p := program(t, towards("http://127.0.0.1:9", append(c.flags, "--system-prompt-file", pipe)...)...).start()
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			p.signal(c.signal)
			if got := p.wait(); got != c.status {
				t.Errorf("exit status %d, want %d\n%s", got, c.status, p.stderr.String())
			}
			if !strings.Contains(p.stderr.String(), "before the first request") || p.stdout.Len() > 0 {
				t.Errorf("stderr does not say why, or stdout says something:\n%s\n%s", p.stderr.String(), p.stdout.String())
			}
			if _, err := os.Stat(p.dir); err == nil {
				t.Error("the directory of the run was made")
			}
		})
	}
}

// without removes a flag with this value.
func without(args []string, name, value string) []string {
	for i := range args[:len(args)-1] {
		if args[i] == name && args[i+1] == value {
			return append(args[:i:i], args[i+2:]...)
		}
	}
	return args
}

// TestTwoSignals: the second leaves at once, although nobody takes the report, and what was written is readable.
func TestTwoSignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		second syscall.Signal
		status int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(c.second.String(), func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, 3)
			p := program(t, towards(server.URL, "--concurrency", "2", "--request-count", "100")...)
			r, w := fullPipe(t)
			defer r.Close()
			p.cmd.Stdout = w
			p.start()
			w.Close()
			server.await(t, 2)
			p.signal(os.Interrupt)
			p.says("interrupt")
			p.signal(c.second)
			if got := p.wait(); got != c.status {
				t.Errorf("exit status %d, want %d\n%s", got, c.status, p.stderr.String())
			}
			p.records() // whole lines
		})
	}
}

// fullPipe is a pipe that takes no more bytes.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	full := raw.Control(func(fd uintptr) {
		for buf := make([]byte, 4096); err == nil; { // a pipe of this package does not wait: it says that it is full
			_, err = syscall.Write(int(fd), buf)
		}
	})
	if full != nil || !errors.Is(err, syscall.EAGAIN) {
		t.Fatal(full, err)
	}
	return r, w
}

// TestNoReader: a reader of the report, or of the messages too, that goes away is not a failure, and the files are complete.
func TestNoReader(t *testing.T) {
	t.Parallel()
	for name, both := range map[string]bool{"stdout": false, "stdout and stderr": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, 10)
			p := program(t, towards(server.URL, "--concurrency", "2", "--request-count", "10", "--no-gpu-telemetry", "--no-server-metrics")...)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			p.cmd.Stdout = w
			if both {
				p.cmd.Stderr = w
				p.cmd.Args = append(p.cmd.Args, "--api-key", "k", "--header", "Authorization: x") // something to say
			}
			if got := p.run(); got != 0 {
				t.Errorf("exit status %d, want 0\n%s", got, p.stderr.String())
			}
			w.Close()
			if text := p.stderr.String(); text != "" {
				t.Errorf("stderr says %s", text)
			}
			p.complete(10)
		})
	}
}

// TestNohup: a hang-up that was ignored when the program began stays ignored.
func TestNohup(t *testing.T) {
	t.Parallel()
	server := newScripted(t, 2)
	p := program(t, towards(server.URL, "--concurrency", "2", "--request-count", "4")...).underShell(`trap "" HUP`).start()
	server.await(t, 2)
	p.signal(syscall.SIGHUP)
	close(server.release)
	if got := p.wait(); got != 0 {
		t.Errorf("exit status %d, want 0\n%s", got, p.stderr.String())
	}
	p.complete(4)
}

// TestInterruptedRepeats: a signal in the second of three runs ends the series; what is complete adds up.
func TestInterruptedRepeats(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 6)
	p := program(t, towards(server.URL, "--concurrency", "2", "--request-count", "6", "--num-profile-runs", "3")...).start()
	server.await(t, 2)
	p.signal(os.Interrupt)
	if got := p.wait(); got != 0 {
		t.Errorf("exit status %d, want 0\n%s", got, p.stderr.String())
	}
	for name, want := range map[string]bool{
		"aggregate/profile_export_aiperf_aggregate.json":   true,
		"profile_runs/run_0001/profile_export_aiperf.json": true,
		"profile_runs/run_0002/profile_export_aiperf.json": true, // of what was cut
		"profile_runs/run_0003":                            false,
	} {
		if _, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: there: %v, want %v", name, err == nil, want)
		}
	}
	second := readSummary(t, filepath.Join(p.dir, "profile_runs", "run_0002", "profile_export_aiperf.json"))
	if second.text("was_cancelled") != "true" {
		t.Errorf("the run that was cut says was_cancelled %s", second.text("was_cancelled"))
	}
}

// TestInterruptedSweep: a signal in the second of three cells: no cell without a result is called valid, and the last line says how to run the rest.
func TestInterruptedSweep(t *testing.T) {
	t.Parallel()
	server := newScripted(t, 6)
	p := program(t, towards(server.URL, "--concurrency", "1,2,4", "--request-count", "6")...).start()
	server.await(t, 2)
	p.signal(os.Interrupt)
	if got := p.wait(); got != 0 {
		t.Errorf("exit status %d, want 0\n%s", got, p.stderr.String())
	}
	text := p.stdout.String()
	_, table, _ := strings.Cut(text, "Sweep: 3 cells")
	for _, want := range []string{" interrupted", " not run", "\nInterrupted: 1 of 3 cells ran to the end. To run the rest, give the same command with --resume " + p.dir + " instead of --artifact-dir.\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(table, " valid"); n > 1 {
		t.Errorf("%d cells are valid, 1 has a result:\n%s", n, text)
	}
}
