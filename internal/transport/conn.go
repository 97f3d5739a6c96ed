package transport

import (
	"crypto/tls"
	"net"
	"sync"
	"syscall"
	"time"

	"aiperf/internal/clock"
)

// conn is one connection that stamps what it reads. At most one goroutine reads it at a time and at most one writes.
//
// A stamp is the kernel's receive timestamp of the last segment that a read took bytes from, converted to an instant. It never goes
// backwards, never lies before the request was sent (floor), and never after the instant at which the read returned.
type conn struct {
	*net.TCPConn
	raw syscall.RawConn
	tls *tls.Conn // nil = plain
	key string    // of the pool
	tie *clock.Tie

	// Reading. dst is what the current read fills; nil = scratch, which is held only while there are bytes to look at, so that a
	// connection that waits costs no buffer.
	dst     []byte
	scratch *[scratchSize]byte
	plain   []byte // decrypted bytes, TLS only
	stamper
	at int64 // stamp of the last read

	// Writing. out holds what TLS has encrypted and the socket has not taken yet; hold makes Write collect instead of send.
	outMu sync.Mutex
	out   []byte
	hold  bool

	idleSince int64
	uses      int // requests that were carried
	closeOnce sync.Once

	localIP, remoteIP     string
	localPort, remotePort int

	reads              int // with a kernel stamp, in this request
	unstamped          int
	delaySum, delayMax int64 // ns from kernel stamp to return of the read
	delays             delayNotes
}

const (
	scratchSize = 64 << 10
	plainSize   = 8 << 10
)

var scratchPool = sync.Pool{New: func() any { return new([scratchSize]byte) }}

func newConn(tcp *net.TCPConn, key string, tie *clock.Tie, kernelStamps bool) (*conn, error) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: tcp, raw: raw, key: key, tie: tie}
	c.localIP, c.localPort = hostPort(tcp.LocalAddr())
	c.remoteIP, c.remotePort = hostPort(tcp.RemoteAddr())
	c.stamper.init(c, kernelStamps)
	return c, nil
}

func hostPort(a net.Addr) (string, int) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return "", 0
	}
	return t.IP.String(), t.Port
}

// begin prepares for a request that is sent at an instant.
func (c *conn) begin(at int64) {
	c.at = at
	c.reads, c.unstamped, c.delaySum, c.delayMax = 0, 0, 0, 0
}

// fill reads once. The bytes are valid until the next call of fill or release.
func (c *conn) fill() ([]byte, error) {
	if c.tls == nil {
		n, err := c.read(nil)
		if err != nil {
			return nil, err
		}
		return c.scratch[:n], nil
	}
	if c.plain == nil {
		c.plain = make([]byte, plainSize)
	}
	n, err := c.tls.Read(c.plain)
	return c.plain[:n], err
}

// release gives the read buffer back.
func (c *conn) release() {
	if c.scratch != nil {
		scratchPool.Put(c.scratch)
		c.scratch = nil
	}
}

// Read is what TLS reads through.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	return c.read(b)
}

// stamp takes in the outcome of a read of n bytes: kernel is its real-time stamp, 0 = none.
func (c *conn) stamp(n int, kernel int64) {
	user, steady := c.tie.Now()
	if n == 0 || kernel == 0 || !steady {
		if n > 0 {
			c.unstamped++
		}
		c.at = max(user, c.at)
		return
	}
	at := min(max(c.tie.Instant(kernel), c.at), user)
	delay := user - at
	c.at = at
	c.reads++
	c.delaySum += delay
	c.delayMax = max(c.delayMax, delay)
	c.delays.add(delay)
}

// Write is what TLS writes through. While bytes of a request are held back, everything else queues behind them.
func (c *conn) Write(b []byte) (int, error) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if c.hold || len(c.out) > 0 {
		c.out = append(c.out, b...)
		return len(b), nil
	}
	return c.TCPConn.Write(b)
}

// encrypt turns a request into TLS records in c.out.
func (c *conn) encrypt(parts ...[]byte) error {
	c.setHold(true)
	defer c.setHold(false)
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if _, err := c.tls.Write(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) setHold(on bool) {
	c.outMu.Lock()
	c.hold = on
	c.outMu.Unlock()
}

// close ends the connection with FIN.
func (c *conn) close() {
	c.closeOnce.Do(func() {
		if c.tls != nil {
			c.TCPConn.SetWriteDeadline(time.Now().Add(time.Second))
			c.tls.CloseWrite() // close-notify; an error says that the peer is gone already
		}
		c.TCPConn.Close()
	})
}

// expired is a deadline in the past.
var expired = time.Unix(1, 0)

// interrupt makes pending and later reads and writes end with a timeout.
func (c *conn) interrupt() { c.SetDeadline(expired) }

// isTimeout tells whether a deadline has passed. It does not look inside an error: a system call that failed with ETIMEDOUT is a
// connection that broke.
func isTimeout(err error) bool {
	e, ok := err.(net.Error) //nolint:errorlint // see above
	return ok && e.Timeout()
}
