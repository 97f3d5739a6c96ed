//go:build !unix

package mockserver

import "net"

// socket writes to a connection. This platform has no non-blocking write, so every write waits.
type socket struct{ net.Conn }

func newSocket(c *net.TCPConn) (*socket, error) { return &socket{c}, nil }

func (s *socket) try(b []byte) (int, error) { return s.Write(b) }

func (s *socket) write(b []byte) error {
	_, err := s.Write(b)
	return err
}
