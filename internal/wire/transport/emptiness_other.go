//go:build unix && !linux

package transport

import (
	"sync"

	"golang.org/x/sys/unix"
)

// readiness calls poll(2), which inspects every socket, because this platform has no epoll.
type readiness struct {
	mu      sync.Mutex // guards the fields below
	sockets []unix.PollFd
	places  map[int]int // index in the list by socket descriptor
	found   []readySocket
}

// readySocket is one socket that a check found readable.
type readySocket int

func (r *readySocket) fd() int { return int(*r) }

// add registers a socket.
func (r *readiness) add(fd int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.places == nil {
		r.places = map[int]int{}
	}
	if _, reused := r.places[fd]; !reused {
		r.places[fd] = len(r.sockets)
		r.sockets = append(r.sockets, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	return true
}

// ready lists all readable sockets; ok = false: nothing is known. It removes sockets that were closed.
func (r *readiness) ready() (list []readySocket, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sockets) == 0 {
		return nil, false
	}
	if _, err := unix.Poll(r.sockets, 0); err != nil {
		return nil, false
	}
	r.found = r.found[:0]
	for i := 0; i < len(r.sockets); i++ {
		s := r.sockets[i]
		if s.Revents != 0 {
			r.found = append(r.found, readySocket(s.Fd))
		}
		if s.Revents&unix.POLLNVAL != 0 {
			r.drop(i)
			i--
		}
	}
	return r.found, true
}

// drop removes the socket at index i.
func (r *readiness) drop(i int) {
	last := len(r.sockets) - 1
	delete(r.places, int(r.sockets[i].Fd))
	if i < last {
		r.sockets[i] = r.sockets[last]
		r.places[int(r.sockets[i].Fd)] = i
	}
	r.sockets = r.sockets[:last]
}

// close ends the checks.
func (r *readiness) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sockets, r.places = nil, nil
}
