package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// Receive reads the answer to the end and fills the record's wire fields: instants, status, headers, messages, trace and error. It always returns, at
// the latest at the request's timeout or when the context ends.
func (x *Exchange) Receive(rec *record.Record, onMessage OnMessage) {
	over := make(chan struct{})
	x.ReceiveThen(rec, onMessage, func() { close(over) })
	<-over
}

// ReceiveThen does the work of Receive and then calls then. It may return before: while the answer arrives, the request needs no goroutine, and then is
// called in a new one.
func (x *Exchange) ReceiveThen(rec *record.Record, onMessage OnMessage, then func()) {
	x.rec, x.onMessage, x.then = rec, onMessage, then
	if x.err == nil && x.nothingWritten() {
		x.resend()
	}
	x.await()
}

// await sends the rest of the request and has the answer read.
func (x *Exchange) await() {
	if x.err == nil && x.stream != nil && x.stream.id == 0 { // its connection ended twice before the stream could be opened
		x.err = newError(ErrClosed, 0, "Server disconnected")
	}
	if x.err != nil {
		x.complete(false)
		return
	}
	x.guard()
	x.mu.Lock()
	x.armRead()
	x.mu.Unlock()
	x.startRest()
	if x.req.Cancel || x.req.Urgent {
		x.unhold = x.client.pace.hold()
	}
	x.link.reading(x)
}

// read implements readJob.
func (x *Exchange) read() { x.reusable = x.readAnswer() }

// readOver implements readJob.
func (x *Exchange) readOver() {
	if x.unhold != nil {
		x.unhold()
	}
	x.endSending()
	if x.err == nil && x.sent != 0 { // an answer may end before its request is sent
		x.client.pace.ended(x.arrived())
	}
	reusable := x.unguard() && x.reusable && x.sent != 0
	if x.unprocessed {
		x.unprocessed, x.resent = false, true
		x.resend()
		x.await()
		return
	}
	x.complete(reusable)
}

// arrived returns how long the answer was arriving, ns. If it has one message, it is the time from the request.
func (x *Exchange) arrived() int64 {
	if a := x.arena; a != nil && len(a.messages)-len(a.marks) > 1 {
		return x.in.at - x.trace.FirstChunk
	}
	return x.in.at - x.sent
}

// complete fills the record and gives back what the request used.
func (x *Exchange) complete(reusable bool) {
	x.fill()
	switch {
	case x.stream != nil:
		x.leaveStream(reusable)
	case x.conn != nil:
		x.finish(reusable)
	}
	x.freeRequest()
	x.then()
}

// nothingWritten reports whether an idle connection proved dead before a byte of the request was written.
func (x *Exchange) nothingWritten() bool {
	return errors.Is(x.sendErr, errStale) || x.sendErr != nil && x.trace.Reused != 0 && x.trace.ChunksSent == 0
}

// armRead sets the instant at which reading is given up. The caller holds x.mu.
func (x *Exchange) armRead() {
	if x.cancelledByRun {
		return
	}
	x.link.readBy(x.readEnd())
}

// readEnd returns the earliest of the instants that end the reading; 0 = none.
func (x *Exchange) readEnd() int64 {
	end := x.deadline
	if x.req.Cancel && x.sent != 0 {
		end = earliest(end, x.sent+int64(x.req.CancelAfter))
	}
	if x.doneMark != 0 {
		end = earliest(end, x.doneMark+x.client.doneWait)
	}
	if x.failMark != 0 {
		end = earliest(end, x.failMark+x.client.doneWait)
	}
	if x.headMark != 0 {
		end = earliest(end, x.headMark+x.client.headWait)
	}
	return end
}

func earliest(a, b int64) int64 {
	if a == 0 || b < a {
		return b
	}
	return a
}

// readAnswer reads the whole answer. It reports whether the connection may be used again.
func (x *Exchange) readAnswer() bool {
	var rest []byte
	var err error
	if x.stream != nil {
		err = x.readStreamHead()
	} else {
		rest, err = x.readHead()
	}
	if err != nil {
		x.failHead(err)
		return false
	}
	if x.stream == nil || !x.head.ok() {
		x.endSending()
	}
	h := x.head
	x.body = newBody(x.link, h, rest)
	src := content(x.body, h.encoding, x.client.warn)
	if d, ok := src.(*decodedBody); ok {
		x.wire = &d.wire
		defer x.client.pace.hold()() // nothing tells whether a read of compressed bytes ends inside a message
	}
	switch {
	case !h.ok():
		err = x.readError(src)
	case x.req.streams(h.mediaType) && (x.req.Method == "" || x.req.Method == http.MethodPost):
		err = x.readStream(src, x.onMessage)
	default:
		err = x.readBody(src, x.onMessage)
	}
	if err != nil {
		x.failBody(err)
		return false
	}
	if x.err != nil && h.ok() {
		return false // the server reported an error inside the stream
	}
	return x.body.ended && len(x.body.buf) == 0 && x.body.kind != untilClose && h.reusable()
}

