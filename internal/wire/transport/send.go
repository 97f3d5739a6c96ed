package transport

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

// staleAfter is the age, in ns, above which a prepared connection is checked again before the write.
const staleAfter = int64(50 * time.Microsecond)

// errStale reports that an idle connection died between Prepare and Send; nothing was written.
var errStale = errors.New("idle connection closed by the server")

// Send stamps the start of an armed request and writes what the socket accepts at once. It never waits, so that a scheduler may call it on its own
// thread. Receive sends the rest.
func (x *Exchange) Send() {
	if x.err != nil {
		if x.start == 0 {
			x.start = clock.Now()
		}
		return
	}
	early, refused := x.answeredAlready()
	stale := early == "" && !refused && x.conn != nil && clock.Now()-x.ready > staleAfter && !x.conn.alive()
	now := clock.Now()
	if x.req.Armed {
		x.start = now
		x.deadline = x.client.deadline(now)
	}
	switch {
	case early != "": // a new connection would behave the same; only an idle one is replaced
		x.err = newError(ErrResponse, 0, early)
	case stale:
		x.sendErr = errStale
	default:
		x.push(now)
	}
}

// answeredAlready reports whether a new connection brought bytes before anything was sent. A failure may come early: a server that sheds load, or
// that refuses bodies of this length, may answer at any time. Such a failure counts as the answer (refused). An early success is an error (early says
// which), because its latencies would measure nothing.
func (x *Exchange) answeredAlready() (early string, refused bool) {
	if x.trace.Reused != 0 || x.stream != nil {
		return "", false
	}
	var b [len("HTTP/1.1 5")]byte
	head := x.conn.peekUnrequested(b[:])
	if len(head) == 0 {
		return "", false
	}
	refused = len(head) == len(b) && bytes.HasPrefix(head, []byte("HTTP/1.")) && (head[9] == '4' || head[9] == '5')
	switch {
	case refused:
		return "", true
	case startsHTTP2(head):
		return speaksHTTP2, false
	}
	return "The response came before its request was sent", false
}

// push begins sending at an instant.
func (x *Exchange) push(now int64) {
	if x.stream != nil {
		x.pushStream(now)
		return
	}
	x.trace.SendStart = now
	x.conn.begin(now)
	x.conn.delays.disabled = x.req.WarmUp
	for rest := x.unsent(); len(rest) > 0; rest = x.unsent() {
		n, err := x.conn.tryWrite(rest)
		x.recordSent(n)
		if err != nil {
			x.sendErr = err
			return
		}
		if n < len(rest) {
			return
		}
	}
	x.allSent()
}

// unsent returns the next bytes for the socket: those of the request, or what TLS made of them.
func (x *Exchange) unsent() []byte {
	if x.conn.tls == nil {
		for len(x.out) == 0 && len(x.ranges) > 0 {
			x.out, x.ranges = x.ranges[0], x.ranges[1:]
		}
		return x.out
	}
	x.conn.outMu.Lock()
	defer x.conn.outMu.Unlock()
	return x.conn.out
}

// recordSent records that the socket accepted n more bytes.
func (x *Exchange) recordSent(n int) {
	if n > 0 {
		x.trace.ChunksSent++
	}
	if x.conn.tls == nil {
		x.out = x.out[n:]
		return
	}
	x.conn.outMu.Lock()
	defer x.conn.outMu.Unlock()
	x.conn.out = x.conn.out[n:]
}

// sendProgress is the state of sending when the socket stopped accepting bytes at once.
type sendProgress struct {
	began int64 // instant; 0 = the socket accepted everything
	busy  int64 // tcpState.busy at that instant
	paced int64 // ns of the rest during which the network or the server set the pace, not the client
}

// SureSend is the time, in ns, that sending may take without making the instant of the start uncertain.
const SureSend = 50_000

