package clock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Periods of the heartbeat.
const (
	beatPeriod  = 20 * time.Millisecond
	probePeriod = 2 * time.Millisecond
	lingerReads = 50                     // readings of the probe after the last request has ended
	stallFloor  = 10 * time.Millisecond  // a beat that comes later than this is a stall
	wakeNoise   = 500 * time.Microsecond // what is late by no more may be so because a core slept
)

// Stalls tell how long the process, or threads of it, did not run although they wanted to.
type Stalls struct {
	Count   int64         // times that the whole process did not run for 10 ms or more: beats that came so late for no want of a processor
	Longest time.Duration // longest time that it did not run
	Total   time.Duration // of the stalls
	// ThreadWait is what all threads together spent on run queues, runnable and without a processor; 0 where the system does not tell.
	ThreadWait time.Duration
	// WakeDelay is what waking at an instant cost on average, delays below wakeNoise for nothing; 0 where the system has no such timer.
	WakeDelay time.Duration
	WakesLate float64 // share of the instants that were later than that, 0 to 1
}

// Heartbeat watches whether the process runs. A thread of its own wakes every 20 ms, records how late it was, and reads how long the threads
// of the process waited for processors. It never spins and asks for no priority. While requests are in flight, a goroutine reads a probe every
// 2 ms, the way connections are read, and records how late that was.
type Heartbeat struct {
	beats   *gridTimer // nil where the system has none
	probe   *gridTimer // nil where the system has none
	done    sync.WaitGroup
	flights atomic.Int64 // requests in flight
	check   func()       // called at each reading of the probe; may be nil

	probing sync.Mutex
	runs    bool // the probe does

	mu      sync.Mutex
	threads threadWaits
	sum     Stalls // counted beats
	woken   wakes
	late    int64 // of the last beat, ns, if it is not counted
	lateAt  int64
	reads   probeLog
}

// StartHeartbeat starts one. It calls check, if not nil, every 2 ms while requests are in flight. check must not wait.
func StartHeartbeat(check func()) *Heartbeat {
	h := &Heartbeat{check: check, reads: newProbeLog()}
	h.threads.read()
	if t, err := newGridTimer(beatPeriod); err == nil {
		h.beats = t
		t.start()
		h.done.Go(h.run)
	}
	if t, err := newGridTimer(probePeriod); err == nil {
		h.probe = t
		h.done.Go(h.watch)
	}
	return h
}

// Stop ends it. No request is under way any more.
func (h *Heartbeat) Stop() {
	for _, t := range []*gridTimer{h.beats, h.probe} {
		if t != nil {
			t.close()
		}
	}
	h.done.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.threads.close()
}

// Enter says that a request is about to be sent, Leave that its answer was read.
func (h *Heartbeat) Enter() {
	if h.flights.Add(1) > 1 || h.probe == nil {
		return
	}
	h.probing.Lock()
	defer h.probing.Unlock()
	if !h.runs {
		h.runs = true
		h.probe.start()
	}
}

// Leave undoes one Enter.
func (h *Heartbeat) Leave() { h.flights.Add(-1) }

// run beats until the timer is closed.
func (h *Heartbeat) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		k, err := h.beats.wait()
		if err != nil {
			return
		}
		h.mu.Lock()
		w := h.threads.read()
		h.woken.add(k.late())
		h.beat(k.late()-w.most-w.second, w.all)
		h.mu.Unlock()
	}
}

// watch reads the probe until it is closed.
func (h *Heartbeat) watch() {
	idle := 0 // readings without a request in flight
	for {
		k, err := h.probe.wait()
		if err != nil {
			return
		}
		if h.check != nil {
			h.check()
		}
		h.mu.Lock()
		h.reads.add(k)
		h.mu.Unlock()
		if idle++; h.flights.Load() > 0 {
			idle = 0
		}
		if idle >= lingerReads && h.rest() {
			idle = 0
		}
	}
}

// rest lets the probe rest unless a request has begun.
func (h *Heartbeat) rest() bool {
	h.probing.Lock()
	defer h.probing.Unlock()
	if h.flights.Load() > 0 {
		return false
	}
	h.runs = false
	h.probe.pause()
	return true
}

// beat takes in a beat that came late by some ns, and what all threads waited for processors since the beat before. How long the threads
// themselves waited that a beat passes through (the one that polls, and its own) is no part of late: that they had no processor does not say
// that others did not run. h.mu is held.
func (h *Heartbeat) beat(late, waited int64) {
	h.countLast()
	h.late, h.lateAt = late, Now()
	h.sum.ThreadWait += time.Duration(waited)
}

// countLast counts the last beat. Its lateness lacks what passed of a stop before the beat was due; the probe, which is due more often, knows
// that, as soon as it was read after the stop. h.mu is held.
func (h *Heartbeat) countLast() {
	d := time.Duration(h.late)
	if d >= stallFloor {
		d = min(d+beatPeriod, max(d, time.Duration(h.reads.longest(h.lateAt-h.late, h.lateAt))))
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
	h.threads.read()
	h.sum, h.late, h.woken = Stalls{}, 0, wakes{}
}

// Stalls is the count since Mark.
func (h *Heartbeat) Stalls() Stalls {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.countLast()
	h.sum.ThreadWait += time.Duration(h.threads.read().all)
	h.sum.WakeDelay, h.sum.WakesLate = h.woken.mean(), h.woken.share()
	return h.sum
}

// wakes sum up how late a thread was woken at instants of the heartbeat's grid.
type wakes struct {
	sum     time.Duration
	n, late int64
}

// add takes in a beat that was late by some ns. Instants of the grid that passed meanwhile count too: whoever was due at one of them was kept waiting.
func (w *wakes) add(late int64) {
	for d := time.Duration(late); d >= 0; d -= beatPeriod {
		if w.n++; d > wakeNoise {
			w.sum += d
			w.late++
		}
	}
}

func (w *wakes) mean() time.Duration {
	if w.n == 0 {
		return 0
	}
	return w.sum / time.Duration(w.n)
}

func (w *wakes) share() float64 { return float64(w.late) / float64(max(1, w.n)) }

// Blind is the longest time within a span in which the probe was not read, as far as the log goes back (two minutes of requests in flight).
func (h *Heartbeat) Blind(from, to int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reads.longest(from, to)
}
