package clock

import (
	"runtime"
	"sync"
	"time"
)

// Periods of the heartbeat.
const (
	beatPeriod  = 20 * time.Millisecond  // each beat costs the runtime some 100 µs: it watches threads that sleep in the kernel
	tellEvery   = 20 * time.Millisecond  // between two calls of after
	stallFloor  = 10 * time.Millisecond  // a beat that comes later than this is a stall
	wakeNoise   = 500 * time.Microsecond // what is late by no more may be so because a core slept
	probePeriod = 2 * time.Millisecond
)

// Stalls tell how long the process, or threads of it, did not run although they wanted to.
type Stalls struct {
	Count   int64         // times that the whole process did not run for 10 ms or more: beats that came so late for no want of a processor
	Longest time.Duration // longest time that it did not run
	Total   time.Duration // of the stalls
	// ThreadWait is what all threads together spent on run queues, runnable and without a processor; 0 where the system does not tell.
	ThreadWait time.Duration
}

// Heartbeat watches whether the process runs. A thread of its own wakes every 20 ms and notes how late it was, and reads how long the threads
// of the process waited for processors. It spins never and asks for no priority. Beside it a goroutine reads a probe every 2 ms, the
// way connections are read, and notes how late that was.
type Heartbeat struct {
	waiter  Waiter
	threads threadWaits
	probe   *probe // nil where the system has none
	stop    chan struct{}
	done    sync.WaitGroup
	procs   int // to be restored

	mu     sync.Mutex
	sum    Stalls // settled beats
	late   int64  // of the last beat, ns, if it is not settled
	lateAt int64
	looks  lookLog
	after  func(upTo int64)
}

// StartHeartbeat starts one. after, if not nil, is called every 20 ms or so: what Unseen says of instants up to upTo is final. It must not
// take long.
func StartHeartbeat(after func(upTo int64)) *Heartbeat {
	h := &Heartbeat{waiter: NewThriftyWaiter(), stop: make(chan struct{}), after: after}
	h.threads.look()
	// A thread that sleeps in the kernel keeps its processor of the runtime for a while: without one more, readers would lack it.
	h.procs = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(h.procs + 1)
	h.done.Go(h.run)
	if p, err := newProbe(); err == nil {
		h.probe = p
		h.done.Go(h.watch)
	}
	return h
}

// Stop ends it.
func (h *Heartbeat) Stop() {
	close(h.stop)
	h.waiter.Wake()
	if h.probe != nil {
		h.probe.close()
	}
	h.done.Wait()
	h.mu.Lock()
	if now, n := Now(), h.looks.n; n > 0 { // who calls this looks, too
		h.looks.add(look{min(now, h.looks.at(n-1).ready+int64(probePeriod)), now})
	}
	h.threads.close()
	h.mu.Unlock()
	runtime.GOMAXPROCS(h.procs)
}

func (h *Heartbeat) run() {
	h.waiter.Attach()
	defer h.waiter.Detach()
	h.mu.Lock()
	h.threads.own()
	h.mu.Unlock()
	for due := Now() + int64(beatPeriod); ; due = Now() + int64(beatPeriod) {
		reached := h.waiter.Until(due)
		select {
		case <-h.stop:
			return
		default:
		}
		if late := Now() - due; reached {
			h.beat(late - h.waited())
		}
	}
}

// watch reads the probe until it is closed.
func (h *Heartbeat) watch() {
	told := Now()
	for {
		k, err := h.probe.wait()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.looks.add(k)
		h.mu.Unlock()
		if h.after != nil && k.seen-told >= int64(tellEvery) {
			told = k.seen
			h.after(k.seen)
		}
	}
}

// waited is how long the heartbeat's own thread waited for a processor since it was asked before, ns: that it is late for that reason does
// not say that other threads did not run.
func (h *Heartbeat) waited() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.threads.ownWait()
}

// beat takes in a beat that came late by some ns.
func (h *Heartbeat) beat(late int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.countLast()
	h.late, h.lateAt = late, Now()
	h.sum.ThreadWait += time.Duration(h.threads.look())
}

// countLast counts the last beat. Its lateness lacks what passed of a stop before the beat was due; the probe, which is due more often, knows
// that, as soon as it was read after the stop.
func (h *Heartbeat) countLast() {
	d := time.Duration(h.late)
	if d >= stallFloor {
		d = min(d+beatPeriod, max(d, time.Duration(h.looks.longest(h.lateAt-h.late, h.lateAt))))
		h.sum.Count++
		h.sum.Total += d
	}
	h.sum.Longest = max(h.sum.Longest, d)
	h.late = 0
}

// Mark begins a new count of stalls.
func (h *Heartbeat) Mark() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.threads.look()
	h.sum, h.late = Stalls{}, 0
}

// Stalls is the count since Mark.
func (h *Heartbeat) Stalls() Stalls {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.countLast()
	h.sum.ThreadWait += time.Duration(h.threads.look())
	return h.sum
}

// Unseen bounds how long before the instant at bytes may have arrived that were read together with what arrived at it, in ns: nobody looked
// at connections meanwhile. It is never more than at - from. An instant that no look followed, or of longer ago than the log goes (a
// minute), says nothing: all of at - from counts as unseen.
func (h *Heartbeat) Unseen(from, at int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.looks.unseen(from, at)
}
