//go:build linux && (amd64 || arm64)

package transport

import (
	"container/heap"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
)

// readLoop waits for the sockets of a client in one goroutine and continues the reading of an answer on the spot, as a coroutine. Go's own poller
// would make a goroutine runnable for every event of a stream: it takes its turn behind other goroutines, and idle threads are woken to look for it.
//
// The wait does not notify the Go scheduler while answers are awaited, because such a notification wakes the runtime's monitor thread for every event.
// So the loop occupies one processor of the Go scheduler, and the program gets one more (package processors).
//
// Everything that the loop calls must return soon: one slow callback delays all answers.
type readLoop struct {
	epoll   int
	timer   int          // descriptor of the timer that expires at the earliest deadline
	active  atomic.Int64 // coroutines that wait for bytes
	maxWait int          // limit, in ms, of a wait that the scheduler does not know of; -1 = none
	sockets fdTable[loopSocket]
	pace    *restPacer // nil = the loop never rests

	mu          sync.Mutex // guards the fields below
	deadlines   deadlineHeap
	armed       int64 // instant at which the timer expires; 0 = never
	openSockets int
	ending      bool // the loop takes no more sockets and ends with its last one
}

// newReadLoop starts a loop; nil = the system has no room for one.
func newReadLoop(pace *restPacer) *readLoop {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(epoll)
		return nil
	}
	l := &readLoop{epoll: epoll, timer: timer, maxWait: maxWait(), pace: pace}
	if unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, timer, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(timer)}) != nil {
		l.release()
		return nil
	}
	go l.run(processors.Add(1))
	return l
}

// loopEvents is how many ready sockets one wait returns.
const loopEvents = 256

// run waits and continues readings until the loop ends.
func (l *readLoop) run(giveBack func()) {
	defer giveBack()
	events := make([]unix.EpollEvent, loopEvents)
	for {
		n := l.wait(events)
		for i := range events[:n] {
			fd := int(events[i].Fd)
			if fd == l.timer {
				if l.expire() {
					l.release()
					return
				}
				continue
			}
			if s := l.sockets.get(fd); s != nil {
				s.changed(events[i].Events)
			}
		}
		if n > 0 && n < len(events) { // otherwise more sockets may be ready
			l.rest()
		}
	}
}

// shortWait, in ms, is how long the loop waits without the scheduler's knowledge when nobody waits for an answer.
const shortWait = 2

// maxWait returns the limit, in ms, of a wait that the scheduler does not know of; -1 = none.
func maxWait() int {
	if processors.Interruptible() {
		return -1
	}
	return shortWait
}

// wait returns how many events there are; 0 = it was interrupted.
func (l *readLoop) wait(events []unix.EpollEvent) int {
	if l.active.Load() > 0 {
		return l.waitUnnoticed(events, l.maxWait)
	}
	if n := l.waitUnnoticed(events, shortWait); n > 0 {
		return n
	}
	n, _ := unix.EpollWait(l.epoll, events, -1) // nobody waits for an answer; only an interruption can fail
	return max(n, 0)
}

// waitUnnoticed waits for at most some ms, -1 = without limit, and does not tell the scheduler. 0 = nothing happened, or it was interrupted.
func (l *readLoop) waitUnnoticed(events []unix.EpollEvent, ms int) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(ms), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// rest waits for the time that the pacer permits, but not beyond the earliest deadline. A signal may end it early. Like the wait for an answer it does
// not notify the scheduler.
func (l *readLoop) rest() {
	d := l.pace.duration()
	if d == 0 || l.active.Load() == 0 {
		return
	}
	now := clock.Now()
	l.mu.Lock()
	if l.armed != 0 {
		d = min(d, l.armed-now)
	}
	l.mu.Unlock()
	if d <= 0 {
		return
	}
	l.pace.rested(now, now+d)
	t := unix.NsecToTimespec(d)
	_, _, _ = syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// errEnding reports that a loop takes no more sockets.
var errEnding = errors.New("the read loop is ending")

// adopt makes the loop watch a socket.
func (l *readLoop) adopt(s *loopSocket) error {
	l.mu.Lock()
	if l.ending {
		l.mu.Unlock()
		return errEnding
	}
	l.openSockets++
	l.mu.Unlock()
	l.sockets.set(s.fd, s)
	err := unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, s.fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(s.fd)})
	if err != nil {
		l.abandon(s)
	}
	return err
}

