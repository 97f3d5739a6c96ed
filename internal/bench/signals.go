package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// Exit statuses that signals give.
const (
	exitForced     = 130 // second Ctrl-C
	exitTerminated = 143 // SIGTERM, SIGHUP
)

// ErrSignal is why the context of a run ends when the user interrupts it.
var ErrSignal = errors.New("interrupted by a signal")

// Signals watches for Ctrl-C, SIGTERM and SIGHUP: the first ends the context, so that the run drains and reports what it has; the second
// leaves at once.
type Signals struct {
	received chan os.Signal
	done     chan struct{}
	exit     func(int)
	first    atomic.Int32 // signal number, 0 = none yet
}

// Watch begins to listen. w gets a word about what the first signal does. Stop ends it.
func Watch(parent context.Context, w io.Writer) (context.Context, *Signals) {
	s := &Signals{received: make(chan os.Signal, 4), done: make(chan struct{}), exit: os.Exit}
	ctx, cancel := context.WithCancelCause(parent)
	signal.Notify(s.received, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go s.watch(cancel, w)
	return ctx, s
}

// Stop gives the signals back to the system.
func (s *Signals) Stop() {
	signal.Stop(s.received)
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
				fmt.Fprintln(w, "\naiperf: leaving at once; what was written so far is readable, there is no report")
				s.exit(forced(number))
				return
			}
			fmt.Fprintf(w, "\naiperf: %v: nothing more is sent; the report of what is done follows (again: leave at once)\n", got)
			cancel(ErrSignal)
		case <-s.done:
			cancel(context.Canceled)
			return
		}
	}
}

func forced(n syscall.Signal) int {
	if n == syscall.SIGINT {
		return exitForced
	}
	return exitTerminated
}
