//go:build !unix

package transport

import "syscall"

// stamper uses the time at which a read returns: this platform has no receive timestamps.
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

// quickAck does nothing: this platform has no such option.
func (c *conn) quickAck() {}

// halfClosed always returns false: this platform cannot report it.
func halfClosed(uintptr) bool { return false }

// control sets the socket options that must be set before the connection is made.
func (o *Options) control(_, _ string, _ syscall.RawConn) error { return nil }