// sendUncertainty returns by how many ns after its start the request may have left. The request left between the two instants around its write. If
// the socket accepted it piece by piece, the time in which the connection had data to send is not the client's delay.
func (x *Exchange) sendUncertainty(t *record.Trace) int64 {
	if x.sent == 0 || t.SendStart == 0 {
		return 0
	}
	d := t.SendEnd - t.SendStart - x.sending.paced
	if d <= SureSend {
		return 0
	}
	return d
}

func (x *Exchange) allSent() {
	x.sent = clock.Now()
	if r := &x.sending; r.began != 0 {
		r.paced = min(max(0, x.socket().tcpState().busy-r.busy), x.sent-r.began)
	}
	x.trace.SendEnd = x.sent
	x.trace.BytesSent = x.req.Body.Len()
	x.link.acknowledge()
	x.freeRequest()
}

// freeRequest returns the buffers of the request to the pool.
func (x *Exchange) freeRequest() {
	if x.buffer != nil {
		requestPool.Put(x.buffer)
		x.buffer, x.out, x.ranges = nil, nil, nil
	}
	if x.conn != nil && x.conn.tls != nil {
		x.conn.outMu.Lock()
		if len(x.conn.out) == 0 {
			x.conn.out = nil
		}
		x.conn.outMu.Unlock()
	}
}

// requestPool holds the buffers in which requests are built.
var requestPool = sync.Pool{New: func() any { return new([]byte) }}

// resend replaces an idle connection that proved dead before any byte of the request was written.
func (x *Exchange) resend() {
	x.client.count.replaced.Add(1)
	x.freeRequest()
	if x.stream != nil {
		x.leaveStream(false)
	} else {
		x.conn.close()
		x.client.pool.release()
	}
	x.conn, x.sendErr, x.sent = nil, nil, 0
	x.connect(true)
	if x.err == nil {
		x.push(clock.Now())
	}
}

// writeRest continues where push stopped, in a separate goroutine, because the answer may come before the whole request is sent.
func (x *Exchange) writeRest() {
	defer close(x.sendOver)
	k := x.conn
	var err error
	for rest := x.unsent(); len(rest) > 0 && err == nil; rest = x.unsent() {
		var n int
		n, err = k.socket.Write(rest)
		x.recordSent(n)
	}
	x.restSent(err, func() { k.readBy(past) })
}

// restSent records how sending the rest ended. If its time is over, stop ends the wait for an answer.
func (x *Exchange) restSent(err error, stop func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err == nil {
		x.allSent()
		x.armRead()
		return
	}
	x.sendErr = err
	if isTimeout(err) && !x.stopSend {
		stop()
	}
}

// startRest starts writeRest if anything is left to send. Sending ends with the request's timeout, or with SendTimeout if the request is to be
// cancelled.
func (x *Exchange) startRest() {
	if x.sent != 0 || x.sendErr != nil {
		return
	}
	x.sending = sendProgress{began: clock.Now(), busy: x.socket().tcpState().busy}
	end := x.deadline
	if end == 0 && x.req.Cancel {
		end = x.trace.SendStart + int64(x.client.opt.SendTimeout)
	}
	if x.stream != nil {
		x.sendOver = make(chan struct{})
		go x.sendStreamRest(end)
		return
	}
	var at time.Time
	if end != 0 {
		at = wallTime(end)
	}
	x.conn.SetWriteDeadline(at)
	x.sendOver = make(chan struct{})
	go x.writeRest()
}

// endSending stops writeRest if it is still running, and waits for it.
func (x *Exchange) endSending() {
	if x.sendOver == nil {
		return
	}
	select {
	case <-x.sendOver:
	default:
		x.mu.Lock()
		x.stopSend = true
		x.mu.Unlock()
		if x.stream != nil {
			x.stream.conn.stop(x.stream)
		} else {
			x.conn.SetWriteDeadline(expired)
		}
		<-x.sendOver
	}
	x.sendOver = nil
	if x.conn != nil {
		x.conn.SetWriteDeadline(time.Time{})
	}
}
