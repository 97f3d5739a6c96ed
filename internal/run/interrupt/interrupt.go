// Package interrupt handles the signals with which the user ends a run.
package interrupt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/artifact"
)

// Exit statuses after signals.
const (
	exitForced     = 130 // second Ctrl-C
	exitTerminated = 143 // SIGTERM, SIGHUP
)

// messageLimit is the time limit for the last message of a process that exits at once: the reader of its messages may be gone or stopped.
const messageLimit = 100 * time.Millisecond

// writeLimit is how long such a process waits for a write in progress.
const writeLimit = 500 * time.Millisecond

// ErrSignal is the cause of a cancelled context when the user interrupts a run.
var ErrSignal = errors.New("interrupted by a signal")

// Signals handles Ctrl-C, SIGTERM and SIGHUP. The first signal ends the context: the run drains and reports what it has. The second exits at once.
// While it watches, a closed output pipe does not end the process, so that the files are complete.
type Signals struct {
	received chan os.Signal
	pipes    chan os.Signal // receives SIGPIPE; never read
	done     chan struct{}
	exit     func(int)
	first    atomic.Int32 // signal number; 0 = none yet
}

func newSignals(exit func(int)) *Signals {
	return &Signals{received: make(chan os.Signal, 4), pipes: make(chan os.Signal, 1), done: make(chan struct{}), exit: exit}
}

// Watch starts handling signals. It writes to w what the first signal does. Stop ends it.
func Watch(parent context.Context, w io.Writer) (context.Context, *Signals) {
	s := newSignals(leave)
	ctx, cancel := context.WithCancelCause(parent)
	signal.Notify(s.received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // started with nohup: leave it ignored
		signal.Notify(s.received, syscall.SIGHUP)
	}
	signal.Notify(s.pipes, syscall.SIGPIPE)
	go s.watch(cancel, w)
	return ctx, s
}

// leave exits between two writes, so that result files end with a whole line.
func leave(status int) {
	terminal.Restore()
	program.KillAll()
	artifact.AwaitWrites(writeLimit)
	os.Exit(status)
}

// Stop restores the default handling of the signals.
func (s *Signals) Stop() {
	signal.Stop(s.received)
	signal.Stop(s.pipes)
	close(s.done)
}

// Exit returns the status of an interrupted run: 143 after SIGTERM or SIGHUP, else otherwise.
func (s *Signals) Exit(otherwise int) int {
	switch syscall.Signal(s.first.Load()) {
	case syscall.SIGTERM, syscall.SIGHUP:
		return exitTerminated
	}
	return otherwise
}

func (s *Signals) watch(cancel context.CancelCauseFunc, w io.Writer) {
	for {
		select {
		case got := <-s.received:
			number, _ := got.(syscall.Signal)
			if !s.first.CompareAndSwap(0, int32(number)) {
				say(w, "\naiperf: exiting now, without a report; the files written so far are readable\n")
				s.exit(forced(number))
				return
			}
			cancel(ErrSignal)
			say(w, fmt.Sprintf("\naiperf: %v: sending has stopped; the report of the finished requests follows\n        a second signal exits now, without a report\n", got))
		case <-s.done:
			cancel(context.Canceled)
			return
		}
	}
}

// say writes a line, but waits only messageLimit for a blocked reader.
func say(w io.Writer, text string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = io.WriteString(w, text)
	}()
	timer := time.NewTimer(messageLimit)
	defer timer.Stop()
	select {
	case <-said:
	case <-timer.C:
	}
}

func forced(n syscall.Signal) int {
	if n == syscall.SIGINT {
		return exitForced
	}
	return exitTerminated
}
