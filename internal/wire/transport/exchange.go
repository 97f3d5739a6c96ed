package transport

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// Exchange is one request and its answer. Prepare makes it; then Send and Receive are called once each, in this order.
type Exchange struct {
	client *Client
	ctx    context.Context
	req    *Request
	conn   *conn         // whole connection, for HTTP/1.1; nil = none
	stream *h2stream     // stream of an HTTP/2 connection; nil = none
	in     *readState    // read state of conn or stream
	link   link          // conn or stream
	err    *record.Error // failure before the request was sent
	cancel bool          // err is a cancellation by the run

	out       []byte   // bytes of the request that the socket has not accepted yet (TLS: the whole head)
	ranges    [][]byte // what follows out
	buffer    *[]byte  // pooled buffer that holds the head
	headBytes int      // number of header bytes in out (HTTP/2)
	start     int64
	deadline  int64 // instant of the request timeout, 0 = none
	ready     int64 // instant at which Prepare was done
	sent      int64 // instant at which the socket accepted the last byte, 0 = not yet
	sendErr   error
	trace     record.Trace
	sendOver  chan struct{} // closed when the goroutine that sends the rest is done; nil = no such goroutine
	sending   sendProgress

	mu             sync.Mutex // guards what the deadlines depend on: sent, sendErr and the fields below
	doneMark       int64      // instant of a stream's end mark, 0 = not yet
	failMark       int64      // instant of the head of an HTTP error, 0 = not yet
	headMark       int64      // instant at which the incomplete head began, 0 = none
	cancelledByRun bool       // cancelled by the run
	stopSend       bool       // the answer came before the whole request was sent

	unprocessed bool // the server says that it did not process the request
	resent      bool // the request was sent again for that reason

	// Fields of receiving.
	rec       *record.Record
	onMessage OnMessage
	then      func()      // called when the record is complete
	release   func() bool // ends a registration with the context; nil = the client watches the context
	watchedAt int         // place in the client's cancelWatch, counted from 1; 0 = it is not there. The lock of the watch guards it.
	unhold    func()      // lets the loop rest again; nil = it may rest anyway
	reusable  bool        // the connection may be used again
	reported  bool        // a message of the answer reports the error
	head      *head
	body      *bodyReader
	arena     *arena
	count     int // number of the last read that brought body bytes
	tail      lastMessage
	last      lastMessage // the last message that is exact because nothing followed it in its read
	wire      *wireBytes  // input of the content decoder; nil = no content coding
	ended     int64       // instant at which the answer ended according to the packets; 0 = unknown
	packets
}

// Prepare gets a connection and builds the head. It may wait for a name lookup or a server, but never beyond the request's timeout or the context. A
// failure is kept for Receive to report; Err returns it at once.
func (c *Client) Prepare(ctx context.Context, req *Request) *Exchange {
	x := &Exchange{client: c, ctx: ctx, req: req}
	if !c.opt.HTTP2 {
		x.build()
	}
	began := clock.Now()
	if !req.Armed {
		x.start = began
	}
	x.deadline = c.deadline(began)
	x.connect(c.opt.Reuse == Never)
	x.ready = clock.Now()
	return x
}

// Do calls Prepare, Send and Receive, for closed loops.
func (c *Client) Do(ctx context.Context, req *Request, rec *record.Record, onMessage OnMessage) {
	x := c.Prepare(ctx, req)
	x.Send()
	x.Receive(rec, onMessage)
}

// Err returns the failure of Prepare or Send; nil = none so far.
func (x *Exchange) Err() *record.Error { return x.err }

// Drop gives up an exchange that will not be sent.
func (x *Exchange) Drop() {
	switch {
	case x.stream != nil:
		x.leaveStream(true)
	case x.conn != nil:
		x.finish(x.conn.tls == nil && x.conn.alive())
	}
	x.freeRequest()
}

func (c *Client) deadline(start int64) int64 {
	if c.opt.Timeout <= 0 {
		return 0
	}
	return start + int64(c.opt.Timeout)
}

// connect gets a connection: that of the session, an idle one, a new one, or a stream of an HTTP/2 connection.
func (x *Exchange) connect(fresh bool) {
	var err error
	if x.client.opt.HTTP2 {
		if err = x.acquireStream(fresh); err == nil && x.stream != nil {
			x.buildFrames()
		}
	} else {
		err = x.acquireConn(fresh)
	}
	if err == nil {
		return
	}
	x.trace.ErrorAt = clock.Now()
	if x.ctx.Err() != nil && x.ctx.Err() != context.DeadlineExceeded {
		x.err, x.cancel = externalError(), true
		return
	}
	x.err = connectError(err, x.client.opt.Timeout)
}

// acquireConn gets a whole connection.
func (x *Exchange) acquireConn(fresh bool) error {
	k, err := x.acquire(fresh)
	if err != nil {
		return err
	}
	return x.useConn(k)
}

// useConn assigns a connection to the request.
func (x *Exchange) useConn(k *conn) error {
	if x.buffer == nil {
		x.build()
	}
	if k.tls != nil {
		if err := k.encrypt(append([][]byte{x.out}, x.ranges...)...); err != nil {
			k.close()
			x.client.pool.release()
			return err
		}
	}
	x.conn, x.in, x.link = k, &k.readState, k
	return nil
}

