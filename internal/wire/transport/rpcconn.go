package transport

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// RPCConn is a connection for gRPC, whose frames package rpc writes and reads. It stamps what it reads, like a Client's own requests. One goroutine at a time may
// read it and one may write it.
type RPCConn struct {
	conn   *conn
	client *Client
	once   sync.Once
	watch  RPCWatcher
	unread []byte      // bytes that were read but not returned yet
	Quiet  atomic.Bool // exclude the delays of its reads from the statistics
}

// RPCWatcher observes the bytes of a line. Its methods are called by the goroutines that read and write, and must return quickly.
type RPCWatcher interface {
	// Arrived reports the bytes of one read, before they are returned.
	Arrived(b []byte, a Arrival)
	// Writes reports bytes that are about to be passed to the system. Their answer may arrive before Wrote is called.
	Writes(b []byte, before int64)
	// Wrote reports that the system had accepted them at an instant.
	Wrote(after int64)
}

// Arrival says when the bytes of a read arrived: the last of them At, by Clock, and none before Since. User is the instant at which the read
// returned. Full means that later bytes may have merged into the read's last segment.
type Arrival struct {
	At, User, Since int64
	Clock           record.Clock
	Full            bool
}

// RPCConn connects to a target: name lookup, TCP, TLS. tr receives the instants. A failure is returned in the form of a request's error.
func (c *Client) RPCConn(ctx context.Context, t *Target, tr *record.Trace, watch RPCWatcher) (*RPCConn, *record.Error) {
	k, err := c.dial(ctx, t, tr, nil) // a goroutine of package rpc reads it
	if err != nil {
		tr.ErrorAt = clock.Now()
		if ctx.Err() != nil && ctx.Err() != context.DeadlineExceeded {
			return nil, externalError()
		}
		return nil, connectError(err, c.opt.Timeout)
	}
	c.pool.mu.Lock()
	c.pool.opened++
	c.pool.maxOpen = max(c.pool.maxOpen, c.pool.opened)
	c.pool.mu.Unlock()
	return &RPCConn{conn: k, client: c, watch: watch}, nil
}

// Read implements net.Conn.
func (l *RPCConn) Read(b []byte) (int, error) {
	if len(l.unread) == 0 {
		l.conn.noteStored()
		got, err := l.conn.fill()
		if len(got) == 0 {
			return 0, err
		}
		l.conn.quickAck()
		if l.Quiet.Load() {
			l.conn.delays.n = 0
		}
		l.conn.delays.flush()
		a := Arrival{At: l.conn.at, User: l.conn.user, Since: l.conn.since - deliveryTime, Clock: l.conn.clock, Full: l.conn.mayHaveMore()}
		if a.Clock == record.UserClock {
			l.client.count.unstamped.Add(1)
		} else {
			l.client.count.stamped.Add(1)
		}
		l.watch.Arrived(got, a)
		l.unread = got
	}
	n := copy(b, l.unread)
	l.unread = l.unread[n:]
	return n, nil
}

// Write implements net.Conn.
func (l *RPCConn) Write(b []byte) (n int, err error) {
	l.watch.Writes(b, clock.Now())
	if l.conn.tls != nil {
		n, err = l.conn.tls.Write(b)
	} else {
		n, err = l.conn.Write(b)
	}
	if err == nil {
		l.watch.Wrote(clock.Now())
	}
	l.conn.quickAck()
	return n, err
}

// Close implements net.Conn.
func (l *RPCConn) Close() error {
	l.once.Do(func() {
		l.client.pool.release() // first, because the close lets those continue who wait for the connection
		l.conn.close()
	})
	return nil
}

// AwaitReads waits until what has arrived so far was read, but not for long: a client that was stopped, or had no CPU, comes late to read it.
func (l *RPCConn) AwaitReads() {
	now := clock.Now()
	for i := 0; i < lateLooks && !l.conn.hasStored(now); i++ {
		time.Sleep(lateReads)
	}
}

// Alive reports whether the server's side is open, as far as the system knows.
func (l *RPCConn) Alive() bool {
	open := false
	err := l.conn.raw.Control(func(fd uintptr) { open = !halfClosed(fd) })
	return err == nil && open
}

// LocalAddr implements net.Conn.
func (l *RPCConn) LocalAddr() net.Addr { return l.conn.LocalAddr() }

// RemoteAddr implements net.Conn.
func (l *RPCConn) RemoteAddr() net.Addr { return l.conn.RemoteAddr() }

// SetDeadline implements net.Conn.
func (l *RPCConn) SetDeadline(t time.Time) error { return l.conn.SetDeadline(t) }

// SetReadDeadline implements net.Conn.
func (l *RPCConn) SetReadDeadline(t time.Time) error { return l.conn.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (l *RPCConn) SetWriteDeadline(t time.Time) error { return l.conn.SetWriteDeadline(t) }

// FillTrace fills in the addresses of both sides, and the kernel's statistics of the connection since the previous call.
func (l *RPCConn) FillTrace(t *record.Trace) {
	t.Path = l.conn.path(l.conn.tcpState())
	t.LocalIP, t.LocalPort, t.RemoteIP, t.RemotePort = l.conn.localIP, l.conn.localPort, l.conn.remoteIP, l.conn.remotePort
}

var _ net.Conn = (*RPCConn)(nil)

// TimedOut returns the error of a request whose time was over, for any protocol. doing says what it was doing.
func TimedOut(limit time.Duration, doing string) *record.Error { return timeoutError(limit, doing) }

// CutAfter returns the error of a request that was cancelled on purpose, the given time after it was sent.
func CutAfter(after time.Duration) *record.Error { return cancelError(after) }

// CutOff returns the error of a request that the run itself cancelled.
func CutOff() *record.Error { return externalError() }

// Failure returns an error of a kind with a text that may come from a server. It keeps only as much of the text as a Cleaner needs.
func Failure(kind string, code int, text string) *record.Error { return newError(kind, code, text) }
