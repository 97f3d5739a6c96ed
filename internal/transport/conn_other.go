//go:build !(linux && (amd64 || arm64))

package transport

import (
	"syscall"
	"time"
)

// stamper takes user time: this platform gives no receive timestamps.
type stamper struct{}

func (s *stamper) init(*conn, bool) {}

// read reads once into b, or into the scratch buffer if b is nil.
func (c *conn) read(b []byte) (int, error) {
	if b == nil {
		if c.scratch == nil {
			c.scratch = scratchPool.Get().(*[scratchSize]byte)
		}
		b = c.scratch[:]
	}
	n, err := c.TCPConn.Read(b)
	c.stamp(n, 0)
	if err != nil {
		c.release()
	}
	return n, err
}

// alive tells whether an idle connection can carry a request: open, and nothing unasked for has come in.
func (c *conn) alive() bool {
	var b [1]byte
	c.SetReadDeadline(time.Now().Add(time.Microsecond))
	n, err := c.TCPConn.Read(b[:])
	return n == 0 && isTimeout(err)
}

// control sets the socket options that must be set before the connection is made.
func (o *Options) control(_, _ string, _ syscall.RawConn) error { return nil }
