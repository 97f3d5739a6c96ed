// Package record defines the raw timeline of one request: its identity, what was sent, what was received and when. It is plain data: the transport
// fills it, endpoints and metrics read it, artifacts write it to files.
//
// Instants are int64 ns as in package clock (monotonic); 0 means "did not happen". Record.Wall converts them.
package record

// Record is one finished request.
type Record struct {
	Meta

	// WallOffset is wall time (Unix ns) minus monotonic ns, one pair for the whole record.
	WallOffset int64
	// ClockOffset is what the wall clock of the sending machine is ahead of its controller's, in ns. All instants here are on the controller's clock
	// already. 0 = the record is not from one of several machines.
	ClockOffset int64

	// Schedule. Intended is 0 in closed-loop modes, which have no intended send times.
	Intended int64 // intended send time of the arrival process
	Issued   int64 // time at which the load generator released the request (slots obtained)

	// Wire.
	Start       int64 // just before the HTTP exchange (before any connect); origin of every wire latency
	Ack         int64 // end of the response headers of a 2xx status
	End         int64 // last message, failure or cancellation
	CancelledAt int64 // cancellation by the client
	// Cut is why the run itself stopped the request (deadline, interrupt). Such a request is listed but is not part of any metric. "" = it was not
	// stopped.
	Cut string

	Status          int // HTTP status, 0 = none
	RequestHeaders  []Header
	ResponseHeaders []Header
	Payload         Body       // request body as sent
	Messages        []Message  // in order of arrival
	Exchanges       []Exchange // exchanges after the first (polls, downloads); nil = there was one exchange
	Error           *Error     // nil = the transport saw no error
	Trace           *Trace     // nil = no socket-level instants (imported records)

	// Counted is a text that the request probably consists of, if its tokens were counted when it was generated. The binary form does not include it.
	Counted CountedText

	// Reading is the decoding of the messages, if it began while they arrived; nil = not begun. The binary form does not include it.
	Reading Reading

	release func()
}

// CountedText is a text with its number of tokens for the tokenizer of the run's first model.
type CountedText struct {
	Text   string
	Tokens int // 0 = unknown
}

// Reading decodes the messages of a record, each once. It may begin while they arrive.
type Reading interface {
	// Finish decodes the remaining messages and returns the answer. The error is the reason why the request failed; nil = it is valid.
	Finish(rec *Record) (*Reply, *Error)
}

// Meta identifies a request of the run. Exports call it metadata.
type Meta struct {
	BenchmarkID    string // id of the run, in records read from an export; "" = unknown
	SessionNum     int64  // number of the request in its phase, in issue order from 0
	RequestID      string // X-Request-ID
	CorrelationID  string // X-Correlation-ID, constant in a session
	ParentID       string // correlation id of the session that started this one; "" = it was drawn from the data set
	RootID         string // correlation id of the drawn session from which this one descends; "" = itself
	Depth          int    // number of generations after that session: 0 = it is that session
	ConversationID string
	TurnIndex      int
	Model          string // model name in the request
	URLIndex       int
	WorkerID       string
	ProcessorID    string
	Warmup         bool
	PhaseIndex     int // index over all phases
	ProfilingIndex int // index over profiling phases; -1 in warm-up
	PhaseName      string
	MaxTokens      int      // requested output length, 0 = none
	LengthInBody   bool     // the body was given or has extra members, so the output length in it applies
	TurnTimestamp  *float64 // ms, time of the turn in the trace, for fixed schedules
	AudioSeconds   float64  // length of the first audio clip sent, in s; 0 = none, or unknown
}

// Wall converts an instant of this record to Unix ns.
func (r *Record) Wall(at int64) int64 { return at + r.WallOffset }

// WasCancelled reports whether the client cancelled the request.
func (r *Record) WasCancelled() bool { return r.CancelledAt != 0 }

// OnRelease registers the function that returns the record's pooled bytes.
func (r *Record) OnRelease(f func()) { r.release = f }

// Release returns the record's pooled bytes to their pool. Messages, Payload and texts that share their memory must not be used afterwards.
func (r *Record) Release() {
	if r.release != nil {
		f := r.release
		r.release = nil
		f()
	}
}

// FoundLate records that what the last message reports may have happened up to a number of ns before it arrived.
func (r *Record) FoundLate(by int64) {
	if n := len(r.Messages); n > 0 {
		r.Messages[n-1].UncertainNs = max(r.Messages[n-1].UncertainNs, by)
	}
}

// Follow appends a further exchange: its messages, its end and, if it failed, its error. The bytes of both are released together.
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

// Exchange is one of several exchanges of a request. Its instants are as in a Record.
type Exchange struct {
	Method, URL     string
	Start, Ack, End int64
	Status          int
	Bytes           int // size of the body
}

// Header is one HTTP header, with its original spelling.
type Header struct{ Name, Value string }

// Message is one server-sent event or one whole response body.
type Message struct {
	At int64 // time of the arrival that completed it, by Clock
	// UncertainNs is by how many ns the message may have arrived before At. It shared its read with later bytes, because the timestamp of a read is
	// that of its last byte; or the client took the timestamp itself. The message arrived after the last instant at which its connection had no
	// unread bytes, and after the request was sent. 0 = At is the arrival, as precisely as Clock allows. The answer to a poll is uncertain back to the
	// poll before it.
	UncertainNs int64
	Clock       Clock
	Body        bool     // a whole body, not an event
	Line        bool     // Raw is a single line
	Shared      bool     // as far as is known, bytes that followed the message came in the same read
	Raw         []byte   // the event's lines without the empty line that ends it, or the decoded body; nil while IsPacked
	Details     *Details // what most messages do not have; nil = none of it

	packed *Packed // holds the bytes of an event that has no Raw now; nil = Raw is all there is
}

