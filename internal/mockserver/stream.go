package mockserver

import (
	"strconv"
	"time"

	"aiperf/internal/jsontext"
)

// shape is how an API words its events: what stands between the head of an event and its text, and behind the text.
type shape struct {
	object, streamObject string
	content              string
	after                string
	role                 string // first event, "" = none
	last                 string // event with the finish reason, up to the reason
	pictures             bool   // events hold a picture each, and nothing comes behind the last
	reasons              bool   // knows reasoning
}

var chatShape = shape{
	object: "chat.completion", streamObject: "chat.completion.chunk", reasons: true,
	content: `"delta":{"content":"`, after: `"},"logprobs":null,"finish_reason":null}]`,
	role: `"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`,
	last: `"delta":{},"logprobs":null,"finish_reason":"`,
}

var imagesShape = shape{pictures: true}

var completionsShape = shape{
	object: "text_completion", streamObject: "text_completion",
	content: `"text":"`, after: `","logprobs":null,"finish_reason":null}]`,
	last: `"text":"","logprobs":null,"finish_reason":"`,
}

// sink takes bytes. try writes what the socket takes without waiting and says how much that was; write waits.
type sink interface {
	try(b []byte) (int, error)
	write(b []byte) error
}

// Outcomes beside the error kinds.
const (
	outcomeOK       = "ok"
	outcomeGone     = "client-gone"
	outcomeShutdown = "shutdown"
	outcomeBad      = "bad-request"
)

// stream is an answer under way. One goroutine has it at a time: that of its connection, or the pacer.
type stream struct {
	sink   sink
	shape  *shape
	wire   *wire // nil = the answer is worded by shape
	opts   *Options
	ask    *ask
	script script
	truth  *Truth
	logged bool // keep the writes

	whole  []byte // a body in one piece instead of events
	prefix []byte // of every event
	buf    []byte
	rest   []byte // what the socket did not take at once
	next   int64  // instant at which the next event is due
	made   int64  // instant of the next event, of a stream in lumps; 0 = it has not begun
	due    int64  // the same as wall time, of the event in buf
	offset int64  // wall time minus instant
	events int    // content events made
	left   int    // visible tokens to come
	think  int    // reasoning tokens to come
	prompt int    // prompt tokens
	cached int    // of them, from the prefix cache; -1 = not reported
	framed bool   // chunked transfer coding
	over   bool
	turned bool   // the text has begun
	failed string // what ended it early, "" = nothing

	firstWrite int64         // wall ns after the first content event
	back       chan struct{} // the pacer gives the stream back
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
	st.left, st.think = st.script.tokens, st.script.reasoning
}

// step makes and writes the next event; with the last one goes what ends the answer.
func (st *stream) step(wait bool) {
	if st.opts.Lump > 0 && st.whole == nil {
		st.lump(wait)
		return
	}
	st.due = st.next + st.offset
	st.buf = st.buf[:0]
	if st.whole != nil {
		st.buf = append(st.buf, st.whole...)
		st.over = true
		st.send(1, st.truth.Tokens+st.truth.Reasoning, wait)
		return
	}
	if st.events == st.script.cut {
		st.breakOff(wait)
		return
	}
	tokens := st.event()
	if st.left+st.think == 0 && st.events != st.script.cut {
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
	open, left, sum := st.shape.content, &st.left, &st.truth.Tokens
	if st.think > 0 {
		open, left, sum = `"delta":{"`+st.opts.ReasoningField+`":"`, &st.think, &st.truth.Reasoning
	}
	tokens = min(*left, st.script.perEvent)
	*left -= tokens
	*sum += tokens
	st.events++
	at := st.open()
	after, last := st.wording(open, left == &st.think)
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

// wording begins a content event and tells what stands behind its words, and behind the counts that may follow.
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

// end appends the finish reason, the usage where it was asked for, the end mark and the end of the body.
func (st *stream) end() {
	if st.shape.pictures {
		if st.framed {
			st.buf = append(st.buf, "0\r\n\r\n"...)
		}
		st.over = true
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

// mark ends the stream and the body.
func (st *stream) mark() {
	if st.opts.Done && (st.wire == nil || st.wire.done) {
		st.close(st.open(), "data: [DONE]")
	}
	if st.framed {
		st.buf = append(st.buf, "0\r\n\r\n"...)
	}
	st.over = true
}

// breakOff ends the answer the way its script says.
func (st *stream) breakOff(wait bool) {
	st.failed, st.over = st.script.kind, true
	if st.script.kind != kindSSE {
		return
	}
	at := st.open()
	st.buf = append(st.buf, "event: error\n"...)
	st.close(at, "data: "+simulated(503))
	st.mark()
	st.send(0, 0, wait)
}

// sizeDigits is the fixed number of hexadecimal digits of a chunk size.
const sizeDigits = 7

// open begins a chunk of the body and tells where.
func (st *stream) open() int {
	if st.framed {
		st.buf = append(st.buf, "0000000\r\n"...)
	}
	return len(st.buf)
}

// close ends the event that open began with tail, and fills in the size of the chunk.
func (st *stream) close(at int, tail string) {
	st.buf = append(st.buf, tail...)
	st.buf = append(st.buf, '\n', '\n')
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

// send writes the buffer and notes when.
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
	st.rest = st.buf[n:]
	if err != nil {
		st.rest, st.over, st.failed = nil, true, outcomeGone
	}
}

// flush waits until the socket has taken the rest.
func (st *stream) flush() {
	err := st.sink.write(st.rest)
	st.rest = nil
	if st.logged && len(st.truth.Writes) > 0 {
		st.truth.Writes[len(st.truth.Writes)-1].After = wallNow()
	}
	if err != nil {
		st.over, st.failed = true, outcomeGone
	}
}

// wait is how long a body in one piece takes to make.
func (st *stream) wait() time.Duration {
	d := st.script.first
	for range st.script.events() - 1 {
		d += st.script.stretch(st.script.itl, st.opts.Jitter)
	}
	return d
}
