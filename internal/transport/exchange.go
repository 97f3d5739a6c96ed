package transport

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"sync"

	"aiperf/internal/clock"
	"aiperf/internal/record"
)

// Exchange is one request on its way. Prepare makes it; then Send and Receive are called once each, in this order.
type Exchange struct {
	client *Client
	ctx    context.Context
	req    *Request
	conn   *conn         // whole, for HTTP/1.1; nil = none
	stream *h2stream     // of HTTP/2; nil = none
	in     *intake       // of the one or the other
	link   link          // the one or the other
	err    *record.Error // the request failed before it was sent
	cancel bool          // err is a cut from outside

	out       []byte   // bytes of the request that the socket has not taken yet (TLS: the whole head)
	ranges    [][]byte // what follows out
	buffer    *[]byte  // pooled, holds the head
	headBytes int      // of out, those of the headers (HTTP/2)
	start     int64
	deadline  int64 // instant of the total timeout, 0 = none
	ready     int64 // Prepare was done
	sent      int64 // the last byte was taken by the socket, 0 = not yet
	sendErr   error
	trace     record.Trace
	sendOver  chan struct{} // closed when the goroutine that sends the rest is done; nil = there is none
	rest      sendRest

	mu       sync.Mutex // guards what deadlines are made of: sent, sendErr and the following
	doneMark int64      // a stream's end mark came, 0 = not yet
	failMark int64      // the head of an HTTP error came, 0 = not yet
	headMark int64      // a head began that is not complete, 0 = none has
	cut      bool       // cut from outside
	stopSend bool       // the answer came first

	unread bool // the server says that it did not look at the request
	resent bool // it was sent again for that reason

	// Receiving.
	rec   *record.Record
	head  *head
	body  *bodyReader
	arena *arena
	count int // number of the last read that brought body bytes
	tail  tail
	last  tail       // the last message that is exact because nothing followed it in its read
	wire  *wireBytes // what a content coding is fed from; nil = there is none
	ended int64      // instant at which the answer was over, as packets tell; 0 = they do not
	packets
}

// Prepare gets a connection and builds the head. It may wait for a name or a server, but never beyond the request's
// timeout or the context. A failure is kept for Receive to report; Err tells it at once.
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

// Do is Prepare, Send and Receive in one, for closed loops.
func (c *Client) Do(ctx context.Context, req *Request, rec *record.Record, onMessage OnMessage) {
	x := c.Prepare(ctx, req)
	x.Send()
	x.Receive(rec, onMessage)
}

// Err is the failure that Prepare or Send met; nil = none so far.
func (x *Exchange) Err() *record.Error { return x.err }

// Drop gives up an exchange that will not be sent after all.
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

// connect gets a connection: the session's, an idle one, a new one, or a stream of one.
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

// useConn makes a connection carry the request.
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
	x.conn, x.in, x.link = k, &k.intake, k
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

// take checks an idle connection; a dead one is closed and forgotten.
func (x *Exchange) take(k *conn) bool {
	if !x.client.closePolicy.once(k) {
		x.awaitReuse(k)
		if k.alive() {
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

// dial makes a connection, which the pool has counted.
func (x *Exchange) dial() (*conn, error) {
	ctx, stop := until(x.ctx, x.deadline)
	defer stop()
	x.trace.Reused = 0
	k, err := x.client.dial(ctx, x.req.Target, &x.trace)
	if err != nil {
		x.client.pool.release()
		return nil, err
	}
	return k, nil
}

// shareFrom is the size in bytes from which a range of a body is written from where it lies, and not copied behind the head.
const shareFrom = 64 << 10

// build puts the head into a buffer, and the body up to its first large range.
func (x *Exchange) build() {
	r, method := x.req, x.method()
	x.buffer = requestPool.Get().(*[]byte)
	b := (*x.buffer)[:0]
	b = append(append(b, method...), ' ')
	through, _ := x.client.through.of(r.Target) // an error is found by the dial
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

// method of the request.
func (x *Exchange) method() string {
	if x.req.Method == "" {
		return "POST"
	}
	return x.req.Method
}

// hasBody tells whether a request of a method says how long its body is, even if it has none.
func hasBody(method string) bool { return method != "GET" && method != "HEAD" }

// headerFields gives the headers of the request that are not the client's own to write, the credentials of its URL among them.
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

// finish ends the use of the connection: it goes back to where the strategy wants it, or is closed.
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
		x.client.closePolicy.closed(k) // the close met the request half-way
	}
	x.client.count.stamped.Add(int64(k.reads))
	x.client.count.unstamped.Add(int64(k.unstamped))
	switch {
	case !reusable || o.ForceClose || o.Reuse == Never || o.Reuse == Sticky && (x.req.LastTurn || x.err != nil):
		k.close()
		x.client.pool.release()
	case o.Reuse == Sticky:
		x.client.pool.keep(x.req.Session, k)
	default:
		x.client.pool.put(k)
	}
}
