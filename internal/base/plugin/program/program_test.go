//go:build unix

package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// settings are those of a program that behaves in one way, with short limits.
func settings(t *testing.T, how string) Settings {
	t.Helper()
	return Settings{Category: "accuracy_grader", Plugin: "bad", Command: []string{os.Args[0], "plug-in", how}, Dir: t.TempDir(), Methods: []string{"echo"},
		Limits: Limits{Hello: 5 * time.Second, Call: 5 * time.Second, End: time.Second, Term: 500 * time.Millisecond, Line: 1 << 20}}
}

// answer is what echo returns.
type answer struct{ N *int }

func start(t *testing.T, s Settings) *Program {
	t.Helper()
	p, err := Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TestGreeting: a program that does not greet is refused with what it did.
func TestGreeting(t *testing.T) {
	for how, want := range map[string]string{
		"silent-hello": "no greeting within 300ms", "half-hello": "no greeting within 300ms", "cut-hello": `the output ends within a line: "{\"type\":\"hel"`,
		"chatty":     `its first line is not a JSON object: "Loading the model…"; standard output is for the protocol`,
		"list-hello": "its first line is not a JSON object", "other-type": `has the type "hi"`, "protocol-2": "speaks protocol 2, but this aiperf speaks 1",
		"text-protocol": `its first line has a string for "protocol", but needs an integer`, "refusal": `the program says: "no licence`,
		"no-method": `has no method echo, only "other"`, "exit-hello": `(exit status 3); its last line on standard error: "ImportError: no module"`,
		"binary-hello": "its first line is not UTF-8", "flood-hello": "a line of more than 1 MiB",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := settings(t, how)
			if strings.HasPrefix(want, "no greeting") {
				s.Limits.Hello = 300 * time.Millisecond
			}
			_, err := Start(t.Context(), s)
			wantError(t, err, "plug-in accuracy_grader:bad: hello: ", want)
		})
	}
}

// TestStartErrors: a program that does not exist is refused with its path and the place of its definition.
func TestStartErrors(t *testing.T) {
	s := settings(t, "good")
	s.Command, s.Position = []string{"/nonexistent/grader"}, "plugins.yaml:7"
	_, err := Start(t.Context(), s)
	wantError(t, err, "plug-in accuracy_grader:bad: start: /nonexistent/grader: no such file or directory (plugins.yaml:7)")
}

// TestStartAdvice: the mistakes of a first plug-in are named with what to do.
func TestStartAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"not executable": {"#!/bin/sh\n", 0o600, "permission denied; make it executable: chmod +x "},
		"no interpreter": {"#!/nonexistent/python\n", 0o700, "no such file or directory; the file exists, but not the interpreter"},
		"no first line":  {"print(1)\n", 0o700, "exec format error; if it is a script, begin it with a line such as #!"},
	} {
		s := settings(t, "good")
		s.Command = []string{filepath.Join(s.Dir, "grade")}
		if err := os.WriteFile(s.Command[0], []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if got := StartAdvice(t.TempDir(), fs.ErrPermission); got != "; name a program, not a folder" {
		t.Error(got)
	}
}

// TestBrokenProtocol: a line that breaks the protocol ends the program. The call under way and later ones fail with the same reason.
func TestBrokenProtocol(t *testing.T) {
	for how, want := range map[string]string{
		"wrong-id": "an answer to call 99, which aiperf did not make", "negative-id": "an answer to call -1", "text-id": `has a string for "id", but needs an integer`,
		"no-id": "a line that is not an answer with id and one of result, error or part", "both": "a line that is not an answer",
		"neither": "a line that is not an answer", "chat": `a line of its output is not a JSON object: "done!"`, "empty-line": "is not a JSON object",
		"nan": "is not a JSON object", "list": "is not a JSON object", "latin1": "a line of its output is not UTF-8", "part": "a part of the answer to call 1",
		"late-refusal": `the program says: "disk full"`, "text-error": `has a string for "error", but needs an object`,
		"exit-after-read": `the program ended unexpectedly (exit status 3); its last line on standard error: "ValueError: boom"`,
		"exit-at-once":    "the program ended unexpectedly (exit status 0)", "killed": "the program ended unexpectedly (signal: killed)",
		"no-stdout": "closed its standard output but did not end", "flood": "a line of more than 1 MiB", "half-line": "no answer to echo within 300ms",
		"silent": "no answer to echo within 300ms", "stubborn": "no answer to echo within 300ms", "escape": "the program ended unexpectedly (exit status 4)",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := settings(t, how)
			if strings.HasPrefix(want, "no answer") {
				s.Limits.Call = 300 * time.Millisecond
			}
			collectChildren(t, &s)
			p := start(t, s)
			var a answer
			err := p.Call(t.Context(), "echo", nil, &a)
			wantError(t, err, "plug-in accuracy_grader:bad: echo: ", want)
			var fault *Fault
			if !errors.As(err, &fault) || a.N != nil {
				t.Errorf("not a fault, or a result: %v %v", err, a.N)
			}
			wantError(t, p.Call(t.Context(), "echo", nil, &a), want)
			wantError(t, p.Close(), "plug-in accuracy_grader:bad: end: ", want)
		})
	}
}

