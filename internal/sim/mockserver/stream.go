package mockserver

import (
	"strconv"
	"time"

	"aiperf/internal/base/jsontext"
)

// eventShape is the format of an API's events: the text between the head of an event and its words, and the text after the words.
type eventShape struct {
	object, streamObject string
	content              string
	after                string
	role                 string // first event, "" = none
	last                 string // start of the event with the finish reason
	pictures             bool   // each event holds an image, and nothing follows the last one
	reasons              bool   // supports reasoning
}

var chatShape = eventShape{
	object: "chat.completion", streamObject: "chat.completion.chunk", reasons: true,
	content: `"delta":{"content":"`, after: `"},"logprobs":null,"finish_reason":null}]`,
	role: `"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`,
	last: `"delta":{},"logprobs":null,"finish_reason":"`,
}

var imagesShape = eventShape{pictures: true}

var completionsShape = eventShape{
	object: "text_completion", streamObject: "text_completion",
	content: `"text":"`, after: `","logprobs":null,"finish_reason":null}]`,
	last: `"text":"","logprobs":null,"finish_reason":"`,
}

// sink receives bytes. try writes what the socket accepts without waiting and returns how much that was; write waits.
type sink interface {
	try(b []byte) (int, error)
	write(b []byte) error
}

// Outcomes other than the error kinds.
const (
	outcomeOK       = "ok"
	outcomeGone     = "client-gone"
	outcomeShutdown = "shutdown"
	outcomeBad      = "bad-request"
)

// stream is an unfinished answer. One goroutine at a time owns it: that of its connection, or the pacer.
type stream struct {
	sink   sink
	shape  *eventShape
	wire   *wire // nil = shape defines the format
	model  string
	opts   *Options
	ask    *requestedWork
	script script
	truth  *Truth
	logged bool // record the writes

	whole         []byte // complete body instead of events
	prefix        []byte // start of every event
	buf           []byte
	unsent        []byte // bytes that the socket did not accept at once
	next          int64  // instant at which the next event is due
	nextMade      int64  // instant of the next event to make, if events are lumped; 0 = not begun
	due           int64  // wall time at which the event in buf is due
	offset        int64  // wall time minus instant
	events        int    // number of content events made
	tokensLeft    int    // remaining visible tokens
	reasoningLeft int    // remaining reasoning tokens
	prompt        int    // prompt tokens
	cached        int    // prompt tokens from the prefix cache; -1 = not reported
	framed        bool   // chunked transfer coding
	ended         bool
	turned        bool   // the text has begun
	failed        string // reason for an early end, "" = none

	firstWrite int64         // wall time after the first content event, ns
	returned   chan struct{} // signals that the pacer returns the stream
}

// begin prepares the events.
func (st *stream) begin(id string, created int64, model string) {
	b := append(st.prefix[:0], `data: {"id":"`...)
	b = append(b, id...)
	b = append(b, `","object":"`...)
	b = append(b, st.shape.streamObject...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, created, 10)
	b = append(b, `,"model":`...)
	st.prefix = jsontext.AppendString(b, model)
	st.tokensLeft, st.reasoningLeft = st.script.tokens, st.script.reasoning
}

// step makes and writes the next event; the last one includes the end of the answer.
func (st *stream) step(wait bool) {
	if st.opts.Lump > 0 && st.whole == nil {
		st.lump(wait)
		return
	}
	st.due = st.next + st.offset
	st.buf = st.buf[:0]
	if st.whole != nil {
		st.buf = append(st.buf, st.whole...)
		st.ended = true
		st.send(1, st.truth.Tokens+st.truth.Reasoning, wait)
		return
	}
	if st.events == st.script.failAfter {
		st.breakOff(wait)
		return
	}
	tokens := st.event()
	if st.tokensLeft+st.reasoningLeft == 0 && st.events != st.script.failAfter {
		st.end()
	}
	st.next += int64(st.script.stretch(st.script.itl, st.opts.Jitter))
	st.send(1, tokens, wait)
}

// event appends the next content event to the buffer.
func (st *stream) event() (tokens int) {
	if st.shape.pictures {
		st.imageEvent()
		return 0
	}
	open, left, sum := st.shape.content, &st.tokensLeft, &st.truth.Tokens
	if st.reasoningLeft > 0 {
		open, left, sum = `"delta":{"`+st.opts.ReasoningField+`":"`, &st.reasoningLeft, &st.truth.Reasoning
	}
	tokens = min(*left, st.script.perEvent)
	*left -= tokens
	*sum += tokens
	st.events++
	at := st.open()
	after, last := st.wording(open, left == &st.reasoningLeft)
	if st.wire != nil && st.wire.ids {
		st.buf = st.ids(st.buf, tokens)
	} else {
		for range tokens {
			st.buf = append(st.buf, st.script.word()...)
		}
	}
	st.buf = append(st.buf, after...)
	if st.wire == nil && st.opts.Usage && (st.ask.perChunk || st.ask.usage && st.opts.UsageIn == usageEvery) {
		st.usage()
	}
	st.close(at, last)
	return tokens
}

