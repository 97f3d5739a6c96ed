// Package framing splits a streamed answer into messages. A Format finds the end of each message in the bytes and parses messages. It also knows
// which message ends the stream and which may report a failure. An endpoint type names its format in its row of the catalogue. The package reads no
// sockets and no clock.
package framing

import "aiperf/internal/measure/record"

// MaxMessage is the size in bytes above which an unfinished message is an error.
const MaxMessage = 256 << 20

// Format is the framing of one kind of stream. A Format is stateless and safe for concurrent use. raw is always a message that a Framer of the format
// has cut; line means that it has one line (Span.Lines == 1).
type Format interface {
	// Media lists the media types of answers in this format. Requests for a stream accept the first one.
	Media() []string
	// Framer returns a framer for the start of a stream.
	Framer() Framer
	// Ends reports whether a message ends the stream, so that nothing after it counts, and whether it is a mark without content.
	Ends(raw []byte) (last, mark bool)
	// MayFail reports whether a message may report a failure. It is a cheap test for every message: false is certain, true is not.
	MayFail(raw []byte, line bool) bool
	// Data returns the document of a message that holds nothing else, without surrounding white space. It points into raw. ok is false if the message
	// needs Parse.
	Data(raw []byte, line bool) (doc []byte, ok bool)
	// Parse splits a message into the fields of an Event.
	Parse(e *Event, raw []byte)
	// Unlabelled reports whether a body with another media type is a stream in this format.
	Unlabelled(body []byte) bool
	// Failure returns the error type of a failure that the server reports in the stream.
	Failure() string
}

// Framer finds the messages of one stream in a growing buffer that the caller owns. It scans every byte once, however the stream is cut.
type Framer interface {
	// Next returns the next complete message of buf. buf must begin with the bytes of earlier calls (except those that Rebase removed).
	Next(buf []byte) (Span, bool)
	// Finish returns the message that the end of the stream left unterminated, if there is one. Call it after Next has returned false.
	Finish(buf []byte) (Span, bool)
	// Pending returns the index of the first byte that the caller must keep; the framer no longer needs the bytes before it.
	Pending() int
	// PendingLines returns the number of lines of the unfinished message.
	PendingLines() int
	// Rebase tells the framer that the caller has dropped the first n bytes of the buffer (n <= Pending).
	Rebase(n int)
}

// Span is a message inside the caller's buffer, without the separator after it.
type Span struct {
	Start, End int
	Lines      int // number of non-empty lines, at least 1
}

// OrSSE returns the format, or SSE if it is nil: endpoint types that name no format stream server-sent events.
func OrSSE(f Format) Format {
	if f == nil {
		return SSE
	}
	return f
}

// Take parses a message of a record. Messages that were read from an export already have their fields.
func Take(f Format, e *Event, m *record.Message) {
	if m.Fields() == nil {
		f.Parse(e, m.Raw)
		return
	}
	e.Reset()
	for _, field := range m.Fields() {
		e.Add(field.Name, field.Value)
	}
}
