package transport

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readiness is a second epoll instance, in addition to that of Go's runtime. The kernel removes sockets from it when they are closed.
type readiness struct {
	mu     sync.Mutex   // guards opening and closing
	epoll  atomic.Int32 // file descriptor of the epoll instance plus one; 0 = none
	closed bool
	events []readySocket
}

// readySocket is one socket that a check found readable.
type readySocket unix.EpollEvent

func (r *readySocket) fd() int { return int(r.Fd) }

// firstEvents is the number of readable sockets for which the first check has room.
const firstEvents = 256

// add registers a socket; false = the system has no room for it.
func (r *readiness) add(fd int) bool {
	epoll, ok := r.open()
	return ok && unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}) == nil
}

// open creates the instance when the first socket is added.
func (r *readiness) open() (epoll int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.epoll.Load(); at != 0 || r.closed {
		return int(at) - 1, !r.closed
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return 0, false
	}
	r.epoll.Store(int32(epoll) + 1)
	return epoll, true
}

// ready lists all readable sockets; ok = false: nothing is known. Only one goroutine at a time may call it. The list is valid until the next call.
func (r *readiness) ready() (list []readySocket, ok bool) {
	epoll := r.epoll.Load() - 1
	if epoll < 0 {
		return nil, false
	}
	if r.events == nil {
		r.events = make([]readySocket, firstEvents)
	}
	// The call cannot wait, so the Go scheduler need not be notified.
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&r.events[0])), uintptr(len(r.events)), 0, 0, 0)
	if errno != 0 {
		return nil, false
	}
	if int(n) == len(r.events) { // the list was full: some sockets may be missing
		r.events = make([]readySocket, 2*len(r.events))
		return nil, false
	}
	return r.events[:n], true
}

// close closes the instance. No check may be running.
func (r *readiness) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoll := r.epoll.Swap(0); epoll != 0 {
		_ = unix.Close(int(epoll) - 1)
	}
	r.closed = true
}
