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
	lingerLooks = 50                     // looks of the probe after the last request has ended
	tellEvery   = 20 * time.Millisecond  // between two calls of after
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

// Heartbeat watches whether the process runs. A thread of its own wakes every 20 ms and notes how late it was, and reads how long the threads
// of the process waited for processors. It spins never and asks for no priority. Beside it, while requests are under way, a goroutine
// reads a probe every 2 ms, the way connections are read, and notes how late that was.
type Heartbeat struct {
	beats   *gridTimer // nil where the system has none
	probe   *gridTimer // nil where the system has none
	done    sync.WaitGroup
	flights atomic.Int64 // requests under way
	after   func(upTo int64)

	probing sync.Mutex
	runs    bool // the probe does

	mu      sync.Mutex
	threads threadWaits
	sum     Stalls // counted beats
	woken   wakes
	late    int64 // of the last beat, ns, if it is not counted
	lateAt  int64
	looks   lookLog
	past    beatLog
}

// StartHeartbeat starts one. after, if not nil, is called every 20 ms or so while requests are under way, and once after the last: what
// Unseen says of instants up to upTo is final. It must not take long.
func StartHeartbeat(after func(upTo int64)) *Heartbeat {
	h := &Heartbeat{after: after, looks: newLookLog(), past: newBeatLog()}
	h.threads.look()
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
	if now, n := Now(), h.looks.n; n > 0 { // who calls this looks, too
		h.looks.add(look{min(now, h.looks.at(n-1).ready+int64(probePeriod)), now})
	}
	h.threads.close()
}

// Enter tells that a request is about to be sent, Leave that nothing more is read for it.
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
		w := h.threads.look()
		h.woken.add(k.seen - k.ready)
		h.beat(k.seen-k.ready-w.most-w.second, w.all)
		h.past.add(beat{k.seen, w.most})
		h.mu.Unlock()
	}
}

// watch reads the probe until it is closed.
func (h *Heartbeat) watch() {
	told, idle := Now(), 0
	var since int64 // the first look after the last request
	var said int64  // what after was told
	for {
		k, err := h.probe.wait()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.looks.add(k)
		final := k.seen
		if h.beats != nil {
			final = min(final, h.past.last())
		}
		h.mu.Unlock()
		if idle++; h.flights.Load() > 0 {
			idle = 0
		}
		if idle == 1 {
			since = k.seen
		}
		rests := idle >= lingerLooks && final >= since && h.rest()
		if rests {
			idle = 0
		}
		if h.after != nil && final > said && (rests || k.seen-told >= int64(tellEvery)) {
			told, said = k.seen, final
			h.after(final)
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
	h.sum, h.late, h.woken = Stalls{}, 0, wakes{}
}

// Stalls is the count since Mark.
func (h *Heartbeat) Stalls() Stalls {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.countLast()
	h.sum.ThreadWait += time.Duration(h.threads.look().all)
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

// Unseen bounds how long before the instant at bytes may have arrived that were read together with what arrived at it, in ns: nobody looked
// at connections meanwhile, or the one thread that was about to read this one waited for a processor. It is never more than at - from. An
// instant that no look followed, or of longer ago than the log goes (a minute of requests under way), says nothing: all of at - from counts
// as unseen.
func (h *Heartbeat) Unseen(from, at int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.looks.unseen(from, at)
	if w := h.past.waited(at, at+int64(beatPeriod)); w > int64(wakeNoise) {
		u = max(u, min(at-from, w))
	}
	return u
}

// Blind is the longest time within a span in which nobody looked at connections, as far as the log goes back (a minute of requests under way).
func (h *Heartbeat) Blind(from, to int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.looks.longest(from, to)
}
