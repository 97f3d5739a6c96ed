package clock

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Periods of the heartbeat.
const (
	beatPeriod    = 20 * time.Millisecond
	probePeriod   = 2 * time.Millisecond
	readsAfterEnd = 50                     // readings of the probe after the last request has ended
	stallFloor    = 10 * time.Millisecond  // a beat with a longer delay is a stall
	wakeNoise     = 500 * time.Microsecond // a shorter delay may come from a sleeping core alone
)

// Stalls summarises how long the process, or its threads, could not run although they wanted to.
type Stalls struct {
	Count   int64         // stalls of the whole process of 10 ms or more that no missing CPU explains
	Longest time.Duration // longest stall
	Total   time.Duration // sum of the stalls
	// ThreadWait is the time that all threads together waited on run queues for a CPU; 0 where the system does not report it.
	ThreadWait time.Duration
	// WakeDelay is the mean delay of a timed wake-up; delays below wakeNoise count as 0. It is 0 where the system has no such timer.
	WakeDelay time.Duration
	WakesLate float64 // share of the wake-ups with a longer delay than wakeNoise, 0 to 1
}

// Heartbeat detects when the process does not run. Its thread wakes every 20 ms, records its delay, and reads how long the threads of the process
// waited for a CPU. It never spins and needs no priority. While requests are in flight, a goroutine reads a probe every 2 ms, in the same way as
// connections are read, and records the delay.
type Heartbeat struct {
	beats    *gridTimer // nil where the system has no such timer
	probe    *gridTimer // nil where the system has no such timer
	done     sync.WaitGroup
	inFlight atomic.Int64 // requests in flight
	check    func()       // called at each reading of the probe; may be nil

	probing      sync.Mutex
	probeRunning bool // the probe is running

	mu         sync.Mutex
	threads    threadWaits
	sum        Stalls // sums over the counted beats
	wakeDelays wakes
	late       int64 // delay of the last beat, ns, if it is not counted yet
	lateAt     int64
	reads      probeLog
}

// StartHeartbeat starts a heartbeat. It calls check, if not nil, every 2 ms while requests are in flight. check must not block.
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

// Stop stops the heartbeat. No request may be in flight.
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

// Enter registers a request that is about to be sent.
func (h *Heartbeat) Enter() {
	if h.inFlight.Add(1) > 1 || h.probe == nil {
		return
	}
	h.probing.Lock()
	defer h.probing.Unlock()
	if !h.probeRunning {
		h.probeRunning = true
		h.probe.start()
	}
}

// Leave undoes one Enter, after the response was read.
func (h *Heartbeat) Leave() { h.inFlight.Add(-1) }

// run records beats until the timer is closed.
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
		h.wakeDelays.add(k.late())
		h.beat(k.late()-w.longest-w.second, w.all)
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
		if idle++; h.inFlight.Load() > 0 {
			idle = 0
		}
		if idle >= readsAfterEnd && h.pauseProbe() {
			idle = 0
		}
	}
}

// pauseProbe pauses the probe and returns true, unless a request is in flight.
func (h *Heartbeat) pauseProbe() bool {
	h.probing.Lock()
	defer h.probing.Unlock()
	if h.inFlight.Load() > 0 {
		return false
	}
	h.probeRunning = false
	h.probe.pause()
	return true
}

// beat records a beat with its delay in ns, and the time that all threads waited for a CPU since the previous beat. The caller subtracts the
// run-queue wait of the poller thread and of the heartbeat thread from the delay: it says nothing about other threads. The caller must hold h.mu.
func (h *Heartbeat) beat(late, waited int64) {
	h.countLast()
	h.late, h.lateAt = late, Now()
	h.sum.ThreadWait += time.Duration(waited)
}

// countLast counts the last beat as a stall if it was late enough. The delay of a beat lacks the part of a pause before the beat was due. The probe
// is due more often and supplies that part once it was read after the pause. The caller must hold h.mu.
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

// Mark resets all counts.
func (h *Heartbeat) Mark() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.threads.read()
	h.sum, h.late, h.wakeDelays = Stalls{}, 0, wakes{}
}

// Stalls returns the counts since Mark.
func (h *Heartbeat) Stalls() Stalls {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.countLast()
	h.sum.ThreadWait += time.Duration(h.threads.read().all)
	h.sum.WakeDelay, h.sum.WakesLate = h.wakeDelays.mean(), h.wakeDelays.share()
	return h.sum
}

// wakes sums the delays of the heartbeat's wake-ups.
type wakes struct {
	sum     time.Duration
	n, late int64
}

// add records a beat that was late by some ns. Grid points that passed in the meantime count too, because work due at one of them was delayed as
// well.
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

// SoFar returns the same sums while the heartbeat continues. It does not count the last beat, whose probe may not have been read yet.
func (h *Heartbeat) SoFar() Stalls {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sum.ThreadWait += time.Duration(h.threads.read().all)
	return h.sum
}

// MaxReadDelay returns the longest delay, ns, with which the probe was read between two instants. The log covers the last two minutes with requests in
// flight.
func (h *Heartbeat) MaxReadDelay(from, to int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reads.longest(from, to)
}
