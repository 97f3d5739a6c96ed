// Package sandbox runs programs that a model wrote, in Python, where they can do no harm. A program runs in namespaces of its own, without a
// network. It sees the files of its interpreter, read-only, and a small file system in memory. A filter of system calls keeps it from sockets
// and from what it could reach the kernel or other processes with. Time, memory, processes, files and output have bounds.
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
	Input string `json:"input"` // what it reads, or a JSON value a line that its function gets

	// Function is called with the input; "" = the program reads and writes itself.
	Function string `json:"function"`
}

// Result is how a run ended.
type Result struct {
	Output   string // what the program wrote
	Ended    bool   // it came to its end; else Fault says why not
	Returned string // JSON value that the function returned. What it should be stays outside: a program could say that it was.
	Fault    string
}

// runner runs programs in one kind of sandbox.
type runner struct {
	launch launcher
	python interpreter
	shares []share
	bounds bounds
	err    error // why no sandbox can be made
}

// open returns a runner of a kind of sandbox after a trial.
func open(ctx context.Context, launch launcher, python interpreter) (runner, error) {
	r := runner{launch: launch, python: python, shares: python.shares(), bounds: usualBounds}
	if err := r.probe(ctx); err != nil {
		return runner{}, fmt.Errorf("%s: %w", launch.name, err)
	}
	return r, nil
}

// find looks for a sandbox and an interpreter once.
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
	return runner{err: fmt.Errorf("aiperf runs the programs of a model only in a sandbox, and this machine permits none (%s); %s", strings.Join(why, "; "), remedy)}
})

// remedy says how a machine can permit a sandbox.
const remedy = "permit user namespaces or install bubblewrap; in a container, permit them in its seccomp profile (Docker's option security-opt with seccomp=unconfined)"

// probeProgram prints what a sandbox fails to prevent. It is called with paths of this machine that must not be there.
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

// probe tries whether the sandbox holds: a program must run there, must not see or write the files of this process, and must open no socket.
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
		return fmt.Errorf("it does not hold: %s", result.Returned)
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Check tells why programs cannot be run on this machine; nil = they can.
func Check() error { return find().err }

// Run runs a program once. An error is one of this machine, not of the program.
func Run(ctx context.Context, job Job) (Result, error) {
	r := find()
	if r.err != nil {
		return Result{}, r.err
	}
	return r.run(ctx, job), nil
}

// limited keeps the beginning of what is written to it.
type limited struct {
	text strings.Builder
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > mostOutput {
		l.over = true
		return 0, io.ErrShortWrite
	}
	return l.text.Write(p)
}

// run starts the program in its sandbox and waits for its end.
func (r runner) run(ctx context.Context, job Job) Result {
	ctx, cancel := context.WithTimeout(ctx, Time+startTime)
	defer cancel()
	var out, faults limited
	e := execution{runner: r, job: job, out: &out, faults: &faults}
	verdict, excess, err := e.run(ctx)
	result := Result{Output: out.text.String(), Fault: faults.text.String()}
	switch {
	case excess != "":
		result.Fault = excess
	case ctx.Err() != nil:
		result.Fault = fmt.Sprintf("it ran longer than %v", Time)
	case out.over:
		result.Fault = fmt.Sprintf("it wrote more than %d MiB", mostOutput>>20)
	case strings.HasPrefix(verdict, "ended"):
		result.Ended, result.Returned, result.Fault = true, strings.TrimSpace(strings.TrimPrefix(verdict, "ended")), ""
	case verdict != "":
		result.Fault = verdict
	case err != nil && result.Fault == "":
		result.Fault = err.Error()
	case result.Fault == "":
		result.Fault = "it ended without a word"
	}
	return result
}
