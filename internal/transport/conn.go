package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/record"
)

// socket is a stream socket: TCP or Unix.
type socket interface {
	net.Conn
	syscall.Conn
}

// conn is one connection that stamps what it reads. At most one goroutine reads it at a time and at most one writes.
//
// A stamp is the kernel's receive timestamp of the last segment that a read took bytes from, converted to an instant. It never goes
// backwards, never lies before the request was sent (floor), and never after the instant at which the read returned.
//
// Ciphertext is handed to crypto/tls record by record, so that it is known which bytes have arrived when a record's plaintext is there.
type conn struct {
	socket
	raw syscall.RawConn
	tls *tls.Conn // nil = plain
	key string    // of the pool

	// Reading. scratch is what a read fills; it is held only while there are bytes to look at, so that a connection that waits costs
	// no buffer.
	scratch *[scratchSize]byte
	plain   []byte       // decrypted bytes, TLS only
	cipher  []byte       // bytes read and not handed to TLS yet
	records recordCutter // of cipher
	stamper
	intake               // of the running request; over HTTP/2, of all of them
	drained int64        // instant just before the last read, or attempt, that left no bytes in the socket
	quiet   int64        // instant just before the last attempt that found neither bytes nor the end of the stream
	unread  *socketState // what checks of all sockets found of this one; nil = nothing is known

	// Writing. out holds what TLS has encrypted and the socket has not taken yet; hold makes Write collect instead of send.
	outMu sync.Mutex
	out   []byte
	hold  bool

	torn bool // the stream ended below TLS; a server that ends it itself says so first (close_notify)

	idleSince int64
	uses      int // requests that were carried
	closeOnce sync.Once

	told                  tcpState // what the kernel told last
	localIP, remoteIP     string
	localPort, remotePort int
}

const (
	scratchSize = 64 << 10
	plainSize   = 8 << 10
)

var scratchPool = sync.Pool{New: func() any { return new([scratchSize]byte) }}

func newConn(s socket, key string, tie *clock.Tie, kernelStamps bool, log *emptinessLog) (*conn, error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{socket: s, raw: raw, key: key}
	c.tie = tie
	c.localIP, c.localPort = hostPort(s.LocalAddr())
	c.remoteIP, c.remotePort = hostPort(s.RemoteAddr())
	c.stamper.init(c, kernelStamps)
	return c, raw.Control(func(fd uintptr) { c.unread = log.add(int(fd)) })
}

func hostPort(a net.Addr) (string, int) {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return "", 0
	}
	return t.IP.String(), t.Port
}

// fill reads once. The bytes are valid until the next call of fill or release.
func (c *conn) fill() ([]byte, error) {
	if c.tls == nil {
		n, err := c.read()
		if err != nil {
			return nil, err
		}
		c.end += uint64(n)
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
	if len(c.cipher) > 0 {
		c.cipher = append([]byte(nil), c.cipher...) // the rest is for the next request
	}
	if c.scratch != nil {
		scratchPool.Put(c.scratch)
		c.scratch = nil
	}
}

// Read is what TLS reads through. It never gives bytes of two records.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if len(c.cipher) == 0 {
		n, err := c.read()
		if err != nil {
			c.torn = errors.Is(err, io.EOF)
			return 0, err
		}
		c.cipher = c.scratch[:n]
	}
	n := c.records.take(c.cipher, len(b))
	copy(b, c.cipher[:n])
	c.end += uint64(n)
	c.cipher = c.cipher[n:]
	if len(c.cipher) == 0 {
		c.cipher = nil
		c.release()
	}
	return n, nil
}

// attempt is what was known just before a read.
type attempt struct {
	began int64 // instant
	empty int64 // the last check that found the socket empty began at this instant; 0 = none did
}

func (c *conn) attempt() attempt { return attempt{clock.Now(), c.unread.emptyAt()} }

// nothing notes that a read found neither bytes nor the end of the stream.
func (c *conn) nothing(a attempt) { c.drained, c.quiet = a.began, a.began }

// stamp takes in the outcome of a read of n bytes: kernel is its real-time stamp, 0 = none. A read that does not fill its buffer leaves no
// bytes behind. It may leave the end of the stream behind, so that of the end less is known.
func (c *conn) stamp(a attempt, n int, kernel int64) {
	user, steady := c.tie.Now()
	c.user, c.over = user, n == 0
	c.since = max(c.drained, a.empty)
	if c.over {
		c.since = max(c.quiet, a.empty)
	}
	c.fills++
	if c.full = n == scratchSize; !c.full && !c.over {
		c.drained = a.began
	}
	if n == 0 || kernel == 0 || !steady {
		c.at, c.clock = max(user, c.at), record.UserClock
	} else {
		c.at, c.clock = min(max(c.tie.Instant(kernel), c.at), user), record.KernelClock
	}
	if n > 0 {
		c.count()
	}
	c.unread.checkIfDue(user)
}

// Write is what TLS writes through. While bytes of a request are held back, everything else queues behind them.
func (c *conn) Write(b []byte) (int, error) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if c.hold || len(c.out) > 0 {
		c.out = append(c.out, b...)
		return len(b), nil
	}
	return c.socket.Write(b)
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
			c.socket.SetWriteDeadline(time.Now().Add(time.Second))
			c.tls.CloseWrite() // close-notify; an error says that the peer is gone already
		}
		c.socket.Close()
		c.flow.Close()
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
