package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// socket is a stream socket: TCP or Unix.
type socket interface {
	net.Conn
	syscall.Conn
}

// conn is one connection that stamps what it reads. At most one goroutine reads it at a time and at most one writes it.
//
// A stamp is the kernel's receive timestamp of the last segment from which a read took bytes, converted to an instant. Stamps never decrease. A stamp
// is never before the instant at which the request was sent and never after the return of the read.
//
// Ciphertext is passed to crypto/tls record by record, so that it is known which bytes have arrived when a record's plaintext is available.
type conn struct {
	socket
	raw syscall.RawConn
	tls *tls.Conn // nil = no TLS
	key string    // key of the pool

	// Reading. fill reads into scratch. The buffer is held only while it contains unprocessed bytes, so that a waiting connection costs no buffer.
	scratch *[scratchSize]byte
	plain   []byte       // decrypted bytes, TLS only
	cipher  []byte       // bytes that were read but not passed to TLS yet
	records recordCutter // record boundaries in cipher
	stamper
	readState              // state of the running request; with HTTP/2, of all of them
	drained   int64        // instant just before the last read, or read attempt, that left the socket empty
	quiet     int64        // instant just before the last attempt that found neither bytes nor the end of the stream
	unread    *socketState // what the emptiness checks found for this socket; nil = nothing is known

	// Writing. out holds what TLS has encrypted and the socket has not accepted yet. While hold is set, Write collects instead of sending.
	outMu      sync.Mutex
	out        []byte
	collecting bool

	// The running tryWrite. It is part of the connection, so that a request allocates nothing for it.
	trial      trialWrite
	writeTrial func(fd uintptr) bool // tryRest; nil = nothing was written yet

	readUntil  atomic.Int64 // instant of the deadline for reads; 0 = none
	ackPending atomic.Bool  // the answer is to be acknowledged before its second read
	progress   readProgress // of a connection that is read for several requests

	truncated bool // the stream ended below TLS; a server that ends it properly sends close_notify first

	idleSince int64
	uses      int // number of requests that it carried
	closeOnce sync.Once

	lastHead              parsedHead
	lastTCP               tcpState // TCP state at the last query
	settled               int64    // instant just before a query that found the connection open and all its bytes read; 0 = none did
	localIP, remoteIP     string
	localPort, remotePort int
}

// trialWrite is the state of tryWrite: the bytes that are not written yet, and the error that ended the writing.
type trialWrite struct {
	rest  []byte
	errno error
}

const (
	scratchSize = 64 << 10
	plainSize   = 8 << 10
)

var scratchPool = sync.Pool{New: func() any { return new([scratchSize]byte) }}

