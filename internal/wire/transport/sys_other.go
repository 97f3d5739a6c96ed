//go:build !unix

package transport

import "time"

// alive reports whether an idle connection can carry a request: it is open and no unexpected bytes have arrived.
func (c *conn) alive() bool {
	if c.tls != nil {
		return true // peeking would take bytes away from TLS
	}
	var b [1]byte
	c.SetReadDeadline(time.Now().Add(time.Microsecond))
	n, err := c.socket.Read(b[:])
	return n == 0 && isTimeout(err)
}

// peekUnrequested returns nil: this platform cannot peek at bytes without consuming them.
func (c *conn) peekUnrequested([]byte) []byte { return nil }

// tryWrite leaves everything to the goroutine of the request: this platform has no non-blocking write.
func (c *conn) tryWrite([]byte) (int, error) { return 0, nil }

// readAvailable finds nothing: this platform reads with a deadline only.
func (c *conn) readAvailable() (n int, ok bool, err error) { return 0, false, nil }

// holdsUnread always returns false: this platform cannot tell.
func (c *conn) holdsUnread() bool { return false }
