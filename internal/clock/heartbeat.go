package clock

import (
	"runtime"
	"sync"
	"time"
)

// Periods of the heartbeat.
const (
	beatPeriod   = 5 * time.Millisecond
	beatsPerTick = 4                      // beats between two looks at the waits of the threads
	stallFloor   = 5 * time.Millisecond   // a beat that comes later than this is a stall
	wakeNoise    = 500 * time.Microsecond // a beat may come that late for no other reason than a core that slept
)

// Stalls tell how long the process, or threads of it, did not run although they wanted to.
type Stalls struct {
	Count   int64         // times that the whole process did not run for 5 ms or more: beats that came so late for no want of a processor
	Longest time.Duration // longest time that it did not run
	Total   time.Duration // of the stalls
	// ThreadWait is what all threads together spent on run queues, runnable and without a processor; 0 where the system does not tell.
	ThreadWait time.Duration
}

// Heartbeat watches from a thread of its own whether the process runs: it wakes every 5 ms and notes how late it was, and reads how long
// the threads of the process waited for processors. It spins never and asks for no priority, so that it is kept waiting as readers are.
type Heartbeat struct {
	waiter  Waiter
	threads threadWaits
	stop    chan struct{}
	done    chan struct{}
	procs   int // to be restored

	mu    sync.Mutex
	sum   Stalls
	log   blindLog
	tick  blindTick // under way
	next  int       // beats until the tick ends
	onEnd func(upTo int64)
}

// StartHeartbeat starts one. after, if not nil, is called from the heartbeat's thread after each look at the threads, every 20 ms or so,
// and a last time by Stop: what Unseen says of windows that end at upTo or before is final.
func StartHeartbeat(after func(upTo int64)) *Heartbeat {
	h := &Heartbeat{waiter: NewThriftyWaiter(), stop: make(chan struct{}), done: make(chan struct{}), onEnd: after, next: beatsPerTick}
	h.threads.look()
	h.tick.from = Now()
	// A thread that sleeps in the kernel keeps its processor of the runtime for a while: without one more, readers would lack it.
	h.procs = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(h.procs + 1)
	go h.run()
	return h
}

// Stop ends it.
func (h *Heartbeat) Stop() {
	close(h.stop)
	h.waiter.Wake()
	<-h.done
	h.mu.Lock()
	h.threads.close()
	h.mu.Unlock()
	runtime.GOMAXPROCS(h.procs)
}

func (h *Heartbeat) run() {
	defer close(h.done)
	h.waiter.Attach()
	defer h.waiter.Detach()
	h.threads.own()
	for due := Now() + int64(beatPeriod); ; due = Now() + int64(beatPeriod) {
		reached := h.waiter.Until(due)
		select {
		case <-h.stop:
			h.beat(0, true)
			return
		default:
		}
		if late := Now() - due; reached {
			h.beat(late-h.waited(), false)
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

// beat takes in a beat that came late by some ns, and ends the tick when it is time.
func (h *Heartbeat) beat(late int64, last bool) {
	h.mu.Lock()
	if d := time.Duration(late); d >= stallFloor {
		h.sum.Count++
		h.sum.Total += d
	}
	h.sum.Longest = max(h.sum.Longest, time.Duration(late))
	if late > int64(wakeNoise) {
		h.tick.late += late + int64(beatPeriod) // it may have begun right after the beat before
	}
	h.next--
	if h.next > 0 && late < int64(stallFloor) && !last {
		h.mu.Unlock()
		return
	}
	upTo := h.endTick()
	h.mu.Unlock()
	if h.onEnd != nil {
		h.onEnd(upTo)
	}
}

// endTick closes the tick under way and begins the next one.
func (h *Heartbeat) endTick() (upTo int64) {
	all, two := h.threads.look()
	h.sum.ThreadWait += time.Duration(all)
	upTo = Now()
	t := h.tick
	t.to = upTo
	t.blind = two + t.late
	h.log.add(t)
	h.tick = blindTick{from: upTo}
	h.next = beatsPerTick
	return upTo
}

// Mark begins a new count of stalls.
func (h *Heartbeat) Mark() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endTick()
	h.sum = Stalls{}
}

// Stalls is the count since Mark.
func (h *Heartbeat) Stalls() Stalls {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endTick()
	return h.sum
}

// Unseen bounds how long before the instant at bytes may have arrived that were read between at and read, in ns: the process was stopped,
// or its threads waited for processors, without a pause from their arrival to the read. It is never more than at - from. What lies further
// back than the log goes (a minute or so) counts as unseen.
func (h *Heartbeat) Unseen(from, at, read int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.unseen(from, at, read)
}
