package transport

import (
	"time"

	"aiperf/internal/record"
)

// Request is what is to be sent. It is not changed, and may be sent again once it was answered.
type Request struct {
	Target  *Target
	Method  string          // "" = POST
	Headers []record.Header // in wire order and spelling; Host and Content-Length are the client's
	Body    record.Body     // must not change until the record is released

	Session  string // identity of the session, for sticky connections
	LastTurn bool   // no request of the session follows

	WarmUp bool // the delays of its reads are in no statistics

	// Armed tells that Prepare runs ahead of the intended instant: the start is stamped by Send. Otherwise it is stamped by
	// Prepare, before any wait for a connection, as the measurement contract says.
	Armed bool

	Cancel      bool          // cut the request once it is sent
	CancelAfter time.Duration // this long after the last byte of the body was written

	KeepBinary bool // keep the bytes of image, audio and video bodies, not only their size
}

// OnMessage is called whenever a message has come, with all of them so far. An error says that the server reports a failure: the message is
// not kept, the reading ends, and the request fails with it.
type OnMessage func(all []record.Message) *record.Error