// readHead reads up to the end of the final response head. rest holds the bytes of the body that came with it.
func (x *Exchange) readHead() (rest []byte, err error) {
	var buf []byte
	owned := false          // true: buf is a copy, not the connection's buffer
	passed, interim := 0, 0 // bytes and interim responses before the final head
	for looked := 0; ; {
		if looked == 0 {
			before := len(buf)
			buf = bytes.TrimLeft(buf, "\r\n") // skip empty lines that a server sent after its last answer
			passed += before - len(buf)
		}
		end := headEnd(buf, looked)
		if passed+max(end, 0) > maxHead || end < 0 && len(buf) > maxHead {
			return nil, malformed("Response head larger than %d bytes", maxHead)
		}
		if end < 0 {
			if looked = len(buf); !plausible(buf) {
				return nil, badStatusLine(buf)
			}
			if looked > 0 && !owned {
				buf, owned = append(make([]byte, 0, 2*looked), buf...), true
				x.markHead(x.in.at)
			}
			got, err := x.link.fill()
			if len(got) == 0 {
				return nil, err
			}
			if owned {
				buf = append(buf, got...)
			} else {
				buf = got
			}
			continue
		}
		h, err := x.conn.lastHead.parse(buf[:end])
		if err != nil {
			return nil, err
		}
		buf, looked, passed = buf[end:], 0, passed+end
		x.markHead(0)
		if h.status >= 200 || h.status == 101 {
			x.gotHead(h)
			x.note(stampHead, x.position(len(buf)))
			return buf, nil
		}
		if interim++; interim > maxInterim {
			return nil, malformed("More than %d interim responses", maxInterim)
		}
	}
}