func newConn(s socket, key string, tie *clock.RealTimeOffset, kernelStamps bool, log *emptinessLog) (*conn, error) {
	raw, err := s.SyscallConn()
	if err != nil {
		return nil, err
	}
	c := &conn{socket: s, raw: raw, key: key}
	c.realTime = tie
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
		n, err := c.readInTime()
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

// readInTime reads once into the scratch buffer. After the deadline, bytes that arrived before it still count: a client that was stopped, or had no CPU,
// comes late to read them.
func (c *conn) readInTime() (int, error) {
	n, err := c.read()
	if err == nil || !isTimeout(err) {
		return n, err
	}
	n, ok, late := c.readAvailable()
	if !ok {
		return 0, err
	}
	if !c.inTime(c.readUntil.Load()) {
		c.tooLate = max(c.since, 1)
		c.release()
		return 0, err
	}
	return n, late
}

// After a deadline, requests that another goroutine reads for wait until what had arrived was read: how long at a time, and how often at most.
const (
	lateReads = time.Millisecond
	lateLooks = 1000
)

// readProgress tells other goroutines how far one that reads a connection has come.
type readProgress struct {
	reads  atomic.Int64 // number of reads
	stored atomic.Int64 // number of reads whose bytes were all passed on
	last   atomic.Int64 // instant at which the last of those bytes arrived
}

// noteStored records that all bytes that were read have been passed on.
func (c *conn) noteStored() {
	if len(c.cipher) == 0 {
		c.progress.last.Store(c.at)
		c.progress.stored.Store(int64(c.fills))
	}
}

// hasStored reports whether the bytes that had arrived by an instant were passed on: later bytes were, or nothing is unread.
func (c *conn) hasStored(by int64) bool {
	p := &c.progress
	n := p.stored.Load()
	return p.last.Load() > by || n == p.reads.Load() && !c.holdsUnread() && n == p.reads.Load()
}

// release returns the read buffer to the pool.
func (c *conn) release() {
	if len(c.cipher) > 0 {
		c.cipher = append([]byte(nil), c.cipher...) // the remaining bytes belong to the next request
	}
	if c.scratch != nil {
		scratchPool.Put(c.scratch)
		c.scratch = nil
	}
}

// Read implements the input of TLS. One call never returns bytes of two records.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if len(c.cipher) == 0 {
		n, err := c.readInTime()
		if err != nil {
			c.truncated = errors.Is(err, io.EOF)
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

// attempt is what is known just before a read.
type attempt struct {
	began int64 // instant just before the read
	empty int64 // instant at which the last check that found the socket empty began; 0 = none
}

func (c *conn) attempt() attempt { return attempt{clock.Now(), c.unread.emptyAt()} }

// recordEmptyRead records that a read found neither bytes nor the end of the stream.
func (c *conn) recordEmptyRead(a attempt) { c.drained, c.quiet = a.began, a.began }

// stamp records the outcome of a read of n bytes. kernel is its real-time stamp, 0 = none. A read that does not fill its buffer leaves no bytes in
// the socket. It may leave the end of the stream there, so less is known about the end.
func (c *conn) stamp(a attempt, n int, kernel int64) {
	user, steady := c.realTime.Now()
	before := c.at
	c.user, c.endOfStream = user, n == 0
	c.since = max(c.drained, a.empty)
	if c.endOfStream {
		c.since = max(c.quiet, a.empty)
	}
	c.fills++
	c.progress.reads.Store(int64(c.fills))
	if c.full = n == scratchSize; !c.full && !c.endOfStream {
		c.drained = a.began
	}
	if n == 0 || kernel == 0 || !steady {
		c.at, c.clock = max(user, c.at), record.UserClock
	} else {
		c.at, c.clock = min(max(c.realTime.Instant(kernel), c.at), user), record.KernelClock
	}
	if n > 0 {
		c.count()
		c.pacing(before)
	}
	c.unread.checkIfDue(user)
}

// pacing reports a read to the pacer of the loop. before is the stamp of the previous read.
func (c *conn) pacing(before int64) {
	switch {
	case c.pace == nil:
	case c.clock == record.UserClock:
		c.pace.unstamped()
	case c.reads > 1: // the time before the first read of an answer is not a gap
		c.pace.read(c.at-before, c.user)
	}
}

// Write implements the output of TLS. While bytes of a request are held back, later bytes queue behind them.
func (c *conn) Write(b []byte) (int, error) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if c.collecting || len(c.out) > 0 {
		c.out = append(c.out, b...)
		return len(b), nil
	}
	return c.socket.Write(b)
}

// encrypt turns a request into TLS records and collects them in c.out.
func (c *conn) encrypt(parts ...[]byte) error {
	c.setCollecting(true)
	defer c.setCollecting(false)
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

func (c *conn) setCollecting(on bool) {
	c.outMu.Lock()
	c.collecting = on
	c.outMu.Unlock()
}

// close ends the connection with FIN.
func (c *conn) close() {
	c.closeOnce.Do(func() {
		if c.tls != nil {
			c.socket.SetWriteDeadline(time.Now().Add(time.Second))
			c.tls.CloseWrite() // sends close_notify; an error means that the peer is gone already
		}
		c.socket.Close()
		c.flow.Close()
	})
}

// expired is a deadline in the past, and past is an instant there.
var expired = time.Unix(1, 0)

const past = 1

// interrupt makes pending and later reads and writes end with a timeout. Reads still return what has arrived so far.
func (c *conn) interrupt() {
	c.readUntil.Store(clock.Now())
	c.socket.SetDeadline(expired)
}

// SetReadDeadline sets when reads end with a timeout. Later reads still return what had arrived by then.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.readUntil.Store(instantOf(t))
	return c.socket.SetReadDeadline(t)
}

// readBy implements link.
func (c *conn) readBy(at int64) {
	c.readUntil.Store(at)
	if s, ok := c.socket.(interface{ readBy(at int64) error }); ok {
		_ = s.readBy(at) // fails only on a closed connection, where reading ends too
		return
	}
	var t time.Time
	if at != 0 {
		t = wallTime(at)
	}
	_ = c.socket.SetReadDeadline(t) // as above
}

// instantOf converts a deadline; 0 = none.
func instantOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(1, clock.Now()+int64(time.Until(t)))
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// isTimeout reports whether a deadline has passed. It does not unwrap the error: a system call that failed with ETIMEDOUT means a broken connection.
func isTimeout(err error) bool {
	e, ok := err.(net.Error) //nolint:errorlint // see above
	return ok && e.Timeout()
}
