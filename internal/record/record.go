// Package record is the raw timeline of one request: who it was, what was sent, what came back and when. Plain data: the transport
// fills it, endpoints and metrics read it, artifacts write it down.
//
// Instants are int64 ns as package clock counts them (monotonic); 0 means "did not happen". Record.Wall converts them.
package record

// Record is one finished request.
type Record struct {
	Meta

	// WallOffset is wall time (Unix ns) minus monotonic ns, one pair for the whole record.
	WallOffset int64

	// Schedule. Intended is 0 in closed-loop modes, where no instant was asked for.
	Intended int64 // the instant at which the arrival process wanted the request to leave
	Issued   int64 // the instant at which the load generator let it go (slots obtained)

	// Wire.
	Start       int64 // just before the HTTP exchange (before any connect); origin of every wire latency
	Ack         int64 // response headers of a 2xx status complete
	End         int64 // last message, failure or cancellation
	CancelledAt int64 // the client cut the request
	// Cut says why the run itself ended the request (deadline, interrupt); such a request is listed but is in no metric. "" = it did not.
	Cut string

	Status          int // HTTP status, 0 = none
	RequestHeaders  []Header
	ResponseHeaders []Header
	Payload         Body       // request body as sent
	Messages        []Message  // in order of arrival
	Exchanges       []Exchange // those that followed the first (polls, downloads); nil = there was one
	Error           *Error     // nil = the transport saw no error
	Trace           *Trace     // nil = no socket-level instants (imported records)

	release  func()
	attached any
}

// Meta says which request of the run a record is. It is what the exports call metadata.
type Meta struct {
	BenchmarkID    string // of the run, in records that were read from an export; "" = unknown
	SessionNum     int64  // number of the request in its phase, in issue order from 0
	RequestID      string // X-Request-ID
	CorrelationID  string // X-Correlation-ID, constant in a session
	ParentID       string // correlation id of the session that started this one, "" = it was drawn
	RootID         string // correlation id of the drawn session that led to this one, "" = itself
	Depth          int    // sessions between it and this one: 0 = it is that one
	ConversationID string
	TurnIndex      int
	Model          string // the model that the request named
	URLIndex       int
	WorkerID       string
	ProcessorID    string
	Warmup         bool
	PhaseIndex     int // over all phases
	ProfilingIndex int // over profiling phases; -1 in warm-up
	PhaseName      string
	MaxTokens      int      // output length asked for, 0 = not asked
	LengthInBody   bool     // the body came ready or has extras: the output length that it names counts
	TurnTimestamp  *float64 // ms, trace time of the turn, fixed schedules
	AudioSeconds   float64  // length of the first clip that was sent, in s; 0 = none, or not known
}

// Wall converts an instant of this record to Unix ns.
func (r *Record) Wall(at int64) int64 { return at + r.WallOffset }

// WasCancelled tells whether the client cut the request.
func (r *Record) WasCancelled() bool { return r.CancelledAt != 0 }

// OnRelease registers what gives the record's pooled bytes back.
func (r *Record) OnRelease(f func()) { r.release = f }

// Release gives the record's pooled bytes back; Messages, Payload and texts cut from them must not be used afterwards.
func (r *Record) Release() {
	if r.release != nil {
		f := r.release
		r.release = nil
		f()
	}
}

// Follow takes in an exchange that followed: its messages, its end and, if it failed, its error. The bytes of both are released together.
func (r *Record) Follow(method, url string, x *Record) {
	e := Exchange{Method: method, URL: url, Start: x.Start, Ack: x.Ack, End: x.End, Status: x.Status}
	if x.Trace != nil {
		e.Bytes = x.Trace.BytesReceived
	}
	r.Exchanges = append(r.Exchanges, e)
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], x.Messages...)
	r.End, r.Status, r.Error, r.CancelledAt, r.Cut = x.End, x.Status, x.Error, x.CancelledAt, x.Cut
	release := r.release
	r.release = func() {
		if release != nil {
			release()
		}
		x.Release()
	}
}

// Attach keeps with the record what was already made of its messages, for whoever reads it next. It does not survive a file.
func (r *Record) Attach(v any) { r.attached = v }

// Attached is what Attach was given; nil = nothing.
func (r *Record) Attached() any { return r.attached }

// Exchange is one of several exchanges of a request. Instants as in a Record.
type Exchange struct {
	Method, URL     string
	Start, Ack, End int64
	Status          int
	Bytes           int // of the body
}

// Header is one HTTP header, spelled as sent or received.
type Header struct{ Name, Value string }

