//go:build !unix

package transport

import "time"

// alive tells whether an idle connection can carry a request: open, and nothing unasked for has come in.
func (c *conn) alive() bool {
	if c.tls != nil {
		return true // looking would take bytes away from TLS
	}
	var b [1]byte
	c.SetReadDeadline(time.Now().Add(time.Microsecond))
	n, err := c.socket.Read(b[:])
	return n == 0 && isTimeout(err)
}

// unasked looks at bytes that have come in although nothing asked for them: this platform cannot look without taking them.
func (c *conn) unasked([]byte) []byte { return nil }

// tryWrite leaves everything to the goroutine of the request: this platform has no write that does not wait.
func (c *conn) tryWrite([]byte) (int, error) { return 0, nil }
