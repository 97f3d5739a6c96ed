package transport

import (
	"crypto/tls"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/capture"
)

// Client sends requests and owns the connections. It is safe for concurrent use. With HTTP/1.1 it starts no background goroutines; an HTTP/2
// connection has one.
type Client struct {
	opt      Options
	tls      *tls.Config
	realTime *clock.RealTimeOffset
	dns      resolver
	pool     pool

	proxies proxies
	streams h2pool
	coder   headerCoder

	doneWait    int64    // ns to wait for the end of a stream after its end mark, and for the body of an error after its head
	headWait    int64    // ns from the first byte of a head until it must be complete
	warned      sync.Map // kinds of warnings that were already issued
	count       counters
	delays      delayLog
	empty       emptinessLog
	cancels     cancelWatch
	closePolicy closePolicy
	dials       atomic.Uint64 // local addresses taken in turn
	loopOnce    sync.Once
	loop        *readLoop  // started with the first connection; nil = none
	pace        *restPacer // of the loop; nil = it never rests

	capture        *capture.Capture // nil = none
	captureMissing string           // why there is no capture
}

type counters struct {
	dialled, replaced, stamped, unstamped atomic.Int64
	messages, packets                     atomic.Int64 // counted only with a capture
}

// Stats are the counters of a client so far.
type Stats struct {
	Dialled       int64 // connections made
	Replaced      int64 // idle connections found dead before a byte was written, and replaced by new ones
	KernelReads   int64 // reads of finished requests with a kernel stamp
	UserReads     int64 // reads of finished requests without one
	ClockStepNs   int64 // jump of the real-time clock during the run, ns; 0 = none; after a jump kernel stamps are ignored
	OpenConns     int   // connections open now, idle ones included
	MostOpenConns int
	LongestRest   time.Duration // longest rest of the read loop between two looks at its sockets; 0 = it never rested
}

// afterDone is how long a server may keep a stream open after its end mark (spec: transport, section 7.6), and how long the body of an HTTP error may
// take. By then everything that counts has arrived; the rest is not worth a slot of the load.
const afterDone = 5 * time.Second

// headTime is how long a server may take to send the headers of an answer once it has begun. No healthy server sends them that slowly.
const headTime = time.Minute

// SettingError reports a setting that cannot be used.
type SettingError struct {
	Key string // its key in the endpoint section of the configuration
	Err error
}

func (e *SettingError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns the underlying error.
func (e *SettingError) Unwrap() error { return e.Err }

// Check returns the error that NewClient would report for the options.
func (o Options) Check() error {
	_, err := o.TLS.config()
	return errors.Join(err, new(proxies).init(o))
}

// NewClient makes a client. It reads the certificates that opt names.
func NewClient(opt Options) (*Client, error) {
	cfg, err := opt.TLS.config()
	if err != nil {
		return nil, err
	}
	if opt.HTTP2 {
		cfg.NextProtos = []string{http2.NextProtoTLS, "http/1.1"}
	}
	c := &Client{opt: opt, tls: cfg, realTime: clock.NewRealTimeOffset(), doneWait: int64(afterDone), headWait: int64(headTime)}
	if c.opt.MaxResponse <= 0 {
		c.opt.MaxResponse = DefaultMaxResponse
	}
	c.dns.ttl = opt.DNSTTL
	if !opt.DNSCache {
		c.dns.ttl = 0
	}
	c.pool.init(opt)
	if opt.Rest && !opt.UserStamps {
		c.pace = new(restPacer)
	}
	if err := c.proxies.init(opt); err != nil {
		return nil, err
	}
	if opt.TLS.Insecure {
		c.warn("tls-insecure", "TLS certificates are not verified")
	}
	return c, c.openCapture()
}

// Close closes all idle connections with FIN. Connections in use are closed when their requests end. A packet capture ends at once.
func (c *Client) Close() {
	c.pool.close()
	c.streams.close()
	c.closeCapture()
	c.empty.close()
	c.cancels.close()
	c.loopOnce.Do(func() {})
	c.loop.end()
}

// CheckEmptiness records which connections hold no unread bytes at this instant. Readers do the same after their reads. Where reads are rare, a call
// every few milliseconds narrows the bounds of instants (record.Message.UncertainNs). It never waits.
func (c *Client) CheckEmptiness() { c.empty.check() }

// CloseSession closes the connection of a session that ends early (sticky connections).
func (c *Client) CloseSession(session string) {
	c.pool.drop(session)
	c.streams.drop(session)
}

// ClockStepped reports whether the real-time clock was set since the client was made. From then on kernel stamps are not used.
func (c *Client) ClockStepped() bool { return c.realTime.Stepped() }

// Stats returns the counters.
func (c *Client) Stats() Stats {
	open, most := c.pool.open()
	return Stats{
		Dialled: c.count.dialled.Load(), Replaced: c.count.replaced.Load(),
		KernelReads: c.count.stamped.Load(), UserReads: c.count.unstamped.Load(),
		ClockStepNs: c.realTime.Step(), OpenConns: open, MostOpenConns: most, LongestRest: c.pace.longest(),
	}
}

// warn issues a warning, once per kind.
func (c *Client) warn(kind, text string) {
	if c.opt.Warn == nil {
		return
	}
	if _, again := c.warned.LoadOrStore(kind, true); !again {
		c.opt.Warn(text)
	}
}
