//go:build linux && (amd64 || arm64)

package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"aiperf/internal/base/clock"
)

// loopSocket is a socket that a readLoop watches instead of Go's poller. The loop continues a coroutine that reads the socket (reader.start). Everything
// else that reads or writes it, a TLS handshake for example, waits in its own goroutine for a signal of the loop.
type loopSocket struct {
	loop          *readLoop
	fd            int
	local, remote net.Addr

	fdMu   sync.RWMutex // held for reading while fd is used
	closed bool         // guarded by fdMu

	reader
	emptied  bool          // the last read left the socket empty: bytes that arrive later raise an event. Only the reading function uses it.
	ended    atomic.Bool   // an event has reported the end of the stream, or an error
	writable chan struct{} // capacity 1: the socket may accept bytes, or the deadline may have moved
	writers  atomic.Int32  // goroutines that write; without one nobody needs the signal

	readDeadline, writeDeadline atomic.Int64 // instants; 0 = none

	// Guarded by the loop's lock.
	wakeAt    int64 // instant at which the loop looks at the socket; 0 = never
	heapIndex int   // index in the loop's heap
	abandoned bool  // the loop has forgotten the socket
}

// adoptSocket takes a connected socket away from Go's poller and gives it to a loop.
func adoptSocket(l *readLoop, from socket) (*loopSocket, error) {
	raw, err := from.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &loopSocket{loop: l, local: from.LocalAddr(), remote: from.RemoteAddr(), reader: newReader(&l.active), writable: make(chan struct{}, 1)}
	var dupErr error
	if err := raw.Control(func(fd uintptr) { s.fd, dupErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); err != nil || dupErr != nil {
		return nil, errors.Join(err, dupErr)
	}
	if err := l.adopt(s); err != nil {
		_ = unix.Close(s.fd)
		return nil, err
	}
	from.Close() // takes the socket out of Go's poller; the connection stays open
	return s, nil
}

// changed is called on the loop when the kernel reports the socket.
func (s *loopSocket) changed(events uint32) {
	if events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
		s.wakeWriter()
	}
	if events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		s.ended.Store(true)
	}
	if events&^unix.EPOLLOUT != 0 {
		s.advance()
	}
}

// deadlineReached is called on the loop at the instant at which it looks at the socket. The deadline may have moved since.
func (s *loopSocket) deadlineReached() {
	switch end := s.readDeadline.Load(); {
	case end == 0:
	case end > clock.Now():
		s.loop.scheduleWake(s, end)
	default:
		s.advance()
	}
}

// wakeWriter makes the goroutine that writes look at the socket and its deadline.
func (s *loopSocket) wakeWriter() {
	if s.writers.Load() == 0 {
		return // every event says that the socket accepts bytes
	}
	select {
	case s.writable <- struct{}{}:
	default:
	}
}

// use calls f with the descriptor, unless the socket is closed.
func (s *loopSocket) use(op string, f func(fd uintptr)) error {
	s.fdMu.RLock()
	defer s.fdMu.RUnlock()
	if s.closed {
		return s.failed(op, net.ErrClosed)
	}
	f(uintptr(s.fd))
	return nil
}

// passed reports whether a deadline is over.
func passed(end int64) bool { return end != 0 && end <= clock.Now() }

// reads calls f until it returns true. Between two calls it waits for the socket.
func (s *loopSocket) reads(op string, f func(fd uintptr) bool) error {
	for {
		if passed(s.readDeadline.Load()) {
			return s.failed(op, os.ErrDeadlineExceeded)
		}
		if s.emptied && s.current != nil && !s.ended.Load() {
			s.emptied = false
			s.await()
			continue
		}
		s.emptied = false
		done := false
		if err := s.use(op, func(fd uintptr) { done = f(fd) }); err != nil || done {
			return err
		}
		s.await()
	}
}

