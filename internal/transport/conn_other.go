//go:build !unix

package transport

import "syscall"

// stamper takes user time: this platform gives no receive timestamps.
type stamper struct{}

func (s *stamper) init(*conn, bool) {}

// read reads once into the scratch buffer.
func (c *conn) read() (int, error) {
	if c.scratch == nil {
		c.scratch = scratchPool.Get().(*[scratchSize]byte)
	}
	before := c.attempt()
	n, err := c.socket.Read(c.scratch[:])
	c.stamp(before, n, 0)
	if err != nil {
		c.release()
	}
	return n, err
}

// quickAck is not to be had on this platform.
func (c *conn) quickAck() {}

// halfClosed is not told by this platform.
func halfClosed(uintptr) bool { return false }

// control sets the socket options that must be set before the connection is made.
func (o *Options) control(_, _ string, _ syscall.RawConn) error { return nil }
