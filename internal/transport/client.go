package transport

import (
	"crypto/tls"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"aiperf/internal/capture"
	"aiperf/internal/clock"
)

// Client sends requests and owns the connections. Safe for concurrent use. Over HTTP/1.1 it
// starts no goroutines of its own; an HTTP/2 connection has one.
type Client struct {
	opt  Options
	tls  *tls.Config
	tie  *clock.Tie
	dns  resolver
	pool pool

	through proxies
	streams h2pool
	coder   headerCoder

	doneWait    int64    // ns for which the end of a stream is waited for once its end mark came, and that of an error's body after its head
	headWait    int64    // ns in which a head must be complete once it has begun
	warned      sync.Map // kinds of warnings given
	count       counters
	delays      delayLog
	empty       emptinessLog
	closePolicy closePolicy

	capture        *capture.Capture // nil = none
	captureMissing string           // why
}

type counters struct {
	dialled, replaced, stamped, unstamped atomic.Int64
	messages, packets                     atomic.Int64 // counted with a capture only
}

// Stats tell what a client did so far.
type Stats struct {
	Dialled       int64 // connections made
	Replaced      int64 // idle connections found dead before a byte was written, and replaced
	KernelReads   int64 // reads of finished requests with a kernel stamp
	UserReads     int64 // reads of finished requests without one
	ClockStepNs   int64 // the real-time clock was set during the run by this much; kernel stamps were given up then
	OpenConns     int   // connections open now, idle ones included
	MostOpenConns int
}

// afterDone is how long a server may keep a stream open after its end mark (spec: transport, section 7.6), and how long the body of an HTTP
// error may take: what counts has come, and what is still to come is not worth a slot of the load.
const afterDone = 5 * time.Second

// headTime is how long a server may take over the headers of an answer once it has begun them: nobody who means to answer sends them in drips.
const headTime = time.Minute

// SettingError is a setting that cannot be followed.
type SettingError struct {
	Key string // its place in the endpoint section of a configuration
	Err error
}

func (e *SettingError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap gives what is wrong with it.
func (e *SettingError) Unwrap() error { return e.Err }

// Check tells what of the options cannot be followed, as NewClient would.
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
	c := &Client{opt: opt, tls: cfg, tie: clock.NewTie(), doneWait: int64(afterDone), headWait: int64(headTime)}
	if c.opt.MaxResponse <= 0 {
		c.opt.MaxResponse = DefaultMaxResponse
	}
	c.dns.ttl = opt.DNSTTL
	if !opt.DNSCache {
		c.dns.ttl = 0
	}
	c.pool.init(opt)
	if err := c.through.init(opt); err != nil {
		return nil, err
	}
	if opt.TLS.Insecure {
		c.warn("tls-insecure", "TLS certificates are not verified")
	}
	return c, c.openCapture()
}

// Close closes all idle connections with FIN; those in use are closed when their requests end. A capture ends at once.
func (c *Client) Close() {
	c.pool.close()
	c.streams.close()
	c.closeCapture()
	c.empty.close()
}

// CheckEmptiness finds out which connections hold no unread bytes at this instant. Readers do so after their reads; where they are few and
// far between, the bounds of instants (record.Message.UncertainNs) narrow when it is called every few milliseconds. It never waits.
func (c *Client) CheckEmptiness() { c.empty.check() }

// CloseSession closes the connection of a session that ends early (sticky connections).
func (c *Client) CloseSession(session string) {
	c.pool.drop(session)
	c.streams.drop(session)
}

// ClockStepped checks whether the real-time clock was set since the client was made; kernel stamps are not used after that.
func (c *Client) ClockStepped() bool { return c.tie.Stepped() }

// Stats reads the counters.
func (c *Client) Stats() Stats {
	open, most := c.pool.open()
	return Stats{
		Dialled: c.count.dialled.Load(), Replaced: c.count.replaced.Load(),
		KernelReads: c.count.stamped.Load(), UserReads: c.count.unstamped.Load(),
		ClockStepNs: c.tie.Step(), OpenConns: open, MostOpenConns: most,
	}
}

// warn passes on the first warning of a kind.
func (c *Client) warn(kind, text string) {
	if c.opt.Warn == nil {
		return
	}
	if _, again := c.warned.LoadOrStore(kind, true); !again {
		c.opt.Warn(text)
	}
}
