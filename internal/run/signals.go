package run

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

	"aiperf/internal/artifact"
	"aiperf/internal/terminal"
)

// Exit statuses that signals give.
const (
	exitForced     = 130 // second Ctrl-C
	exitTerminated = 143 // SIGTERM, SIGHUP
)

// lastWords is how long a process that leaves at once may try to say so: the reader of its messages may be gone or asleep.
const lastWords = 100 * time.Millisecond

// lastWrite is how long such a process waits for a write in progress.
const lastWrite = 500 * time.Millisecond

// ErrSignal is why the context of a run ends when the user interrupts it.
var ErrSignal = errors.New("interrupted by a signal")

// Signals watches for Ctrl-C, SIGTERM and SIGHUP: the first ends the context, so that the run drains and reports what it has; the second
// leaves at once. While it watches, a reader of the output that goes away does not end the process: the files are to be complete.
type Signals struct {
	received chan os.Signal
	pipes    chan os.Signal // SIGPIPE; nobody reads it
	done     chan struct{}
	exit     func(int)
	first    atomic.Int32 // signal number, 0 = none yet
}

func newSignals(exit func(int)) *Signals {
	return &Signals{received: make(chan os.Signal, 4), pipes: make(chan os.Signal, 1), done: make(chan struct{}), exit: exit}
}

// Watch begins to listen. w gets a word about what the first signal does. Stop ends it.
func Watch(parent context.Context, w io.Writer) (context.Context, *Signals) {
	s := newSignals(leave)
	ctx, cancel := context.WithCancelCause(parent)
	signal.Notify(s.received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(s.received, syscall.SIGHUP)
	}
	signal.Notify(s.pipes, syscall.SIGPIPE)
	go s.watch(cancel, w)
	return ctx, s
}

// leave ends the process between two writes: the files that grow end with whole lines.
func leave(status int) {
	terminal.Restore()
	artifact.AwaitWrites(lastWrite)
	os.Exit(status)
}

// Stop gives the signals back to the system.
func (s *Signals) Stop() {
	signal.Stop(s.received)
	signal.Stop(s.pipes)
	close(s.done)
}

// Exit is the status that an interrupted run ends with: 143 after SIGTERM or SIGHUP, else otherwise.
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
				say(w, "\naiperf: leaving at once, without a report; what was written so far is readable\n")
				s.exit(forced(number))
				return
			}
			cancel(ErrSignal)
			say(w, fmt.Sprintf("\naiperf: %v: nothing more is sent; the report of what is done follows\n        once more: leaves at once, without a report\n", got))
		case <-s.done:
			cancel(context.Canceled)
			return
		}
	}
}

// say writes a line, but does not wait long for a reader that takes none.
func say(w io.Writer, text string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = io.WriteString(w, text)
	}()
	timer := time.NewTimer(lastWords)
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