func (x *Exchange) acquire(fresh bool) (*conn, error) {
	p, t := &x.client.pool, x.req.Target
	if err := x.ctx.Err(); err != nil {
		return nil, err
	}
	if x.client.opt.Reuse == Sticky && !fresh {
		if k := p.session(x.req.Session, t.key); k != nil && x.take(k) {
			return k, nil
		}
		fresh = true
	}
	for {
		k := p.get(t.key, fresh)
		if k == nil {
			return x.dial()
		}
		if x.take(k) {
			return k, nil
		}
	}
}

// take checks an idle connection; it closes and drops a dead one.
func (x *Exchange) take(k *conn) bool {
	if !x.client.closePolicy.once(k) {
		x.awaitReuse(k)
		if k.usable() {
			x.trace.Reused = clock.Now()
			return true
		}
		x.client.closePolicy.closed(k)
	}
	x.client.count.replaced.Add(1)
	k.close()
	x.client.pool.release()
	return false
}

// dial makes a connection, which the pool has already counted.
func (x *Exchange) dial() (*conn, error) {
	ctx, stop := until(x.ctx, x.deadline)
	defer stop()
	x.trace.Reused = 0
	k, err := x.client.dial(ctx, x.req.Target, &x.trace, x.client.started())
	if err != nil {
		x.client.pool.release()
		return nil, err
	}
	return k, nil
}

// shareFrom is the size in bytes from which a range of a body is written directly from its place instead of being copied behind the head.
const shareFrom = 64 << 10

// build puts the head into a buffer, and the body up to its first large range.
func (x *Exchange) build() {
	r, method := x.req, x.method()
	x.buffer = requestPool.Get().(*[]byte)
	b := (*x.buffer)[:0]
	b = append(append(b, method...), ' ')
	through, _ := x.client.proxies.of(r.Target) // the dial reports the error
	if whole := through != nil && !r.Target.TLS; whole {
		b = append(append(b, "http://"...), r.Target.host...)
	}
	b = append(b, r.Target.Path...)
	b = append(append(b, " HTTP/1.1\r\nHost: "...), r.Target.host...)
	b = append(b, "\r\n"...)
	if through != nil && !r.Target.TLS && through.auth != "" {
		b = append(append(append(b, "Proxy-Authorization: "...), through.auth...), "\r\n"...)
	}
	for h := range x.headerFields() {
		b = append(append(append(append(b, h.Name...), ": "...), h.Value...), "\r\n"...)
	}
	size := r.Body.Len()
	if size > 0 || hasBody(method) {
		b = append(b, "Content-Length: "...)
		b = strconv.AppendInt(b, int64(size), 10)
		b = append(b, "\r\n"...)
	}
	if x.client.opt.Reuse == Never || x.client.opt.ForceClose {
		b = append(b, "Connection: close\r\n"...)
	}
	b = append(b, "\r\n"...)
	x.ranges = r.Body.Ranges()
	for len(x.ranges) > 0 && len(x.ranges[0]) < shareFrom && len(b) < shareFrom {
		b, x.ranges = append(b, x.ranges[0]...), x.ranges[1:]
	}
	x.out = b
	*x.buffer = x.out
}

// method returns the HTTP method of the request.
func (x *Exchange) method() string {
	if x.req.Method == "" {
		return "POST"
	}
	return x.req.Method
}

// hasBody reports whether a request with this method announces the length of its body, even if the body is empty.
func hasBody(method string) bool { return method != "GET" && method != "HEAD" }

// headerFields returns the headers of the request that the client does not write itself, including the credentials of its URL.
func (x *Exchange) headerFields() iter.Seq[record.Header] {
	return func(yield func(record.Header) bool) {
		authorized := false
		for _, h := range x.req.Headers {
			if clientsOwn(h.Name) {
				continue
			}
			authorized = authorized || strings.EqualFold(h.Name, "Authorization")
			if !yield(h) {
				return
			}
		}
		if auth := x.req.Target.auth; auth != "" && !authorized {
			yield(record.Header{Name: "Authorization", Value: auth})
		}
	}
}

// finish ends the use of the connection: it returns to its place according to the reuse strategy, or is closed.
func (x *Exchange) finish(reusable bool) {
	k, o := x.conn, &x.client.opt
	x.conn = nil
	k.release()
	k.delays.flush()
	switch {
	case x.head != nil:
		k.uses++
		x.client.closePolicy.answered(k)
	case x.trace.Reused != 0 && x.err != nil && (x.err.Type == ErrClosed || x.err.Type == ErrSocket):
		x.client.closePolicy.closed(k) // the close crossed the request
	}
	x.client.count.stamped.Add(int64(k.reads))
	x.client.count.unstamped.Add(int64(k.unstamped))
	switch {
	case !reusable || o.ForceClose || o.Reuse == Never || o.Reuse == Sticky && (x.req.LastTurn || x.err != nil):
		k.close()
		x.client.pool.release()
	case o.Reuse == Sticky:
		x.client.pool.keepForSession(x.req.Session, k)
	default:
		x.client.pool.put(k)
	}
}
