package transport

import (
	"slices"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// Request is a request to send. It is not changed, and may be sent again once it was answered.
type Request struct {
	Target  *Target
	Method  string          // "" = POST
	Headers []record.Header // in wire order and spelling; the client itself adds Host and Content-Length
	Body    record.Body     // must not change until the record is released

	Session  string // id of the session, for sticky connections
	LastTurn bool   // the session has no further request

	WarmUp bool // exclude the delays of its reads from the statistics

	// Armed means that Prepare runs ahead of the intended instant, and Send stamps the start. Otherwise Prepare stamps it, before any wait for a
	// connection, as the measurement contract requires.
	Armed bool

	Cancel      bool          // cancel the request once it is sent
	CancelAfter time.Duration // this long after the last byte of the body was written

	// Urgent means that something waits for the first messages, so they must be passed on as soon as they arrive.
	Urgent bool

	Framing framing.Format // of answers that stream; nil = server-sent events

	KeepBinary bool // keep the bytes of image, audio and video bodies, not only their size
}

// format is the framing of answers that stream.
func (r *Request) format() framing.Format { return framing.OrSSE(r.Framing) }

// streams reports whether a body of a media type is a stream of messages.
func (r *Request) streams(mediaType string) bool {
	return slices.Contains(r.format().Media(), mediaType)
}

// OnMessage is called whenever a message has arrived, with all messages so far. An error means that the server reports a failure: the message is
// dropped, reading ends, and the request fails with this error.
type OnMessage func(all []record.Message) *record.Error