// writes calls f until it returns true. Between two calls it waits until the socket accepts bytes.
func (s *loopSocket) writes(op string, f func(fd uintptr) bool) error {
	s.writers.Add(1) // before the attempt: what it misses is signalled
	defer s.writers.Add(-1)
	for {
		end := s.writeDeadline.Load()
		if passed(end) {
			return s.failed(op, os.ErrDeadlineExceeded)
		}
		done := false
		if err := s.use(op, func(fd uintptr) { done = f(fd) }); err != nil || done {
			return err
		}
		if end == 0 {
			<-s.writable
			continue
		}
		timer := time.NewTimer(time.Duration(end - clock.Now()))
		select {
		case <-s.writable:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Read implements net.Conn.
func (s *loopSocket) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	var errno error
	if err = s.reads("read", func(fd uintptr) bool {
		n, errno = syscall.Read(int(fd), b)
		return !errors.Is(errno, syscall.EAGAIN) && !errors.Is(errno, syscall.EINTR)
	}); err != nil {
		return 0, err
	}
	if errno != nil {
		return 0, s.failed("read", os.NewSyscallError("read", errno))
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn.
func (s *loopSocket) Write(b []byte) (n int, err error) {
	var errno error
	if err = s.writes("write", func(fd uintptr) bool {
		for n < len(b) {
			var m int
			m, errno = write(fd, b[n:])
			if errors.Is(errno, syscall.EINTR) {
				continue
			}
			if errno != nil {
				return !errors.Is(errno, syscall.EAGAIN)
			}
			n += m
		}
		return true
	}); err != nil {
		return n, err
	}
	if errno != nil {
		return n, s.failed("write", os.NewSyscallError("write", errno))
	}
	return n, nil
}

// Close implements net.Conn. Pending reads and writes fail.
func (s *loopSocket) Close() error {
	s.fdMu.Lock()
	if s.closed {
		s.fdMu.Unlock()
		return s.failed("close", net.ErrClosed)
	}
	s.closed = true
	s.loop.abandon(s)
	err := unix.Close(s.fd)
	s.fdMu.Unlock()
	s.wakeWriter()
	s.wake()
	return err
}

// LocalAddr implements net.Conn.
func (s *loopSocket) LocalAddr() net.Addr { return s.local }

// RemoteAddr implements net.Conn.
func (s *loopSocket) RemoteAddr() net.Addr { return s.remote }

// SetDeadline implements net.Conn.
func (s *loopSocket) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (s *loopSocket) SetReadDeadline(t time.Time) error { return s.readBy(instantOf(t)) }

// readBy sets the instant at which reads end with a timeout; 0 = none.
func (s *loopSocket) readBy(at int64) error {
	s.readDeadline.Store(at)
	return s.use("set", func(uintptr) {
		if at != 0 {
			s.loop.scheduleWake(s, at)
		}
	})
}

// SetWriteDeadline implements net.Conn.
func (s *loopSocket) SetWriteDeadline(t time.Time) error {
	s.writeDeadline.Store(instantOf(t))
	s.wakeWriter()
	return s.use("set", func(uintptr) {})
}

// SyscallConn implements syscall.Conn.
func (s *loopSocket) SyscallConn() (syscall.RawConn, error) { return (*loopRaw)(s), nil }

// failed returns the error of an operation, as the net package would.
func (s *loopSocket) failed(op string, err error) error {
	return &net.OpError{Op: op, Net: s.local.Network(), Source: s.local, Addr: s.remote, Err: err}
}

// loopRaw is the view of a loopSocket for system calls.
type loopRaw loopSocket

// Control implements syscall.RawConn.
func (r *loopRaw) Control(f func(fd uintptr)) error { return (*loopSocket)(r).use("raw-control", f) }

// Read implements syscall.RawConn.
func (r *loopRaw) Read(f func(fd uintptr) bool) error { return (*loopSocket)(r).reads("raw-read", f) }

// Write implements syscall.RawConn.
func (r *loopRaw) Write(f func(fd uintptr) bool) error {
	return (*loopSocket)(r).writes("raw-write", f)
}
