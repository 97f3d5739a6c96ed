package transport

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readiness is a second epoll instance beside the one of Go's runtime. Sockets leave it when they are closed.
type readiness struct {
	mu     sync.Mutex   // guards the opening and the closing
	epoll  atomic.Int32 // its file descriptor plus one; 0 = none
	closed bool
	events []readySocket
}

// readySocket is one socket that a check found readable.
type readySocket unix.EpollEvent

func (r *readySocket) fd() int { return int(r.Fd) }

// firstEvents is the room for readable sockets that the first check has.
const firstEvents = 256

// add takes in a socket; false = the system has no room for it.
func (r *readiness) add(fd int) bool {
	epoll, ok := r.open()
	return ok && unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}) == nil
}

// open makes the instance with the first socket.
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

// ready lists all sockets that are readable; ok = false: nothing is known. One goroutine at a time may call it. The list is valid until the
// next call.
func (r *readiness) ready() (list []readySocket, ok bool) {
	epoll := r.epoll.Load() - 1
	if epoll < 0 {
		return nil, false
	}
	if r.events == nil {
		r.events = make([]readySocket, firstEvents)
	}
	// The call cannot wait, so the scheduler need not be told.
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&r.events[0])), uintptr(len(r.events)), 0, 0, 0)
	if errno != 0 {
		return nil, false
	}
	if int(n) == len(r.events) { // some may be missing
		r.events = make([]readySocket, 2*len(r.events))
		return nil, false
	}
	return r.events[:n], true
}

// close gives the instance back. No check runs.
func (r *readiness) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if epoll := r.epoll.Swap(0); epoll != 0 {
		_ = unix.Close(int(epoll) - 1)
	}
	r.closed = true
}
