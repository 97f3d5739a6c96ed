package transport

import (
	"iter"
	"sync/atomic"
)

// readJob is what reads an answer, or the frames of a connection.
type readJob interface {
	// read calls the reader's await wherever it has to wait for bytes.
	read()
	// readOver is called once read has returned. It may wait.
	readOver()
}

// reader lets a job read as a coroutine: where it has to wait for bytes, whoever brings the bytes continues it on the spot. So no goroutine exists that
// only waits, and none has to be woken for every read. Its fields belong to one link, which one job at a time reads.
type reader struct {
	current *coroutine                // what reads now; nil = a goroutine that waits itself. Only the reading job uses it.
	waiting atomic.Pointer[coroutine] // what waits for bytes; whoever takes it continues it
	missed  atomic.Bool               // there was nothing to take: what continues the coroutine has to look again
	changed chan struct{}             // capacity 1: for a goroutine that waits itself. There may be bytes, or the deadline may have moved.
	active  *atomic.Int64             // number of coroutines that wait; nil = it is not counted
}

func newReader(active *atomic.Int64) reader {
	return reader{changed: make(chan struct{}, 1), active: active}
}

// start begins a job. It returns when the job has to wait, or when it is over.
func (r *reader) start(j readJob) {
	c := newCoroutine(j)
	r.current = c
	r.countWaiting(1)
	if over := r.step(c); over != nil {
		over.readOver()
	}
}

// step continues a coroutine until it waits. It returns a job that has read everything, for the caller to call readOver; nil = none has.
func (r *reader) step(c *coroutine) (over readJob) {
	for c.step() {
		// From here on others may continue the coroutine, end its job and start the next one. A note of missed may be for that one.
		r.waiting.Store(c)
		if !r.missed.Load() {
			return nil
		}
		if c = r.waiting.Swap(nil); c == nil {
			return nil // the note stays for what runs now
		}
		r.missed.Store(false) // the next step looks
	}
	r.current = nil
	r.countWaiting(-1)
	return c.job
}

// take returns the waiting coroutine, for the caller to continue. nil = there is none; what runs will look again.
func (r *reader) take() *coroutine {
	if c := r.waiting.Swap(nil); c != nil {
		return c
	}
	r.missed.Store(true)
	c := r.waiting.Swap(nil) // it may have begun to wait just before
	if c != nil {
		r.missed.Store(false) // the caller's step looks
	}
	return c
}

func (r *reader) countWaiting(n int64) {
	if r.active != nil {
		r.active.Add(n)
	}
}

// await waits until there may be bytes or the deadline may have moved.
func (r *reader) await() {
	if r.current != nil {
		r.current.yield(struct{}{})
		return
	}
	<-r.changed
}

// wake makes the reading job look again, in another goroutine. It never waits, and the caller may hold locks.
func (r *reader) wake() {
	if c := r.take(); c != nil {
		go func() {
			if over := r.step(c); over != nil {
				over.readOver()
			}
		}()
		return
	}
	r.signal()
}

// advance makes the reading job look again, in the goroutine of the caller if it is a coroutine. The caller must hold no lock. What is called in this
// way must not wait for the caller.
func (r *reader) advance() {
	c := r.take()
	if c == nil {
		r.signal()
		return
	}
	if over := r.step(c); over != nil {
		go over.readOver()
	}
}

// signal wakes a goroutine that waits itself.
func (r *reader) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// coroutine is a job that reads step by step. A step ends where the job waits.
type coroutine struct {
	job   readJob
	next  func() (struct{}, bool)
	yield func(struct{}) bool
}

func newCoroutine(j readJob) *coroutine {
	c := &coroutine{job: j}
	c.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		j.read()
	})
	return c
}

// step runs one step. Only one goroutine at a time may call it. It reports whether there are more.
func (c *coroutine) step() (more bool) {
	_, more = c.next()
	return more
}
