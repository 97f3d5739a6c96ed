package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/transport"
)

// Exchange is one request and its answer. Call Send and then Receive once each, or only Drop.
type Exchange struct {
	client   *Client
	ctx      context.Context
	req      *transport.Request
	method   string
	messages [][]byte
	metadata []record.Header
	channel  *channel
	err      *record.Error // failure before the request was sent

	start, deadline int64
	launched        int64 // instant at which sending began
	trace           record.Trace
	stale           bool // the idle connection died before anything was written

	call    context.Context
	end     context.CancelFunc
	stream  *stream
	callErr error
	sending chan struct{} // closed when the request is written or given up

	rec      *record.Record
	answer   []record.Message
	received int // bytes of the answer's messages, including their prefixes
	size     int // the same, but counting the texts of messages where they are longer
	cutAt    int64
}

// Prepare encodes the request and gets a connection. It may wait for a server, but never beyond the request's timeout or the context.
func (c *Client) Prepare(ctx context.Context, r *transport.Request) *Exchange {
	x := &Exchange{client: c, ctx: ctx, req: r, method: r.Target.Path}
	began := clock.Now()
	if !r.Armed {
		x.start = began
	}
	x.deadline = c.deadline(began)
	var err error
	if x.messages, err = c.words.Marshal(x.method, r.Body); err != nil {
		x.err = transport.Failure("ValueError", 0, err.Error())
		return x
	}
	x.metadata = metadataOf(r.Headers)
	x.acquire()
	return x
}

func (c *Client) deadline(start int64) int64 {
	if c.opt.Timeout <= 0 {
		return 0
	}
	return start + int64(c.opt.Timeout)
}

// bounded returns a context that ends at the request's timeout.
func (x *Exchange) bounded() (context.Context, context.CancelFunc) {
	if x.deadline == 0 {
		return context.WithCancel(x.ctx)
	}
	return context.WithDeadline(x.ctx, wallTime(x.deadline))
}

// acquire takes an idle connection or makes a new one.
func (x *Exchange) acquire() {
	c := x.client
	for c.opt.Reuse != transport.Never {
		k := c.take(x.req.Target.Key(), x.req.Session)
		if k == nil {
			break
		}
		if k.usable() && (c.opt.IdleTimeout <= 0 || clock.Now()-k.since <= int64(c.opt.IdleTimeout)) {
			x.trace.Reused = clock.Now()
			x.channel = k
			return
		}
		k.close()
	}
	ctx, stop := x.bounded()
	defer stop()
	x.channel, x.err = c.connect(ctx, x.req.Target, &x.trace)
}

// Send stamps the start and writes a small request. A large one is written in a separate goroutine. It does not wait.
func (x *Exchange) Send() {
	now := clock.Now()
	if x.req.Armed {
		x.start = now
		x.deadline = x.client.deadline(now)
	}
	if x.err != nil {
		return
	}
	if x.stale = !x.channel.usable(); !x.stale {
		x.launch()
	}
}

// launch starts the call. It writes a small message, and starts a goroutine that writes a large one or several.
func (x *Exchange) launch() {
	x.launched = clock.Now()
	x.channel.watch.begin()
	x.channel.conn.Quiet.Store(x.req.WarmUp)
	x.call, x.end = x.bounded()
	t := x.req.Target
	x.stream, x.callErr = x.channel.newStream(x.call, x.method, t.Authority(), x.client.agent, t.TLS, x.metadata)
	x.sending = make(chan struct{})
	if x.callErr != nil || len(x.messages) == 1 && x.stream.fits(x.messages[0]) {
		x.sendAll()
		return
	}
	go x.sendAll()
}

// sendAll sends the messages of a call, as fast as the server accepts them, and then half-closes the stream. The reading side gets errors.
func (x *Exchange) sendAll() {
	defer close(x.sending)
	if x.callErr != nil {
		return
	}
	if len(x.messages) == 1 {
		_ = x.stream.sendMessage(x.messages[0], true)
		return
	}
	for _, m := range x.messages {
		if x.stream.sendMessage(m, false) != nil {
			return
		}
	}
	_ = x.stream.closeSend()
}

// Drop gives up a request that will not be sent.
func (x *Exchange) Drop() {
	if x.channel != nil {
		x.client.put(x.channel, x.req, x.channel.usable())
	}
}

// Receive reads the answer to its end and fills the record. It always returns, at the latest at the request's timeout or when the context ends.
func (x *Exchange) Receive(rec *record.Record, onMessage transport.OnMessage) {
	x.rec = rec
	if x.err == nil && x.stale {
		x.channel.close()
		x.trace.Reused = 0
		if x.channel = nil; x.ctx.Err() == nil {
			x.acquire()
		}
		if x.channel != nil {
			x.launch()
		}
	}
	if x.channel == nil {
		x.fill(timeline{})
		return
	}
	defer x.end()
	over := make(chan struct{})
	if x.req.Cancel {
		go x.cutLater(over, x.channel.watch.now().written)
	}
	err := x.callErr
	if err == nil {
		err = x.read(onMessage)
	}
	close(over)
	if err != nil || x.err != nil {
		x.end()
	}
	<-x.sending
	seen := x.channel.watch.now()
	x.setOutcome(err, &seen)
	x.fill(seen)
	x.client.put(x.channel, x.req, seen.ended != 0 && !seen.reset && seen.sent != 0 && x.rec.CancelledAt == 0 && x.channel.usable())
}

