package transport

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

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
		go func() {
			defer close(ended)
			r.run(func() {
				for !stop.Load() {
					for range 300 { // what is said now must reach the next look
						bytesRead.Add(1)
					}
					r.await()
				}
			})
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("round %d: the reading function still waits", i)
		}
		<-bytes
	}
}

// TestReaderForgetsWake: a wake that the goroutine of the function has followed does not wake it again when the loop continues the function later.
func TestReaderForgetsWake(t *testing.T) {
	r := newReader(nil)
	var looks atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.run(func() {
			for looks.Add(1) < 4 {
				r.await()
			}
		})
	}()
	waits := func(n int64) bool { return looks.Load() == n && r.waiting.Load() != nil }
	for !waits(1) {
		runtime.Gosched()
	}
	r.wake()
	for !waits(2) {
		runtime.Gosched()
	}
	r.advance()
	select {
	case <-ended:
		t.Error("the goroutine looked again, although nobody woke it")
	case <-time.After(20 * time.Millisecond):
		r.advance()
		<-ended
	}
}
