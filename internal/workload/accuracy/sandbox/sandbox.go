// Package sandbox runs Python programs that a model wrote, so that they can do no harm. A program runs in its own namespaces without a network. It
// sees the files of its interpreter, read-only, and a small memory file system. A filter of system calls blocks sockets and calls that could reach
// the kernel or other processes. Time, memory, processes, files and output are limited.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Job is one run of a program.
type Job struct {
	Code  string `json:"code"`
	Input string `json:"input"` // standard input, or one JSON value per line as arguments of the function

	// Function is called with the input; "" = the program reads its input and writes its output itself.
	Function string `json:"function"`
}

// Result is the result of a run.
type Result struct {
	Output   string // output of the program
	Ended    bool   // it ended normally; otherwise Fault gives the reason
	Returned string // JSON value that the function returned. The comparison happens outside, because a program could claim success.
	Fault    string
}

// runner runs programs in one kind of sandbox.
type runner struct {
	launch launcher
	python interpreter
	shares []share
	bounds bounds
	err    error // why no sandbox can be created
}

// open returns a runner of a kind of sandbox after a trial run.
func open(ctx context.Context, launch launcher, python interpreter) (runner, error) {
	r := runner{launch: launch, python: python, shares: python.shares(), bounds: usualBounds}
	if err := r.probe(ctx); err != nil {
		return runner{}, fmt.Errorf("%s: %w", launch.name, err)
	}
	return r, nil
}

// find searches for a sandbox and an interpreter, once.
var find = sync.OnceValue(func() runner {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	python, err := findInterpreter(ctx)
	if err != nil {
		return runner{err: err}
	}
	var why []string
	for _, launch := range launchers() {
		r, err := open(ctx, launch, python)
		if err == nil {
			return r
		}
		why = append(why, err.Error())
	}
	return runner{err: fmt.Errorf("this machine permits no sandbox (%s), and aiperf runs programs from a model only in one; %s", strings.Join(why, "; "), remedy)}
})

// remedy explains how a machine can permit a sandbox.
const remedy = "permit user namespaces or install bubblewrap; in a container, permit them in its seccomp profile (Docker's option security-opt with seccomp=unconfined)"

// probeProgram prints what a sandbox fails to prevent. Its arguments are paths of this machine that must not be visible.
const probeProgram = `
import os, socket
def place(*hidden):
    wrong = ['it shows ' + h for h in hidden if os.path.exists(h)]
    for d in os.listdir('/') + ['', 'usr/lib']:
        try:
            open('/' + d + '/aiperf-sandbox-probe', 'w')
            if d != 'tmp': wrong.append('it can write to /' + d)
        except OSError: pass
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK):
        try:
            socket.socket(family, socket.SOCK_DGRAM)
            wrong.append('it can open a socket of family %d' % family)
        except OSError: pass
    return '; '.join(wrong)
`

// probe tests whether the sandbox works: a program must run in it, must neither see nor write the files of this process, and must not open a socket.
func (r runner) probe(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "aiperf-sandbox-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	result := r.run(ctx, Job{Code: probeProgram, Function: "place", Input: fmt.Sprintf("%q", dir)})
	switch {
	case !result.Ended:
		return errors.New(firstLine(result.Fault))
	case result.Returned != `""`:
		return fmt.Errorf("the sandbox does not isolate: %s", result.Returned)
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Check returns why programs cannot be run on this machine; nil = they can.
func Check() error { return find().err }

// Run runs a program once. An error is an error of this machine, not of the program.
func Run(ctx context.Context, job Job) (Result, error) {
	r := find()
	if r.err != nil {
		return Result{}, r.err
	}
	return r.run(ctx, job), nil
}

// limitedBuffer keeps only the first bytes that are written to it.
type limitedBuffer struct {
	text      strings.Builder
	truncated bool
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > maxOutput {
		l.truncated = true
		return 0, io.ErrShortWrite
	}
	return l.text.Write(p)
}

// run starts the program in its sandbox and waits for its end.
func (r runner) run(ctx context.Context, job Job) Result {
	ctx, cancel := context.WithTimeout(ctx, Time+startTime)
	defer cancel()
	var out, faults limitedBuffer
	e := execution{runner: r, job: job, out: &out, faults: &faults}
	verdict, excess, err := e.run(ctx)
	result := Result{Output: out.text.String(), Fault: faults.text.String()}
	switch {
	case excess != "":
		result.Fault = excess
	case ctx.Err() != nil:
		result.Fault = fmt.Sprintf("the program ran longer than %v", Time)
	case out.truncated:
		result.Fault = fmt.Sprintf("the program wrote more than %d MiB", maxOutput>>20)
	case strings.HasPrefix(verdict, "ended"):
		result.Ended, result.Returned, result.Fault = true, strings.TrimSpace(strings.TrimPrefix(verdict, "ended")), ""
	case verdict != "":
		result.Fault = verdict
	case err != nil && result.Fault == "":
		result.Fault = err.Error()
	case result.Fault == "":
		result.Fault = "the program ended without a result"
	}
	return result
}