// ReceiveThen calls Receive and then calls then.
func (x *Exchange) ReceiveThen(rec *record.Record, onMessage transport.OnMessage, then func()) {
	x.Receive(rec, onMessage)
	then()
}

// cutLater cancels the call some time after its last byte was written.
func (x *Exchange) cutLater(over, written chan struct{}) {
	select {
	case <-written:
	case <-over:
		return
	}
	timer := time.NewTimer(x.req.CancelAfter)
	defer timer.Stop()
	select {
	case <-timer.C:
		x.channel.watch.mu.Lock()
		x.cutAt = clock.Now()
		x.channel.watch.mu.Unlock()
		x.end()
	case <-over:
	}
}

// read reads messages until the answer ends; nil = it ended without an error.
func (x *Exchange) read(onMessage transport.OnMessage) error {
	streams, place := x.client.words.Streams(x.method), 0
	for {
		raw, err := x.stream.recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		x.received += grpcwire.PrefixSize + len(raw)
		text, failure := x.client.words.Unmarshal(x.method, raw)
		if x.size += grpcwire.PrefixSize + max(len(raw), len(text)); x.tooLarge() {
			return nil
		}
		if failure == nil {
			place = x.storeMessage(text, streams, place)
			if onMessage != nil {
				if failure = onMessage(x.answer); failure != nil {
					x.answer = x.answer[:len(x.answer)-1]
				}
			}
		}
		if failure != nil {
			x.err = transport.Failure(failure.Type, failure.Code, failure.Message)
			return nil
		}
	}
}

// tooLarge reports whether an answer has exceeded the limits of an HTTP answer. It is then an error, and only its first part is kept.
func (x *Exchange) tooLarge() bool {
	most := x.client.opt.MaxResponse
	switch {
	case int64(x.size) > most:
		x.err = transport.Failure(transport.ErrPayload, 0, fmt.Sprintf("The answer is larger than %d bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES)", most))
	case int64(len(x.answer)) > most/transport.EventShare:
		x.err = transport.Failure(transport.ErrPayload, 0, fmt.Sprintf("The answer has more than %d messages (one for %d bytes of AIPERF_HTTP_MAX_RESPONSE_BYTES)",
			most/transport.EventShare, transport.EventShare))
	default:
		return false
	}
	x.answer = transport.Beginning(x.answer)
	return true
}

// storeMessage stores a text as a message and stamps it with the read that brought its last byte. place is the index of that read, for the next message.
func (x *Exchange) storeMessage(text []byte, streams bool, place int) int {
	m := record.Message{Body: true, Raw: text, Details: &record.Details{ContentType: "application/json"}}
	if streams {
		m = record.Message{Line: true, Raw: append([]byte("data: "), text...)}
	}
	a, place, ok := x.channel.watch.at(x.received, place)
	if ok {
		m.At, m.Clock = max(a.At, x.start), a.Clock
		shared := !a.endsRead || a.end != x.received
		if shared {
			x.trace.SharedReads++
		}
		if shared || a.Clock == record.UserClock {
			m.UncertainNs = max(0, m.At-max(a.Since, x.start))
		}
	} else {
		m.At, m.Clock = clock.Now(), record.UserClock
		m.UncertainNs = max(0, m.At-x.start)
	}
	x.answer = append(x.answer, m)
	return place
}

// setOutcome determines why a call ended.
func (x *Exchange) setOutcome(err error, seen *timeline) {
	x.channel.watch.mu.Lock()
	cutAt := x.cutAt
	x.channel.watch.mu.Unlock()
	x.rec.Status = 200
	switch {
	case x.err != nil: // the error is already known
	case err == nil:
		x.rec.Ack = seen.headers
	case cutAt != 0:
		x.err, x.rec.Status = transport.CutAfter(x.req.CancelAfter), 0
		x.rec.CancelledAt = cutAt
	case x.ctx.Err() != nil && !errors.Is(x.ctx.Err(), context.DeadlineExceeded):
		x.err, x.rec.Status = transport.CutOff(), 0
		x.rec.CancelledAt = clock.Now()
		x.rec.Cut = context.Cause(x.ctx).Error()
	case x.late(err):
		x.err, x.rec.Status = transport.TimedOut(x.client.opt.Timeout, activity(seen)), 0
	default:
		s := statusOf(err)
		x.rec.Status = s.Code.HTTPStatus()
		x.err = transport.Failure(s.Code.String(), x.rec.Status, s.Message)
		x.trace.StatusReason = x.err.Type
	}
}

