package interrupt

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestSignalsDoNotWait: signals act at once although nobody reads what is said about them.
func TestSignalsDoNotWait(t *testing.T) {
	for _, c := range []struct {
		second syscall.Signal
		status int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 143}} {
		r, w := io.Pipe() // a write waits until somebody reads
		left := make(chan int, 1)
		s := newSignals(func(status int) { left <- status })
		ctx, cancel := context.WithCancelCause(context.Background())
		go s.watch(cancel, w)
		s.received <- os.Interrupt
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Fatal("the first signal does not end the context")
		}
		if !errors.Is(context.Cause(ctx), ErrSignal) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		s.received <- c.second
		select {
		case status := <-left:
			if status != c.status {
				t.Errorf("%v after an interrupt: status %d, want %d", c.second, status, c.status)
			}
		case <-time.After(time.Minute):
			t.Fatal("the second signal does not end the process")
		}
		r.Close()
		w.Close()
	}
}

// TestExitStatus: what the first signal makes of the status of a run.
func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		first           os.Signal
		otherwise, want int
	}{{nil, 0, 0}, {nil, 1, 1}, {os.Interrupt, 0, 0}, {os.Interrupt, 1, 1}, {syscall.SIGTERM, 0, 143}, {syscall.SIGHUP, 1, 143}} {
		s := newSignals(nil)
		ctx, cancel := context.WithCancelCause(context.Background())
		if c.first != nil {
			go s.watch(cancel, io.Discard)
			s.received <- c.first
			<-ctx.Done()
		}
		if got := s.Exit(c.otherwise); got != c.want {
			t.Errorf("%v, otherwise %d: %d, want %d", c.first, c.otherwise, got, c.want)
		}
		close(s.done)
		cancel(nil)
	}
}

// TestWatch: the first signal ends the context with a word, the second the process.
func TestWatch(t *testing.T) {
	left := make(chan int, 1)
	s := newSignals(func(status int) { left <- status })
	ctx, cancel := context.WithCancelCause(t.Context())
	go s.watch(cancel, io.Discard)
	s.received <- os.Interrupt
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), ErrSignal) {
		t.Error(context.Cause(ctx))
	}
	s.received <- os.Interrupt
	if status := <-left; status != exitForced || s.Exit(1) != 1 {
		t.Errorf("status %d", status)
	}
}
