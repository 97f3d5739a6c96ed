package transport

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
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

// manyJobs are jobs that follow each other on one reader: the end of one starts the next.
type manyJobs struct {
	r    reader
	said atomic.Bool
	left int
	over chan struct{} // receives a value after the last one
}

func (m *manyJobs) begin() {
	m.said.Store(false)
	for range 2 {
		go m.r.advance()
	}
	go func() {
		m.said.Store(true)
		m.r.advance()
	}()
	m.r.start(m)
}

func (m *manyJobs) read() {
	for !m.said.Load() {
		m.r.await()
	}
}

func (m *manyJobs) readOver() {
	if m.left--; m.left > 0 {
		m.begin()
		return
	}
	m.over <- struct{}{}
}

// TestReaderOfManyJobs: what is said to a job reaches it, also while somebody has not yet left the step that ended in the job before.
func TestReaderOfManyJobs(t *testing.T) {
	testhome.Slow(t)
	const readers = 32
	over := make(chan struct{})
	for range readers {
		m := &manyJobs{r: newReader(nil), left: 3_000, over: over}
		go m.begin()
	}
	late := time.After(time.Minute)
	for range readers {
		select {
		case <-over:
		case <-late:
			t.Fatal("a job still waits for what was said to it")
		}
	}
}

// TestReaderForgetsWake: a wake leads to one look, also if it came before the job or with nothing to continue.
func TestReaderForgetsWake(t *testing.T) {
	r := newReader(nil)
	var looks atomic.Int64
	ended := make(chan struct{})
	r.wake()
	r.start(job{func() {
		for looks.Add(1) < 5 {
			r.await()
		}
	}, ended})
	waits := func(n int64) bool { return looks.Load() == n && r.waiting.Load() != nil }
	if !waits(2) {
		t.Fatalf("%d looks at the start, want 2: one of the start and one of the wake before", looks.Load())
	}
	r.wake()
	for !waits(3) {
		runtime.Gosched()
	}
	if r.advance(); !waits(4) {
		t.Errorf("%d looks after another wake and an advance, want 4", looks.Load())
	}
	r.advance()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatalf("%d looks, and the job is not over", looks.Load())
	}
}
