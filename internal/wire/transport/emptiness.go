package transport

import (
	"sync"
	"sync/atomic"

	"aiperf/internal/base/clock"
)

// emptinessLog records the instants at which the sockets of a client held no unread bytes. This bounds the arrival of bytes that were read together:
// they arrived after the last check that found their socket empty.
//
// One check covers every socket. On Linux it polls a second epoll instance, in which all sockets are level-triggered, with a timeout of zero. The
// kernel then lists exactly the readable sockets; each of the others was empty at that instant. The proof needs no goroutine to run: a reader that
// waits in a run queue leaves its socket readable, so the check lists it. A check costs about 0.3 µs, plus 0.1 µs for each socket that got bytes
// since the previous check, plus 0.15 µs for each socket that is still readable. A check cannot see packets that the kernel has stamped but not yet
// put into their socket (deliveryTime).
//
// Readers check after a read, and so does the probe of the heartbeat. Between two checks nothing is known, so the bound is as wide as their distance.
type emptinessLog struct {
	polled  readiness
	last    atomic.Int64 // instant just before the last check; 0 = none yet
	pause   atomic.Int64 // ns from the last check until a reader may check again
	running sync.Mutex   // allows one check at a time

	sockets fdTable[socketState]
}

// socketState is the result of the checks for one socket. The goroutine that checks writes it; the goroutine that reads the socket reads it.
type socketState struct {
	log *emptinessLog
	// readable is the instant just before the last check that found the socket readable. empty is the instant of the last check before the current
	// unbroken series of such checks.
	readable, empty atomic.Int64
}

// Pauses between two checks by readers, ns. Sockets that stay readable make a check expensive; the longer pause then limits the checks to a fortieth
// of a core.
const (
	minPause     = 500_000
	socketsPause = 6_000 // additional pause for each readable socket
)

// add registers a socket; nil = nothing will be known about it.
func (l *emptinessLog) add(fd int) *socketState {
	s := l.enter(fd)
	if !l.polled.add(fd) {
		return nil
	}
	return s
}

// enter creates the state of a socket. It replaces the state of an earlier socket with the same descriptor.
func (l *emptinessLog) enter(fd int) *socketState {
	s := &socketState{log: l}
	l.sockets.set(fd, s)
	return s
}

// check finds out which sockets are readable now, unless another check is running.
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
	l.store(began, ready)
}

// store stores the outcome of a check that began at an instant. It writes the states before it publishes the check. A reader that loads the published
// instant first and then the state therefore never misses that the socket was readable.
func (l *emptinessLog) store(began int64, ready []readySocket) {
	before := l.last.Load()
	for i := range ready {
		s := l.sockets.get(ready[i].fd()) // never nil: the state is created before the kernel gets the socket
		if s.readable.Load() != before {
			s.empty.Store(before)
		}
		s.readable.Store(began)
	}
	l.pause.Store(max(minPause, int64(len(ready))*socketsPause))
	l.last.Store(began)
}

// checkIfDue runs a check if the last one is long enough ago. A reader calls it after each read.
func (s *socketState) checkIfDue(now int64) {
	if s != nil && now-s.log.last.Load() >= s.log.pause.Load() {
		s.log.check()
	}
}

// emptyAt returns the latest instant at which the socket is known to have held no unread bytes, 0 = none. It must be called before the read whose
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