// late reports whether the time of the call was over. The server knows the deadline too and may end the call before our timer fires.
func (x *Exchange) late(err error) bool {
	if x.call == nil {
		return false
	}
	if errors.Is(x.call.Err(), context.DeadlineExceeded) {
		return true
	}
	end, bounded := x.call.Deadline()
	return bounded && statusOf(err).Code == grpcwire.DeadlineExceeded && !time.Now().Before(end)
}

// activity describes what a call was doing when its time was over.
func activity(seen *timeline) string {
	switch {
	case seen.sent == 0:
		return "sending the request"
	case seen.data == 0:
		return "waiting for the first message"
	}
	return "the answer was still arriving"
}

// fill completes the record.
func (x *Exchange) fill(seen timeline) {
	r, t := x.rec, x.trace
	t.Host = x.req.Target.Authority()
	r.WallOffset = clock.Wall(0)
	r.Start, r.Error = x.start, x.err
	r.RequestHeaders, r.Payload, r.Messages = metadataOf(x.req.Headers), x.req.Body, x.answer
	if x.channel != nil {
		x.channel.conn.FillTrace(&t)
		x.headers()
	}
	t.SendStart, t.SendEnd, t.HeadersSent = seen.began, seen.sent, seen.sent
	if d := seen.sent - x.launched; seen.sent != 0 && d > transport.SureSend {
		t.SendUncertainNs = d // a large request is written in a separate goroutine, which may wait for a CPU
	}
	t.HeadersReceived = seen.headers
	if seen.headers != 0 && t.SendEnd > seen.headers {
		t.SendEnd, t.HeadersSent = seen.headers, seen.headers // the answer's stamp comes from the kernel and may precede the return of the write
	}
	t.ChunksSent, t.ChunksReceived, t.BytesReceived = seen.writes, len(seen.arrivals), seen.data
	for _, m := range x.messages {
		t.BytesSent += grpcwire.PrefixSize + len(m)
	}
	if n := len(seen.arrivals); n > 0 {
		t.FirstChunk, t.LastChunk = seen.arrivals[0].At, seen.arrivals[n-1].At
	}
	t.Reads, t.ReadDelaySum, t.ReadDelayMax, t.LastByteDelayMax = seen.reads, seen.delaySum, seen.delayMax, seen.lastMax
	t.FirstUncertainNs, t.GapUncertainNs = transport.Uncertainty(r.Messages, nil)
	r.End = max(seen.ended, t.LastChunk, x.start+1)
	if n := len(seen.arrivals); n > 0 && seen.arrivals[n-1].Clock == record.UserClock {
		t.EndUncertainNs = max(0, r.End-max(seen.arrivals[n-1].Since, x.start))
	}
	if x.err != nil {
		if r.End = max(clock.Now(), x.start+1); r.CancelledAt != 0 {
			r.End = max(r.CancelledAt, x.start+1)
			r.CancelledAt = r.End
		}
		t.EndUncertainNs = 0
		if r.CancelledAt == 0 && x.err.Type != transport.ErrTimeout {
			t.AnswerEnd = seen.ended
		} else if a, ok := x.unreturned(&seen); ok {
			t.EndUncertainNs = max(0, r.End-max(a.Since, x.start))
		}
		if t.ErrorAt == 0 {
			t.ErrorAt = r.End
		}
		if x.channel == nil && x.ctx.Err() != nil && !errors.Is(x.ctx.Err(), context.DeadlineExceeded) {
			r.CancelledAt, r.Cut = r.End, context.Cause(x.ctx).Error()
		}
	}
	r.Trace = &t
}

// unreturned finds the read that brought the first byte behind the messages that were stored.
func (x *Exchange) unreturned(seen *timeline) (a arrival, ok bool) {
	if x.channel == nil || seen.data <= x.received {
		return a, false
	}
	a, _, ok = x.channel.watch.at(x.received+1, 0)
	return a, ok
}

// headers stores the metadata of the answer, sorted by name.
func (x *Exchange) headers() {
	if x.stream == nil || x.callErr != nil {
		return
	}
	header, trailer := x.stream.ends()
	if len(x.answer) > 0 {
		x.addHeaders(header)
	}
	if x.err == nil || x.rec.Status != 0 {
		x.addHeaders(trailer)
	}
}

// addHeaders stores headers, sorted by name.
func (x *Exchange) addHeaders(list []record.Header) {
	list = slices.Clone(list)
	sorting.Stable(list, func(a, b record.Header) int { return strings.Compare(a.Name, b.Name) })
	x.rec.ResponseHeaders = append(x.rec.ResponseHeaders, list...)
}

// statusOf returns the status of a call that failed.
func statusOf(err error) *grpcwire.Status {
	var s *grpcwire.Status
	if errors.As(err, &s) {
		return s
	}
	return grpcwire.Errorf(grpcwire.Unknown, "%v", err)
}
