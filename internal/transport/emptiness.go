package transport

import (
	"sync"
	"sync/atomic"

	"aiperf/internal/clock"
)

// emptinessLog records at which instants the sockets of a client held no unread bytes. It bounds the arrival of bytes that were read together:
// they came after the last check that found their socket empty.
//
// One check covers every socket. On Linux it asks a second epoll instance, in which all sockets are level-triggered, with a timeout of zero.
// The kernel then lists exactly those that are readable; each of the others was empty at that instant. The proof needs no goroutine to run: a
// reader that waits in a run queue leaves its socket readable, so the check lists it. A check costs about 0.3 µs, 0.1 µs for each socket that
// got bytes since the check before, and 0.15 µs for each that is readable still. A check cannot see packets that the kernel has stamped and not
// yet put into their socket (deliveryTime).
//
// Checks are made by readers after a read and by the probe of the heartbeat. Between two checks nothing is known, and the bound is as wide.
type emptinessLog struct {
	polled  readiness
	last    atomic.Int64 // instant just before the last check; 0 = there was none
	pause   atomic.Int64 // ns from the last check to the next that a reader makes
	running sync.Mutex   // one check at a time

	mu      sync.Mutex // guards changes of sockets
	sockets atomic.Pointer[[]atomic.Pointer[socketState]]
}

// socketState is what the checks found of one socket. It is written by the goroutine that checks and read by the one that reads the socket.
type socketState struct {
	log *emptinessLog
	// readable is the instant just before the last check that found the socket readable. Before the first check of the unbroken series of
	// such checks lies the one that began at empty.
	readable, empty atomic.Int64
}

// Pauses between two checks of readers, ns. Sockets that stay readable make a check dear; the pause then keeps its share below a fortieth of a
// core.
const (
	leastPause   = 500_000
	socketsPause = 6_000 // for each readable socket
)

// add takes in a socket; nil = nothing will be known of it.
func (l *emptinessLog) add(fd int) *socketState {
	s := l.enter(fd)
	if !l.polled.add(fd) {
		return nil
	}
	return s
}

// enter makes the state of a socket. A state of an earlier socket with the same descriptor is replaced.
func (l *emptinessLog) enter(fd int) *socketState {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.sockets.Load()
	if list == nil || fd >= len(*list) {
		grown := make([]atomic.Pointer[socketState], max(64, 2*fd))
		for i := range listed(list) {
			grown[i].Store((*list)[i].Load())
		}
		list = &grown
		l.sockets.Store(list)
	}
	s := &socketState{log: l}
	(*list)[fd].Store(s)
	return s
}

// listed is the length of the list of states, which may not exist yet.
func listed(list *[]atomic.Pointer[socketState]) int {
	if list == nil {
		return 0
	}
	return len(*list)
}

// check finds out which sockets are readable now, unless another check runs.
func (l *emptinessLog) check() {
	if !l.running.TryLock() {
		return
	}
	defer l.running.Unlock()
	began := clock.Now()
	ready, ok := l.polled.ready()
	if !ok {
		return
	}
	l.found(began, ready)
}

// found takes in the outcome of a check that began at an instant. The states are written before the check is published: who reads the
// published instant first and the state of a socket then never misses that the socket was readable.
func (l *emptinessLog) found(began int64, ready []readySocket) {
	before, list := l.last.Load(), l.sockets.Load()
	for i := range ready {
		s := (*list)[ready[i].fd()].Load() // it was entered before the kernel knew of it
		if s.readable.Load() != before {
			s.empty.Store(before)
		}
		s.readable.Store(began)
	}
	l.pause.Store(max(leastPause, int64(len(ready))*socketsPause))
	l.last.Store(began)
}

// checkIfDue checks when the last check is long enough ago. A reader calls it after each read.
func (s *socketState) checkIfDue(now int64) {
	if s != nil && now-s.log.last.Load() >= s.log.pause.Load() {
		s.log.check()
	}
}

// emptyAt is the latest instant at which the socket is known to have held no unread bytes, 0 = none. It must be called before the read whose
// bytes it bounds.
func (s *socketState) emptyAt() int64 {
	if s == nil {
		return 0
	}
	last := s.log.last.Load()
	if s.readable.Load() >= last {
		return s.empty.Load()
	}
	return last
}

// close ends the checks.
func (l *emptinessLog) close() {
	l.running.Lock()
	defer l.running.Unlock()
	l.polled.close()
}