// Details are what only bodies, and events from exports, have. Millions of events wait in memory without them.
type Details struct {
	Fields      []Field // of an event read from an export instead of the network; nil = parse Raw (package framing)
	ContentType string  // of a body
	Size        int     // of a binary body whose content was not stored (Raw nil)
}

// Fields returns the fields of an event read from an export; nil = parse Raw (package framing).
func (m *Message) Fields() []Field {
	if m.Details == nil {
		return nil
	}
	return m.Details.Fields
}

// ContentType returns the content type of a body; "" = unknown.
func (m *Message) ContentType() string {
	if m.Details == nil {
		return ""
	}
	return m.Details.ContentType
}

// Size returns the size, in bytes, of a binary body whose content was not stored (Raw nil); 0 = it was.
func (m *Message) Size() int {
	if m.Details == nil {
		return 0
	}
	return m.Details.Size
}

// Field is one line of an event.
type Field struct{ Name, Value string }

// PlannedCancellation is the type of the error of a request that was cancelled because the run was asked to cancel some of its requests.
const PlannedCancellation = "RequestCancellationError"

// ClientTimeout is the type of the error of a request whose answer did not arrive within the client's own timeout.
const ClientTimeout = "TimeoutError"

// Error describes the failure of a request. Errors with equal code, type and message form one group in the error summary.
type Error struct {
	Code    int    // HTTP status or 499; 0 = none
	Type    string // class of the failure, spelled as in the Python tool (transport, section 8.1)
	Message string
	Cause   string
	Chain   []string
	// Local means that a limit of this machine caused the failure: files, ports, socket memory.
	Local bool
}

// Trace holds the socket-level instants of one request (0 = did not happen) and byte counts.
type Trace struct {
	PoolWaitStart, PoolWaitEnd int64
	DNSStart, DNSEnd           int64
	DNSCacheHit                int64
	ConnectStart, ConnectEnd   int64 // TLS handshake included
	Reused                     int64 // time at which an idle connection was taken
	SendStart, HeadersSent     int64
	SendEnd                    int64
	HeadersReceived            int64
	FirstChunk, LastChunk      int64 // body bytes
	ErrorAt                    int64
	ChunksSent, BytesSent      int    // body
	ChunksReceived             int    // number of reads with body bytes
	BytesReceived              int    // body bytes after content decoding
	Host                       string // Host header as sent
	StatusReason               string
	LocalIP, RemoteIP          string
	LocalPort, RemotePort      int

	// Client's own delay: the sum of (read time in user space - timestamp of the read's last byte) over Reads reads with a timestamp, and the longest
	// time that a byte may have waited to be read, based on its earliest possible arrival.
	Reads                      int
	ReadDelaySum, ReadDelayMax int64
	LastByteDelayMax           int64 // longest wait of the last byte of a read
	Path                       Path
	// SharedReads counts messages that share their read with a later one. Their timestamp is an upper bound, unless it comes from a packet.
	SharedReads int
	// Spans means that only the durations of the parts are known, not their instants (an export of the Python tool without trace_data).
	Spans bool
	// SpanNs is then that tool's duration of the whole exchange, which may differ from the sum of its parts; 0 = unknown.
	SpanNs int64
	// FirstUncertainNs is the uncertainty of the first message. GapUncertainNs is the largest uncertainty of a gap between two events, in either
	// direction; the end mark of a stream is not an event here. ns, 0 = certain.
	FirstUncertainNs, GapUncertainNs int64
	// SendUncertainNs is by how many ns the request may have been sent after SendStart (gRPC: after the call of Send): the duration of its write, without the
	// time in which the network or the server limited the speed. 0 = 50 µs or less.
	SendUncertainNs int64
	// EndUncertainNs is by how many ns the end of the answer may have arrived before the record's End, because the client took that timestamp itself. 0 =
	// another clock took it. Of a request that the client gave up it is by how much its wait may have been shorter: bytes arrived too late to count.
	EndUncertainNs int64
	// AnswerEnd is the instant at which the answer of a failed request ended; 0 = it did not, or the request did not fail. Files do not have it.
	AnswerEnd int64
}

// Path holds the kernel's statistics of a request's TCP connection at the end of the request (Linux: TCP_INFO).
type Path struct {
	Known       bool
	SmoothedRTT int64 // ns: the kernel's smoothed round-trip time
	Window      int   // congestion window: maximum number of our segments in flight
	// Segments since the request got the connection: ours that were retransmitted after a loss, and the server's that arrived before an earlier one,
	// which was lost or reordered.
	Resent, Unordered int
}

// Shift adds by to every instant of the trace that happened.
func (t *Trace) Shift(by int64) {
	for _, at := range t.instants() {
		if *at != 0 {
			*at += by
		}
	}
}

// instants returns the fields that contain instants.
func (t *Trace) instants() []*int64 {
	return []*int64{
		&t.PoolWaitStart, &t.PoolWaitEnd, &t.DNSStart, &t.DNSEnd, &t.DNSCacheHit, &t.ConnectStart, &t.ConnectEnd, &t.Reused,
		&t.SendStart, &t.HeadersSent, &t.SendEnd, &t.HeadersReceived, &t.FirstChunk, &t.LastChunk, &t.ErrorAt,
	}
}
