//go:build unix && !(linux && (amd64 || arm64))

package transport

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// stamper uses the time at which a read returns: this platform has no receive timestamps.
type stamper struct {
	conn  *conn
	recv  func(fd uintptr) bool
	n     int
	errno error
}

func (s *stamper) init(c *conn, _ bool) { s.conn, s.recv = c, s.receive }

// read reads once into the scratch buffer.
func (c *conn) read() (int, error) {
	if err := c.raw.Read(c.recv); err != nil {
		c.release()
		return 0, err
	}
	return c.outcome()
}

// outcome returns what the last read brought.
func (c *conn) outcome() (int, error) {
	if c.errno != nil {
		c.release()
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", c.errno)}
	}
	if c.n == 0 {
		c.release()
		return 0, io.EOF
	}
	return c.n, nil
}

// receive is called by the runtime's poller: once at once, and again whenever the socket becomes readable.
func (s *stamper) receive(fd uintptr) bool {
	c := s.conn
	if c.scratch == nil {
		c.scratch = scratchPool.Get().(*[scratchSize]byte)
	}
	before := c.attempt()
	for {
		n, err := syscall.Read(int(fd), c.scratch[:])
		if err == syscall.EINTR { //nolint:errorlint // a bare error number
			continue
		}
		if err == syscall.EAGAIN { //nolint:errorlint // a bare error number
			c.recordEmptyRead(before)
			c.release()
			return false
		}
		s.n, s.errno = max(n, 0), err
		c.stamp(before, s.n, 0)
		return true
	}
}

// peek returns the number of bytes that it copied to b and left in the socket.
func peek(fd uintptr, b []byte) (int, error) {
	n, _, err := unix.Recvfrom(int(fd), b, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return n, err
}

// write writes to a socket.
func write(fd uintptr, b []byte) (int, error) { return syscall.Write(int(fd), b) }

// quickAck does nothing: this platform has no such option.
func (c *conn) quickAck() {}

// halfClosed always returns false: this platform cannot report it.
func halfClosed(uintptr) bool { return false }

// control sets the socket options that must be set before the connection is made.
func (o *Options) control(_, _ string, _ syscall.RawConn) error { return nil }
