package transport

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// job is a function that reads.
type job struct {
	f    func()
	over chan struct{} // closed when it is over
}

func (j job) read()     { j.f() }
func (j job) readOver() { close(j.over) }

// TestReaderMissesNoWake: what one goroutine has to say to the reading function reaches it, also while another one continues the function.
func TestReaderMissesNoWake(t *testing.T) {
	for i := range 20_000 {
		r := newReader(nil)
		var stop atomic.Bool
		var bytesRead atomic.Int64
		bytes := make(chan struct{})
		go func() {
			defer close(bytes)
			for range i % 4 {
				r.advance()
			}
		}()
		go func() {
			for range i % 50 {
				stop.Load() // some ns
			}
			stop.Store(true)
			r.wake()
		}()
		ended := make(chan struct{})
		r.start(job{func() {
			for !stop.Load() {
				for range 300 { // what is said now must reach the next look
					bytesRead.Add(1)
				}
				r.await()
			}
		}, ended})
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("round %d: the reading function still waits", i)
		}
		<-bytes
	}
}

// TestReaderForgetsWake: a wake that has led to a look leads to no second one.
func TestReaderForgetsWake(t *testing.T) {
	r := newReader(nil)
	var looks atomic.Int64
	ended := make(chan struct{})
	r.start(job{func() {
		for looks.Add(1) < 4 {
			r.await()
		}
	}, ended})
	waits := func(n int64) bool { return looks.Load() == n && r.waiting.Load() != nil }
	if !waits(1) {
		t.Fatalf("%d looks at the start, want 1", looks.Load())
	}
	r.wake()
	for !waits(2) {
		runtime.Gosched()
	}
	if r.advance(); !waits(3) {
		t.Errorf("%d looks after a wake and an advance, want 3", looks.Load())
	}
	r.advance()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("%d looks, and the job is not over", looks.Load())
	}
}
