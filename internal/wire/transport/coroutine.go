package transport

import (
	"iter"
	"sync/atomic"
)

// reader lets a function that reads run as a coroutine: where the function has to wait for bytes, whoever brings the bytes continues it on the spot.
// No goroutine has to be woken for every read. Its fields belong to one link, which one function at a time reads.
type reader struct {
	current *coroutine                // what reads now; nil = a goroutine that waits itself. Only the reading function uses it.
	waiting atomic.Pointer[coroutine] // what waits for bytes; whoever takes it continues it
	changed chan struct{}             // capacity 1: there may be bytes, or the deadline may have moved
	missed  atomic.Bool               // changed was signalled while somebody continued the coroutine: it has to look again
	active  *atomic.Int64             // number of coroutines that wait; nil = it is not counted
}

func newReader(active *atomic.Int64) reader {
	return reader{changed: make(chan struct{}, 1), active: active}
}

// run calls f, which calls await, and returns when f has returned. f runs in the caller's goroutine, or in those that bring bytes.
func (r *reader) run(f func()) {
	c := newCoroutine(f)
	r.current = c
	defer func() { r.current = nil }()
	for !c.step() {
		r.countWaiting(1)
		r.waiting.Store(c)
		for mine := false; !mine; {
			select {
			case <-c.over:
				return
			case <-r.changed:
				r.missed.Store(true) // before the attempt: if it fails, advance finds the note
				if mine = r.waiting.CompareAndSwap(c, nil); mine {
					r.missed.Store(false) // the next step looks
				}
			}
		}
		r.countWaiting(-1)
	}
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

// wake makes the reading function look again, in its own goroutine. It never waits, and the caller may hold locks.
func (r *reader) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// advance makes the reading function look again, in the goroutine of the caller if possible. The caller must hold no lock. What is called in this way
// must not wait for the caller.
func (r *reader) advance() {
	c := r.waiting.Swap(nil)
	switch {
	case c == nil:
		r.wake()
	case c.step():
		r.countWaiting(-1)
		c.over <- struct{}{}
	default:
		if r.waiting.Store(c); r.missed.Swap(false) {
			r.wake()
		}
	}
}

// coroutine is a function that runs step by step. A step ends where the function yields.
type coroutine struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	over  chan struct{} // receives a value after the last step, unless its owner has made it
}

func newCoroutine(f func()) *coroutine {
	c := &coroutine{over: make(chan struct{}, 1)}
	c.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		f()
	})
	return c
}

// step runs one step. Only one goroutine at a time may call it.
func (c *coroutine) step() (over bool) {
	_, more := c.next()
	return !more
}
