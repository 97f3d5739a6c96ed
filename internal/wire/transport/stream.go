package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// Limits that no option changes.
const (
	maxCounted   = 1 << 30  // bytes of a body that is counted but not kept
	maxErrorBody = 1 << 20  // bytes of an error's body that are read
	lineShare    = 64       // bytes of MaxResponse for each line of its events
	keptAfterEnd = 64 << 10 // bytes of a stream that are kept after its end mark, because usage may follow it; further bytes are only counted
)

// errTruncated reports an answer whose end is marked only by the end of its connection, where TLS did not end first. Such an answer may be incomplete (RFC
// 9112, section 9.8).
var errTruncated = &formatError{ErrPayload, "Response payload is not completed: the TLS connection was cut without close_notify"}

// EventShare is the number of bytes of MaxResponse that each event of a stream counts at least. The record of an event takes about as much.
const EventShare = 128

// keptTooLarge is how many bytes of events are kept of an answer that was too large.
const keptTooLarge = 1 << 20

// readStream reads the messages of a stream. Every message gets the stamp of the read that completed it.
func (x *Exchange) readStream(src source, onMessage OnMessage) error {
	a := newArena()
	x.arena = a
	f := x.req.format().Framer()
	after := 0 // bytes since the read that brought the end mark
	lines := 0 // lines of complete messages
	reads := readCounter{pace: x.client.pace, fills: x.in.fills}
	for {
		span, err := src.next()
		reads.next(x.in.fills, x.body.clean)
		x.settleTail()
		if errors.Is(err, io.EOF) && x.body.truncated && x.doneMark == 0 {
			return errTruncated
		}
		if errors.Is(err, io.EOF) {
			if a.cur != nil && after <= keptAfterEnd {
				if s, ok := f.Finish(a.cur.buf); ok {
					x.message(a.cur.buf[s.Start:s.End:s.End], s.Lines == 1, x.endPosition(), onMessage)
				}
			}
			return nil
		}
		if err != nil {
			return err
		}
		x.gotBytes(len(span))
		if err := x.tooLarge("stream"); err != nil {
			return err
		}
		if x.doneMark != 0 {
			if after += len(span); after > keptAfterEnd {
				continue // count only
			}
		}
		all, moved := a.add(span, f.Pending())
		f.Rebase(moved)
		before := len(a.messages)
		for s, ok := f.Next(all); ok; s, ok = f.Next(all) {
			lines += s.Lines
			if !x.message(all[s.Start:s.End:s.End], s.Lines == 1, x.position(len(all)-f.Pending()), onMessage) {
				return nil
			}
		}
		if most := x.client.opt.MaxResponse / lineShare; int64(lines+f.PendingLines()) > most {
			return x.shortened(fmt.Sprintf("The events of the stream have more than %d lines (one for %d bytes of AIPERF_HTTP_MAX_RESPONSE_BYTES)", most, lineShare))
		}
		pending := len(all) - f.Pending()
		if pending > framing.MaxMessage {
			return &formatError{ErrPayload, fmt.Sprintf("A message of the stream is larger than %d bytes", framing.MaxMessage)}
		}
		if x.doneMark == 0 { // servers often write the end mark together with the last message
			reads.messages(len(a.messages)-before, pending > 0)
		}
		x.spanOver(len(a.messages)-before, pending > 0)
	}
}

// tooLarge returns an error if an answer has grown beyond the limit.
func (x *Exchange) tooLarge(what string) error {
	limit := x.client.opt.MaxResponse
	switch {
	case int64(x.trace.BytesReceived) > limit:
		return x.shortened(fmt.Sprintf("The %s is larger than %d bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES)", what, limit))
	case int64(len(x.arena.messages)) > limit/EventShare:
		return x.shortened(fmt.Sprintf("The %s has more than %d events (one for %d bytes of AIPERF_HTTP_MAX_RESPONSE_BYTES)", what, limit/EventShare, EventShare))
	}
	return nil
}

// shortened returns the error of an answer that is too large, of which the first part is kept. After its end mark an answer has not failed.
func (x *Exchange) shortened(text string) error {
	if x.doneMark == 0 {
		x.askPackets() // answer the queries about messages that are dropped
		x.arena.shorten(keptTooLarge)
	}
	return &formatError{ErrPayload, text}
}

// message processes one message that ended at an offset of the stream. false = the server reports an error and reading ends.
func (x *Exchange) message(raw []byte, single bool, end uint64, onMessage OnMessage) bool {
	a, at := x.arena, x.in.at
	a.messages = append(a.messages, x.stamped(record.Message{Raw: raw, Line: single}))
	if x.fails(onMessage) {
		x.share(&a.messages[len(a.messages)-1], false)
		a.messages = a.messages[:len(a.messages)-1]
		return false
	}
	x.note(int32(len(a.messages)-1), end)
	last, mark := x.req.format().Ends(raw)
	if mark {
		a.marks = append(a.marks, len(a.messages)-1)
	}
	if last && x.doneMark == 0 {
		x.mu.Lock()
		x.doneMark = at
		x.armRead()
		x.mu.Unlock()
	}
	return true
}