// abandon forgets a socket that is about to be closed.
func (l *readLoop) abandon(s *loopSocket) {
	l.sockets.set(s.fd, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	s.abandoned = true
	if s.wakeAt != 0 {
		heap.Remove(&l.deadlines, s.heapIndex)
		s.wakeAt = 0
	}
	l.openSockets--
	l.endIfUnused()
}

// end lets the loop end as soon as its last socket is closed. Connections that are made later wait with Go's poller.
func (l *readLoop) end() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return // its timer may already be closed
	}
	l.ending = true
	l.endIfUnused()
}

// endIfUnused wakes the loop for its end. The caller holds l.mu.
func (l *readLoop) endIfUnused() {
	if l.ending && l.openSockets == 0 {
		l.arm(1)
	}
}

// release closes the descriptors of the loop.
func (l *readLoop) release() {
	_ = unix.Close(l.timer)
	_ = unix.Close(l.epoll)
}

// scheduleWake makes the loop look at a socket at an instant, unless it does so earlier.
func (l *readLoop) scheduleWake(s *loopSocket, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case s.abandoned:
		return
	case s.wakeAt == 0:
		s.wakeAt = at
		heap.Push(&l.deadlines, s)
	case at < s.wakeAt:
		s.wakeAt = at
		heap.Fix(&l.deadlines, s.heapIndex)
	default:
		return
	}
	if l.armed == 0 || at < l.armed {
		l.arm(at)
	}
}

// arm sets the timer. The caller holds l.mu.
func (l *readLoop) arm(at int64) {
	l.armed = at
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, at-clock.Now()))}
	_ = unix.TimerfdSettime(l.timer, 0, &spec, nil) // cannot fail with a valid descriptor
}

// expire looks at the sockets whose deadline is over. It reports whether the loop has to end.
func (l *readLoop) expire() (over bool) {
	var b [8]byte
	_, _ = unix.Read(l.timer, b[:]) // the number of expirations does not matter
	for {
		l.mu.Lock()
		if l.ending && l.openSockets == 0 {
			l.mu.Unlock()
			return true
		}
		if len(l.deadlines) == 0 || l.deadlines[0].wakeAt > clock.Now() {
			if l.armed = 0; len(l.deadlines) > 0 {
				l.arm(l.deadlines[0].wakeAt)
			}
			l.mu.Unlock()
			return false
		}
		s := heap.Pop(&l.deadlines).(*loopSocket)
		s.wakeAt = 0
		l.mu.Unlock()
		s.deadlineReached()
	}
}

// deadlineHeap orders sockets by the instant at which the loop looks at them.
type deadlineHeap []*loopSocket

// Len implements sort.Interface.
func (h deadlineHeap) Len() int { return len(h) }

// Less implements sort.Interface.
func (h deadlineHeap) Less(i, j int) bool { return h[i].wakeAt < h[j].wakeAt }

// Swap implements sort.Interface.
func (h deadlineHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}

// Push implements heap.Interface.
func (h *deadlineHeap) Push(s any) {
	s.(*loopSocket).heapIndex = len(*h)
	*h = append(*h, s.(*loopSocket))
}

// Pop implements heap.Interface.
func (h *deadlineHeap) Pop() any {
	old := *h
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return s
}

// watched returns a socket that the loop watches instead of s, or s itself if no loop can watch it.
func (l *readLoop) watched(s socket) socket {
	if l == nil {
		return s
	}
	if adopted, err := adoptSocket(l, s); err == nil {
		return adopted
	}
	return s // Go's poller can do it too
}

// reading starts a job that reads the connection. If a loop watches the connection, it continues the job.
func (c *conn) reading(j readJob) {
	if s, ok := c.socket.(*loopSocket); ok {
		s.emptied = false // bytes that arrived between two answers have already raised their event
		s.start(j)
		return
	}
	j.read()
	j.readOver()
}