// wording begins a content event. It returns the text after its words, and the text after the token counts that may follow.
func (st *stream) wording(open string, thought bool) (after, last string) {
	switch w := st.wire; {
	case w == nil:
		st.choice(open)
		return st.shape.after, "}"
	case thought:
		st.buf = append(st.buf, w.reasoning(st)...)
	default:
		if w.turn != "" && st.script.reasoning > 0 && !st.turned {
			st.buf = append(append(st.buf, w.turn...), "\n\n"...)
		}
		st.turned = true
		st.buf = append(st.buf, w.content(st)...)
	}
	return st.wire.after, ""
}

// end appends the finish reason, the usage if requested, the end mark and the end of the body.
func (st *stream) end() {
	if st.shape.pictures {
		if st.framed {
			st.buf = append(st.buf, "0\r\n\r\n"...)
		}
		st.ended = true
		return
	}
	if st.wire != nil {
		if st.wire.end != nil {
			st.close(st.open(), st.wire.end(st))
		}
		st.mark()
		return
	}
	at := st.open()
	st.choice(st.shape.last)
	st.buf = append(st.buf, st.script.finish...)
	st.buf = append(st.buf, `"}]`...)
	tells := st.opts.Usage && st.ask.usage
	if tells && st.opts.UsageIn != usageOwn {
		st.usage()
	}
	st.close(at, "}")
	if tells && st.opts.UsageIn == usageOwn {
		at = st.open()
		st.buf = append(st.buf, st.prefix...)
		st.buf = append(st.buf, `,"choices":[]`...)
		st.usage()
		st.close(at, "}")
	}
	st.mark()
}

// mark appends the end mark and the end of the body.
func (st *stream) mark() {
	if st.opts.Done && (st.wire == nil || st.wire.done) {
		st.close(st.open(), "data: [DONE]")
	}
	if st.framed {
		st.buf = append(st.buf, "0\r\n\r\n"...)
	}
	st.ended = true
}

// breakOff ends the answer with the failure of its script.
func (st *stream) breakOff(wait bool) {
	st.failed, st.ended = st.script.kind, true
	if st.script.kind != kindSSE {
		return
	}
	at := st.open()
	if st.lines() {
		st.close(at, `{"error":"simulated failure"}`)
	} else {
		st.buf = append(st.buf, "event: error\n"...)
		st.close(at, "data: "+simulated(503))
	}
	st.mark()
	st.send(0, 0, wait)
}

// lines reports whether the answer streams JSON lines instead of server-sent events.
func (st *stream) lines() bool { return st.wire != nil && st.wire.lines }

// sizeDigits is the fixed number of hexadecimal digits of a chunk size.
const sizeDigits = 7

// open begins a chunk of the body and returns its offset.
func (st *stream) open() int {
	if st.framed {
		st.buf = append(st.buf, "0000000\r\n"...)
	}
	return len(st.buf)
}

// close ends the event that open began with tail, and fills in the size of the chunk.
func (st *stream) close(at int, tail string) {
	st.buf = append(st.buf, tail...)
	if st.buf = append(st.buf, '\n'); !st.lines() {
		st.buf = append(st.buf, '\n')
	}
	if !st.framed {
		return
	}
	n := len(st.buf) - at
	for i := at - 3; n > 0 && i >= at-2-sizeDigits; i-- {
		st.buf[i] = "0123456789abcdef"[n&15]
		n >>= 4
	}
	st.buf = append(st.buf, '\r', '\n')
}

func (st *stream) choice(open string) {
	st.buf = append(st.buf, st.prefix...)
	st.buf = append(st.buf, `,"choices":[{"index":0,`...)
	st.buf = append(st.buf, open...)
}

func (st *stream) usage() {
	st.buf = append(st.buf, `,"usage":`...)
	st.buf = appendUsage(st.buf, st.prompt, st.cached, st.truth.Tokens, st.truth.Reasoning)
}

// send writes the buffer and records the instants.
func (st *stream) send(events, tokens int, wait bool) {
	w := Write{Due: st.due, Events: events, Tokens: tokens}
	if st.logged || st.firstWrite == 0 {
		w.Before = wallNow()
	}
	n := len(st.buf)
	var err error
	if wait {
		err = st.sink.write(st.buf)
	} else {
		n, err = st.sink.try(st.buf)
	}
	if st.logged || st.firstWrite == 0 {
		w.After = wallNow()
	}
	if st.firstWrite == 0 && events > 0 {
		st.firstWrite = w.After
	}
	if st.logged {
		st.truth.Writes = append(st.truth.Writes, w)
	}
	st.unsent = st.buf[n:]
	if err != nil {
		st.unsent, st.ended, st.failed = nil, true, outcomeGone
	}
}

// flush waits until the socket has accepted the rest.
func (st *stream) flush() {
	err := st.sink.write(st.unsent)
	st.unsent = nil
	if st.logged && len(st.truth.Writes) > 0 {
		st.truth.Writes[len(st.truth.Writes)-1].After = wallNow()
	}
	if err != nil {
		st.ended, st.failed = true, outcomeGone
	}
}

// wait returns how long making a complete body takes.
func (st *stream) wait() time.Duration {
	d := st.script.first
	for range st.script.events() - 1 {
		d += st.script.stretch(st.script.itl, st.opts.Jitter)
	}
	return d
}