// fails passes the messages so far to onMessage; true = it ends the request.
func (x *Exchange) fails(onMessage OnMessage) bool {
	if onMessage == nil {
		return false
	}
	failure := onMessage(x.arena.messages)
	if failure != nil {
		x.err = newError(failure.Type, failure.Code, failure.Message)
		x.reported = true
	}
	return failure != nil
}

// readBody reads a whole body as one message.
func (x *Exchange) readBody(src source, onMessage OnMessage) error {
	if err := x.strayBytes(); err != nil {
		return err
	}
	h := x.head
	m := record.Message{Body: true}
	octets := h.mediaType == "application/octet-stream"
	binary := octets || strings.HasPrefix(h.mediaType, "video/") || strings.HasPrefix(h.mediaType, "image/") ||
		strings.HasPrefix(h.mediaType, "audio/")
	body, size, err := x.collect(src, !binary || octets || x.req.KeepBinary)
	if err != nil {
		return err
	}
	if x.body.truncated && !json.Valid(body) {
		return errTruncated
	}
	x.arena.details = record.Details{ContentType: h.mediaType}
	m.Details = &x.arena.details
	m = x.stamped(m)
	last := x.tailOf(1)
	switch {
	case !binary:
		m.Raw = text(body, h.charset)
	case x.req.KeepBinary || octets && textual(body):
		m.Raw, m.Details.Size = body, size
	default:
		m.Details.Size = size
	}
	x.arena.messages = append(x.arena.messages, m)
	if x.body.kind != untilClose && len(x.body.buf) == 0 && !x.link.mayHaveMore() {
		x.markExact(last)
	} else {
		x.updateLastDelay()
	}
	x.note(0, x.endPosition())
	x.fails(onMessage)
	return nil
}

// textual reports whether a body with a binary media type nevertheless holds JSON.
func textual(b []byte) bool {
	t := bytes.TrimLeft(b, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[') && utf8.Valid(b)
}

// collect reads a body. Its bytes are kept in the arena or only counted.
func (x *Exchange) collect(src source, keep bool) (body []byte, size int, err error) {
	x.arena = newArena()
	if limit := x.client.opt.MaxResponse; keep && x.head.length > limit {
		return nil, 0, &formatError{ErrPayload, fmt.Sprintf("The body is larger than %d bytes (AIPERF_HTTP_MAX_RESPONSE_BYTES)", limit)}
	}
	for {
		span, err := src.next()
		if errors.Is(err, io.EOF) {
			return body, size, nil
		}
		if err != nil {
			return body, size, err
		}
		x.gotBytes(len(span))
		if size += len(span); size > maxCounted {
			return body, size, &formatError{ErrPayload, fmt.Sprintf("The body is larger than %d bytes", maxCounted)}
		}
		if keep {
			if err := x.tooLarge("body"); err != nil {
				return body, size, err
			}
			body, _ = x.arena.add(span, 0)
		}
	}
}

// readError reads the body of an error status. The message is what arrived of it, even if the server closed too early, took too long, or did not end
// the body.
func (x *Exchange) readError(src source) (err error) {
	x.mu.Lock()
	x.failMark = x.in.at
	x.armRead()
	x.mu.Unlock()
	var body []byte
	for err == nil && x.trace.BytesReceived < maxErrorBody {
		var span []byte
		if span, err = src.next(); err == nil {
			x.gotBytes(len(span))
			body = append(body, span[:min(len(span), maxKept-len(body))]...)
		}
	}
	if err != nil && isTimeout(err) && !x.errorWaitOver() {
		return err
	}
	h := x.head
	x.err = newError(h.kind(), h.status, string(text(body, h.charset)))
	if x.trace.BytesReceived > len(body) {
		x.err.Message += "…"
	}
	if h.status <= 399 && h.location != "" {
		x.err = newError(h.kind(), h.status, fmt.Sprintf("The redirect to %s is not followed", h.location))
	}
	return nil
}

// errorWaitOver reports whether a read ended because the time for the body of an HTTP error was over.
func (x *Exchange) errorWaitOver() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.cancelledByRun && x.readEnd() == x.failMark+x.client.doneWait
}

// strayWait is how long to wait for bytes that should not come.
const strayWait = 5 * time.Millisecond

// strayBytes looks for a body after a success that announced none. Such a server contradicts itself, and its answer must not count as an empty one.
// The instant of the answer is already stamped.
func (x *Exchange) strayBytes() error {
	if x.body.kind != fixedLength || x.body.size != 0 {
		return nil
	}
	stray := x.body.buf
	if len(stray) == 0 && !x.in.sealed {
		last := x.in.arrival
		x.link.readBy(clock.Now() + int64(strayWait))
		stray, _ = x.link.fill()
		x.in.arrival = last
	}
	if len(stray) > 0 {
		return malformed("Bytes after a complete answer: %s", quote(stray))
	}
	return nil
}