// TestFailedCalls: an answer that is not a result of its kind fails its call only.
func TestFailedCalls(t *testing.T) {
	for how, want := range map[string]string{
		"wrong-type": `the result has a string for "N", but needs an integer`, "twice": `the result has the key "n" twice: `, "null": "the result is null", "list-result": "the result is not a JSON object",
		"error": `the program says: "bad luck"`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := start(t, settings(t, how))
			var a answer
			err := p.Call(t.Context(), "echo", nil, &a)
			wantError(t, err, "plug-in accuracy_grader:bad: echo: ", want)
			var fault *Fault
			if errors.As(err, &fault) || p.Fault() != nil {
				t.Errorf("a fault: %v", p.Fault())
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCalls: calls are answered in any order, and an answer with the line end of Windows counts.
func TestCalls(t *testing.T) {
	p := start(t, settings(t, "reverse"))
	var wait sync.WaitGroup
	seen := make([]int, 9)
	for range 8 {
		wait.Go(func() {
			var a answer
			if err := p.Call(t.Context(), "echo", map[string]int{"x": 1}, &a); err != nil {
				t.Error(err)
				return
			}
			seen[*a.N]++
		})
	}
	wait.Wait()
	if fmt.Sprint(seen) != "[0 1 1 1 1 1 1 1 1]" {
		t.Error(seen)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, p.Call(t.Context(), "echo", nil, nil), "the program was closed")
	p = start(t, settings(t, "crlf"))
	var a answer
	if err := p.Call(t.Context(), "echo", nil, &a); err != nil || *a.N != 7 {
		t.Error(err, a.N)
	}
	var meta struct{ Colour string }
	if err := p.Metadata(&meta); err != nil || meta.Colour != "red" || !p.Has("echo") {
		t.Error(err, meta)
	}
	var wrong struct{ Colour int }
	wantError(t, p.Metadata(&wrong), "hello: its metadata has a string")
}

// TestSecondAnswer: the first answer counts, the second one is a fault.
func TestSecondAnswer(t *testing.T) {
	p := start(t, settings(t, "repeated-id"))
	var a answer
	if err := p.Call(t.Context(), "echo", nil, &a); err != nil || *a.N != 1 {
		t.Fatal(err, a.N)
	}
	<-p.ended
	wantError(t, p.Fault(), "a second answer to call 1")
}

// TestGivenUp: a caller that gives up does not disturb other calls; its answer is ignored.
func TestGivenUp(t *testing.T) {
	p := start(t, settings(t, "late"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Call(ctx, "echo", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	var a answer
	if err := p.Call(t.Context(), "echo", nil, &a); err != nil || *a.N != 2 {
		t.Error(err, a.N)
	}
}

// TestParts: parts arrive in their order and before the result. The time of the receiver is not the program's.
func TestParts(t *testing.T) {
	s := settings(t, "parts")
	s.Limits.Call = 500 * time.Millisecond
	p := start(t, s)
	n := 0
	err := p.Stream(t.Context(), "echo", nil, func(part json.RawMessage) error {
		if string(part) != fmt.Sprintf(`{"n":%d}`, n) {
			t.Errorf("%d: %s", n, part)
		}
		if n++; n == 500 {
			<-time.After(700 * time.Millisecond)
		}
		return nil
	})
	if err != nil || n != 1000 {
		t.Error(err, n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestBrokenParts: an answer that ends between parts is an error.
func TestBrokenParts(t *testing.T) {
	for how, want := range map[string]string{"stop-in-parts": "no answer to echo within 300ms", "die-in-parts": "exit status 1"} {
		s := settings(t, how)
		s.Limits.Call = 300 * time.Millisecond
		p, n := start(t, s), 0
		err := p.Stream(t.Context(), "echo", nil, func(json.RawMessage) error { n++; return nil })
		wantError(t, err, want)
		if n != 1 {
			t.Error(how, n)
		}
	}
	p := start(t, settings(t, "parts"))
	stop := errors.New("enough")
	if err := p.Stream(t.Context(), "echo", nil, func(json.RawMessage) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestDeafProgram: a program that never reads blocks nobody, and its end is bounded.
func TestDeafProgram(t *testing.T) {
	testhome.Slow(t)
	for how, want := range map[string]string{"deaf": "no answer to echo within", "no-stdin": "the program does not read its standard input"} {
		s := settings(t, how)
		if s.Limits.Calls = 4; how == "deaf" {
			s.Limits.Call = 300 * time.Millisecond
		}
		p := start(t, s)
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() { wantError(t, p.Call(t.Context(), "echo", strings.Repeat("x", 1<<19), nil), want) })
		}
		wait.Wait()
		wantError(t, p.Close(), want)
	}
	p := start(t, settings(t, "good"))
	wantError(t, p.Call(t.Context(), "echo", strings.Repeat("x", 1<<21), nil), "the parameters take 2097", "the maximum is 1 MiB")
	wantError(t, p.Call(t.Context(), "echo", func() {}, nil), "unsupported type")
	if err := p.Call(t.Context(), "echo", nil, new(answer)); err != nil {
		t.Error(err)
	}
}

// TestStderrIsBounded: a flood on standard error is logged in part, harmlessly, and delays nothing.
func TestStderrIsBounded(t *testing.T) {
	s := settings(t, "shout")
	var mu sync.Mutex
	var lines []string
	s.Log = func(line string) { mu.Lock(); lines = append(lines, line); mu.Unlock() }
	s.Limits.Call = time.Minute
	p := start(t, s)
	if err := p.Call(t.Context(), "echo", nil, new(answer)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if len(lines) < 10 || len(lines) > 1000 || lines[0] != `plug-in accuracy_grader:bad: \x1b[31mnoise` {
		t.Errorf("%d lines, the first is %q", len(lines), lines[0])
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "more lines on standard error are not shown") || len(all) > 1<<20 {
		t.Errorf("%d bytes", len(all))
	}
}

// TestInterrupt: the end of the context ends the program and the call under way, with the cause of the context.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted by a signal")
	p, err := Start(ctx, settings(t, "stubborn"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	if err := p.Call(t.Context(), "echo", nil, nil); !errors.Is(err, cause) {
		t.Error(err)
	}
	if err := p.Close(); !errors.Is(err, cause) {
		t.Error(err)
	}
	if _, err := Start(ctx, settings(t, "good")); !errors.Is(err, cause) {
		t.Error(err)
	}
}

// TestPool: calls at the same time start more processes, up to the maximum, and a fault of one of them ends all.
func TestPool(t *testing.T) {
	p, err := NewPool(t.Context(), settings(t, "good"), 3)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := p.Call(t.Context(), "echo", nil, new(answer)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(p.started); n < 1 || n > 3 {
		t.Errorf("%d processes", n)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, p.Call(t.Context(), "echo", nil, nil), "the program was closed")
	if p, err = NewPool(t.Context(), settings(t, "exit-after-read"), 2); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		wait.Go(func() { wantError(t, p.Call(t.Context(), "echo", nil, nil), "exit status 3") })
	}
	wait.Wait()
	wantError(t, p.Call(t.Context(), "echo", nil, nil), "plug-in accuracy_grader:bad: echo: the program ended unexpectedly (exit status 3)")
	wantError(t, p.Close(), "exit status 3")
}