// markHead records when a head began that is still incomplete, and sets its deadline; 0 = no head has begun.
func (x *Exchange) markHead(at int64) {
	if x.headMark == at {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.headMark = at
	x.armRead()
}

// oneFlight is the size, in bytes, up to which a request leaves before anything is acknowledged: ten segments of the least usual size (RFC 6928).
const oneFlight = 10 * 536

func (x *Exchange) gotHead(h *head) {
	x.head = h
	if x.sending.began != 0 || x.req.Body.Len() > oneFlight { // its end may have left the socket after its last write returned
		x.link.acknowledge()
	}
	at := x.in.at
	x.trace.HeadersReceived = at
	x.rec.Status, x.rec.ResponseHeaders = h.status, h.headers
	x.trace.StatusReason = h.reason
	if h.ok() {
		x.rec.Ack = at
	}
}

// gotBytes records body bytes of the last read.
func (x *Exchange) gotBytes(n int) {
	t, k := &x.trace, x.in
	if t.FirstChunk == 0 {
		t.FirstChunk = k.at
		x.note(stampFirstByte, x.position(n-1))
	}
	t.LastChunk = k.at
	if x.lastEnd, x.lastUser = x.position(0), k.user; k.marks != nil {
		x.note(stampLastByte, x.lastEnd)
	}
	t.BytesReceived += n
	if c := k.reads + k.unstamped; c != x.count {
		x.count = c
		t.ChunksReceived++
	}
}

// failHead reports that no complete head arrived.
func (x *Exchange) failHead(err error) {
	if x.interrupted(err) {
		return
	}
	x.mu.Lock()
	sendErr := x.sendErr // the rest of the request may still be being sent
	x.mu.Unlock()
	var bad *formatError
	switch {
	case errors.Is(err, errStale) && !x.resent:
		x.unprocessed = true
	case errors.As(err, &bad):
		x.err = newError(bad.kind, 0, bad.text)
	case sendErr != nil && errors.Is(err, io.EOF):
		x.err = socketError(sendErr)
	default:
		x.err = headError(err)
	}
}

// failBody reports that the body did not arrive completely.
func (x *Exchange) failBody(err error) {
	if x.doneMark != 0 {
		return // everything that counts had arrived
	}
	if x.interrupted(err) {
		return
	}
	x.err = bodyError(err, x.body)
}

// interrupted handles a read that the client itself ended. It reports whether this was the case.
func (x *Exchange) interrupted(err error) bool {
	if !isTimeout(err) {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	now := clock.Now()
	switch {
	case x.cancelledByRun && x.ctx.Err() != context.DeadlineExceeded:
		x.err = externalError()
		x.rec.CancelledAt = now
		x.rec.Cut = context.Cause(x.ctx).Error()
	case x.headMark != 0 && x.readEnd() == x.headMark+x.client.headWait:
		x.err = newError(ErrTimeout, 0, fmt.Sprintf("the response headers did not end within %v of their first byte", time.Duration(x.client.headWait)))
	case x.req.Cancel && x.sent != 0 && x.readEnd() != x.deadline:
		x.err = cancelError(x.req.CancelAfter)
		x.rec.CancelledAt = now
	case x.req.Cancel && x.sent == 0:
		x.err = newError(ErrSendTimeout, 0, "the request could not be sent in time")
	default:
		x.err = timeoutError(x.client.opt.Timeout, x.activity())
	}
	return true
}

// activity describes what the exchange was doing when its time was over.
func (x *Exchange) activity() string {
	switch {
	case x.sent == 0:
		return "sending the request"
	case x.head == nil:
		return "waiting for the response headers"
	case x.trace.FirstChunk == 0:
		return "waiting for the first byte of the response body"
	}
	return "the response body was still arriving"
}

// socket returns the connection that carries the exchange; nil = none.
func (x *Exchange) socket() *conn {
	if x.stream != nil {
		return x.stream.conn.k
	}
	return x.conn
}

// answerEnd returns the instant at which the answer of a failed request ended; 0 = it did not end, or the failure is not in the answer.
func (x *Exchange) answerEnd() int64 {
	if x.in == nil || x.head == nil || x.body == nil || x.err.Type == ErrTimeout || x.err.Type == ErrCancelled || !x.body.ended && !x.reported {
		return 0
	}
	return x.in.at
}

// fill completes the record.
func (x *Exchange) fill() {
	var state tcpState
	switch {
	case x.stream != nil:
		state = x.stream.conn.k.tcpState()
	case x.conn != nil:
		state = x.conn.settle()
	}
	if x.in != nil {
		x.packetsOver()
		x.refineLast(state)
	}
	r, t := x.rec, new(record.Trace) // allocated, because the record outlives the exchange and its connection
	*t = x.trace
	t.Host = x.req.Target.host
	r.WallOffset = clock.Wall(0)
	r.Start = x.start
	r.RequestHeaders, r.Payload = x.req.Headers, x.req.Body
	r.Error = x.err
	if k := x.socket(); k != nil {
		t.LocalIP, t.LocalPort, t.RemoteIP, t.RemotePort = k.localIP, k.localPort, k.remoteIP, k.remotePort
		t.Path = x.path(state)
		k := x.in
		t.Reads, t.ReadDelaySum, t.ReadDelayMax, t.LastByteDelayMax = k.reads, k.delaySum, k.delayMax, k.lastMax
		if r.End = k.at; x.ended != 0 {
			r.End = x.ended
		} else if k.clock == record.UserClock {
			t.EndUncertainNs = k.earliest()
		}
		if t.HeadersReceived != 0 && t.SendEnd > t.HeadersReceived {
			t.SendEnd = t.HeadersReceived // the answer's stamp comes from the kernel and may precede the return of the write
		}
		t.HeadersSent = t.SendEnd
		t.SendUncertainNs = x.sendUncertainty(t)
	}
	if x.err != nil {
		t.AnswerEnd, t.EndUncertainNs = x.answerEnd(), 0
		r.End = max(clock.Now(), x.start+1)
		if t.ErrorAt == 0 {
			t.ErrorAt = r.End
		}
		switch {
		case x.cancel:
			r.CancelledAt = r.End
			r.Cut = context.Cause(x.ctx).Error()
		case r.CancelledAt != 0: // cancelled on purpose: the request ended at that instant
			r.End = max(r.CancelledAt, x.start+1)
			r.CancelledAt = r.End
		}
		switch {
		case x.in == nil:
		case t.AnswerEnd == 0:
			t.EndUncertainNs = x.in.lateness(r.End)
		case x.in.clock == record.UserClock:
			t.EndUncertainNs = x.in.earliest()
		}
	}
	r.Trace = t
	if a := x.arena; a != nil {
		r.Messages = a.messages
		t.FirstUncertainNs, t.GapUncertainNs = Uncertainty(a.messages, a.marks)
		r.OnRelease(a.free)
	}
}
