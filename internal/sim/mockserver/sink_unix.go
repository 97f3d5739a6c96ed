//go:build unix

package mockserver

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// socket writes to a connection. try uses the system call directly; the connection's goroutine keeps the connection open while the pacer has its
// stream.
type socket struct {
	net.Conn
	fd int
}

func newSocket(c *net.TCPConn) (*socket, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: c}
	err = raw.Control(func(fd uintptr) { s.fd = int(fd) })
	return s, err
}

func (s *socket) try(b []byte) (int, error) {
	for {
		n, err := unix.Write(s.fd, b)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, nil
		}
		return max(n, 0), err
	}
}

func (s *socket) write(b []byte) error {
	_, err := s.Write(b)
	return err
}