// Message is one server-sent event or one whole response body.
type Message struct {
	At int64 // instant of the arrival that completed it, by Clock
	// UncertainNs is by how many ns the message may have arrived before At. It shared its read with later bytes, and the stamp of a read is
	// that of its last byte; or the client took the instant itself. The message came after the last instant at which its connection is known
	// to have held no unread bytes, and after the request was sent. 0 = At is the arrival, as exactly as Clock says it.
	UncertainNs int64
	Clock       Clock
	Body        bool   // a whole body, not an event
	Line        bool   // Raw is one line
	Raw         []byte // the event's lines without the empty line that ends it, or the decoded body
	// Fields of an event that was read from an export instead of a wire; nil = parse Raw (package sse).
	Fields      []Field
	ContentType string // of a body
	Size        int    // bytes of a binary body whose content was not kept (Raw nil)
}

// Field is one line of an event.
type Field struct{ Name, Value string }

// Error is what went wrong with a request. Equal code, type and message make one group in the error summary.
type Error struct {
	Code    int    // HTTP status or 499; 0 = none
	Type    string // class of the failure, spelled as the Python tool does (transport, section 8.1)
	Message string
	Cause   string
	Chain   []string
	// Local tells that a limit of this machine caused the failure: files, ports, memory of sockets.
	Local bool
}

// Trace holds the socket-level instants of one request (0 = did not happen) and byte counts.
type Trace struct {
	PoolWaitStart, PoolWaitEnd int64
	DNSStart, DNSEnd           int64
	DNSCacheHit                int64
	ConnectStart, ConnectEnd   int64 // TLS handshake included
	Reused                     int64 // instant at which an idle connection was taken
	SendStart, HeadersSent     int64
	SendEnd                    int64
	HeadersReceived            int64
	FirstChunk, LastChunk      int64 // body bytes
	ErrorAt                    int64
	ChunksSent, BytesSent      int    // body
	ChunksReceived             int    // reads that brought body bytes
	BytesReceived              int    // body bytes after content decoding
	Host                       string // Host header as sent
	StatusReason               string
	LocalIP, RemoteIP          string
	LocalPort, RemotePort      int

	// Client's own delay. The sum of (user-space read instant - stamp of the read's last byte), over Reads reads with a stamp; the
	// longest that a byte may have waited to be read, its earliest possible arrival taken.
	Reads                      int
	ReadDelaySum, ReadDelayMax int64
	LastByteDelayMax           int64 // the longest that the last byte of a read waited
	Path                       Path
	// SharedReads counts messages that share their read with a later one: their instant is an upper bound, unless it is a packet's.
	SharedReads int
	// Spans: only the lengths of the parts are known, not where they lie (an export of the Python tool without trace_data).
	Spans bool
	// SpanNs is then the length of the whole exchange as that tool has it, which its parts need not make up; 0 = not said.
	SpanNs int64
	// FirstUncertainNs is the uncertainty of the first message, GapUncertainNs the largest of any gap between two events, which may
	// be wrong by that much in either direction; the end mark of a stream is no event here. ns, 0 = certain.
	FirstUncertainNs, GapUncertainNs int64
	// SendUncertainNs is by how much later than SendStart (gRPC: than Start) the request may have left, ns: the time that its write took,
	// without the time in which the network or the server set the pace. 0 = 50 µs or less.
	SendUncertainNs int64
}

// Path is what the kernel told of a request's TCP connection when the request ended (Linux: TCP_INFO).
type Path struct {
	Known       bool
	SmoothedRTT int64 // ns: the kernel's average of what acknowledgements took
	Window      int   // congestion window: segments of ours that may be on their way at once
	// Segments, since the request got the connection: of ours, sent again because they were lost; of the server's, received ahead of an earlier one, which was lost
	// or overtaken.
	Resent, Unordered int
}

// Shift moves every instant of the trace that happened.
func (t *Trace) Shift(by int64) {
	for _, at := range t.instants() {
		if *at != 0 {
			*at += by
		}
	}
}

// instants are the fields that hold instants.
func (t *Trace) instants() []*int64 {
	return []*int64{
		&t.PoolWaitStart, &t.PoolWaitEnd, &t.DNSStart, &t.DNSEnd, &t.DNSCacheHit, &t.ConnectStart, &t.ConnectEnd, &t.Reused,
		&t.SendStart, &t.HeadersSent, &t.SendEnd, &t.HeadersReceived, &t.FirstChunk, &t.LastChunk, &t.ErrorAt,
	}
}
