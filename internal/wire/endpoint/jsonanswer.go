package endpoint

import (
	"bytes"
	"slices"
	"sync"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// jsonAnswer decodes an answer of JSON documents: events of a stream, or one body.
type jsonAnswer struct {
	*jsonType
	chunk         chunk
	scan          jsontext.Scanner // scanner of the document that chunk points into
	format        framing.Format
	event         framing.Event
	lines         [][]byte
	out           []byte // visible text so far
	reasoning     []byte
	pending       []pendingContent
	last          pendingContent // the last document, with or without content; [DONE] does not count
	usage         []byte         // last non-empty usage object
	firstUsage    []byte         // usage object of the first content
	drafts        []byte         // object about speculative decoding
	draftCount    int            // number of documents that held one
	finish        []byte
	failure       []byte        // last error object of a document
	missed        string        // why a document of a free format has no content
	shape         string        // of a body without content
	failed        *record.Error // the server reported that the request failed
	messages      int
	tokens        int           // number of tokens that came as ids
	unreadable    int           // number of messages that are not JSON
	earlyUsage    bool          // content came after the last usage object
	moreChoices   bool          // a message has text in a choice that is not the first
	choice        int           // number of the choice of the first content
	alternating   bool          // messages have content of different choices
	looksStreamed bool          // a body that looks like a stream
	jsonLines     bool          // a body with a document in each line, which the format does not have
	memory        memoryBuilder // nil = no Memory was requested
	state         any           // state of the type across documents
}

// stateOf returns the state of a type across the documents of an answer. It makes the state at the first call.
func stateOf[T any](d *jsonAnswer) *T {
	v, ok := d.state.(*T)
	if !ok {
		v = new(T)
		d.state = v
	}
	return v
}

// memoryBuilder makes the Memory of an answer.
type memoryBuilder interface {
	// take reads the current document.
	take(d *jsonAnswer)
	// memory returns the Memory at the end of an answer; nil = none.
	memory(d *jsonAnswer) Memory
}

// pendingContent is a content response whose texts are still offsets.
type pendingContent struct {
	at              int64
	message         int
	kind            record.Kind
	text, reasoning [2]int // start and end
}

var answers = sync.Pool{New: func() any { return new(jsonAnswer) }}

// newAnswer takes an answer from the pool; Result returns it.
func (t *jsonType) newAnswer(remember bool) *jsonAnswer {
	d := answers.Get().(*jsonAnswer)
	*d = jsonAnswer{jsonType: t, format: framing.SSE, chunk: d.chunk, event: d.event, lines: d.lines[:0], out: d.out[:0], reasoning: d.reasoning[:0],
		pending: d.pending[:0], usage: d.usage[:0], firstUsage: d.firstUsage[:0], drafts: d.drafts[:0], finish: d.finish[:0], failure: d.failure[:0]}
	if remember && t.newMemory != nil {
		d.memory = t.newMemory()
	}
	return d
}

// Add implements Answer.
func (d *jsonAnswer) Add(m *record.Message, index int) (content bool, failure *record.Error) {
	n := len(d.pending)
	d.messages++
	d.failed = d.read(m, index)
	return len(d.pending) > n, d.failed
}

// Next implements Answer: there is no follow-up.
func (d *jsonAnswer) Next() *FollowUp { return nil }

// Result implements Answer.
func (d *jsonAnswer) Result() Result {
	res := Result{Reply: new(record.Reply), Failure: d.failed}
	d.fill(res.Reply)
	if d.failed == nil && len(d.pending) == 0 {
		res.Failure = d.noContent()
	}
	if d.memory != nil {
		res.Memory = d.memory.memory(d)
	}
	answers.Put(d)
	return res
}

func (d *jsonAnswer) noContent() *record.Error {
	text := "Invalid inference result: No responses with actual content were received"
	switch {
	case d.messages == 0:
		text = "Invalid inference result: No responses were received"
	case len(d.failure) > 0:
		text += "; the server said: " + string(d.failure)
	case d.looksStreamed:
		text += "; the body is a stream, but its Content-Type is not " + d.format.Media()[0]
	case d.jsonLines:
		text += "; the body has one JSON document in each line, but this endpoint type reads one document or " + d.format.Media()[0]
	case d.missed != "":
		text += "; " + d.missed
	case d.unreadable > 0:
		text += "; the answer is not JSON"
	case d.shape != "":
		text += "; " + d.shape
	}
	return &record.Error{Type: invalidResult, Message: text}
}

// read reads one message.
func (d *jsonAnswer) read(m *record.Message, index int) *record.Error {
	if d.verbatim {
		d.readVerbatim(m, index)
		return nil
	}
	if m.Body {
		doc := bytes.TrimSpace(m.Raw)
		if len(doc) == 0 {
			return nil
		}
		if d.plain && doc[0] != '{' || !d.document(doc) {
			if !d.plain {
				d.looksStreamed = d.looksStreamed || d.format.Unlabelled(doc)
				d.jsonLines = d.jsonLines || framing.NDJSON{}.Unlabelled(doc)
				d.readPlain(doc, m.At, index)
				return nil
			}
			d.chunk.reset()
			d.chunk.delta.set, d.chunk.delta.content = true, jsontext.Text{Raw: m.Raw, Set: true}
		}
		return d.acceptBody(doc, m.At, index)
	}
	if m.Fields() != nil {
		return d.readEvent(m, index)
	}
	doc, plain := d.format.Data(m.Raw, m.Line)
	if !plain {
		return d.readEvent(m, index)
	}
	switch {
	case string(doc) == "[DONE]" || len(doc) == 0:
	case !d.document(doc):
		d.format.Parse(&d.event, m.Raw)
		d.readPlain(d.event.Text(), m.At, index)
	case d.mayReportFailure() && d.format.MayFail(m.Raw, true): // as the reader of the stream judges it, and a report from an export
		d.format.Parse(&d.event, m.Raw)
		if f := streamFailure(d.format, &d.event); f != nil {
			return f
		}
		return d.accept(m.At, index)
	default:
		return d.accept(m.At, index)
	}
	return nil
}

// acceptBody is accept for a body, which is the document doc. A body with content that also reports an error, as an object or a text, is a failure.
func (d *jsonAnswer) acceptBody(doc []byte, at int64, index int) *record.Error {
	if f := d.accept(at, index); f != nil {
		return f
	}
	if len(d.pending) == 0 { // noContent quotes the error of the body, or describes the body
		d.shape = shapeOf(doc)
		return nil
	}
	if e := d.chunk.failure; !e.Set || e.Raw[0] != '{' && e.Raw[0] != '"' {
		return nil
	}
	f, found := dataFailure(doc)
	if !found {
		return nil
	}
	return &record.Error{Code: f.code, Type: invalidResult, Message: "Invalid inference result: the answer reports an error: " + f.message}
}

// accept adds the current document to the result, unless it reports a failure.
func (d *jsonAnswer) accept(at int64, index int) *record.Error {
	if d.fails != nil {
		if f := d.fails(d); f != nil {
			return f
		}
	}
	d.keep(at, index)
	return nil
}

// readVerbatim takes a message as text. Those of an export hold it as a JSON string.
func (d *jsonAnswer) readVerbatim(m *record.Message, index int) {
	text := jsontext.Text{Raw: m.Raw, Set: true}
	if m.Fields() != nil {
		framing.Take(d.format, &d.event, m)
		s := jsontext.Scanner{Doc: d.event.Data()}
		text = s.Text()
	}
	d.chunk.reset()
	d.chunk.delta.reset()
	d.chunk.delta.set, d.chunk.delta.content = true, text
	d.keep(m.At, index)
}

// addBinary adds a message whose bytes are not kept.
func (d *jsonAnswer) addBinary(at int64, index int, kind record.Kind) {
	d.messages++
	d.chunk.reset()
	d.chunk.kind, d.chunk.items = kind, 1
	d.keep(at, index)
}

// readEvent reads a message with several lines, or one from an export.
func (d *jsonAnswer) readEvent(m *record.Message, index int) *record.Error {
	framing.Take(d.format, &d.event, m)
	if d.mayFail(m) {
		if f := streamFailure(d.format, &d.event); f != nil {
			return f
		}
	}
	data := d.event.Data()
	if len(data) == 0 || string(data) == "[DONE]" {
		return nil
	}
	if d.document(data) {
		return d.accept(m.At, index)
	}
	d.lines = d.event.DataLines(d.lines[:0])
	if len(d.lines) < 2 || !d.eachLine() {
		d.readPlain(d.event.Text(), m.At, index)
		return nil
	}
	for _, line := range d.lines {
		if string(line) == "[DONE]" {
			continue
		}
		d.document(line)
		if f := d.accept(m.At, index); f != nil {
			return f
		}
	}
	return nil
}

// readPlain decodes a document that is not JSON, if the type supports it. White space in a text is kept.
func (d *jsonAnswer) readPlain(doc []byte, at int64, index int) {
	if d.decodePlain == nil || d.looksStreamed {
		d.unreadable++
		return
	}
	d.decodePlain(d, doc)
	d.keep(at, index)
}

// eachLine reports whether every data line is a separate document.
func (d *jsonAnswer) eachLine() bool {
	for _, line := range d.lines {
		if string(line) != "[DONE]" && !d.document(line) {
			return false
		}
	}
	return true
}

// mayFail is the cheap test of a message of several lines, or of one from an export.
func (d *jsonAnswer) mayFail(m *record.Message) bool {
	if m.Fields() == nil {
		return d.format.MayFail(m.Raw, false)
	}
	return slices.ContainsFunc(m.Fields(), func(f record.Field) bool {
		return d.format.MayFail([]byte(f.Name), false) || d.format.MayFail([]byte(f.Value), false)
	})
}

// mayReportFailure reports whether the document may report a failure.
func (d *jsonAnswer) mayReportFailure() bool {
	c := &d.chunk
	return c.failure.Set || string(c.object.Raw) == "error" || string(c.typ.Raw) == "error" || string(c.typ.Raw) == "response.failed"
}

// keep adds the current document to the result.
func (d *jsonAnswer) keep(at int64, index int) {
	d.last.at, d.last.message = at, index
	c := &d.chunk
	if len(c.usage) > 0 && !emptyObject(c.usage) {
		d.usage, d.earlyUsage = append(d.usage[:0], c.usage...), false
	}
	if len(c.drafts) > 0 {
		d.drafts, d.draftCount = append(d.drafts[:0], c.drafts...), d.draftCount+1
	}
	d.moreChoices = d.moreChoices || c.more
	if c.failure.Set {
		d.failure = append(d.failure[:0], c.failure.Raw...)
	}
	if !c.finish.Empty() {
		d.finish = c.finish.Append(d.finish[:0])
	}
	if d.memory != nil {
		d.memory.take(d)
	}
	n, r := len(d.out), len(d.reasoning)
	kind, ok := d.content()
	if !ok {
		return
	}
	d.earlyUsage = len(d.usage) > 0 && len(c.usage) == 0
	if len(d.pending) == 0 {
		d.choice = c.choice
		d.firstUsage = append(d.firstUsage[:0], c.usage...)
	}
	d.alternating = d.alternating || c.choice != d.choice
	d.pending = append(d.pending, pendingContent{at, index, kind, [2]int{n, len(d.out)}, [2]int{r, len(d.reasoning)}})
}

// content appends the texts of the document to the reply and returns their kind; false = no content.
func (d *jsonAnswer) content() (record.Kind, bool) {
	c := &d.chunk
	if c.items > 0 {
		return c.kind, true
	}
	p := c.chosen()
	n := len(d.out)
	d.out = p.appendText(d.out)
	called := p.hasCallText()
	if called {
		d.out = p.appendCalls(d.out)
	}
	if think := p.thinking(); !think.Empty() {
		d.reasoning = think.Append(d.reasoning)
		return record.Reasoning, true
	}
	if called {
		return record.ToolCall, true
	}
	return record.Text, len(d.out) > n || p.isAudio
}

func emptyObject(raw []byte) bool {
	s := jsontext.Scanner{Doc: raw}
	return s.Open('{') && s.Kind() == '}'
}

// fill builds the reply: one string for all visible text, one for all reasoning, and the contents as parts of them.
func (d *jsonAnswer) fill(r *record.Reply) {
	r.Output, r.Reasoning = string(d.out), string(d.reasoning)
	r.PerChunkTokens = -1
	r.FinishReason = string(d.finish)
	r.MoreChoices, r.AlternatingChoices = d.moreChoices, d.alternating
	r.Unreadable, r.OutputTokens = d.unreadable, d.tokens
	if len(d.usage) > 0 {
		r.Usage = parseUsage(d.usage)
		r.EarlyUsage = d.earlyUsage && r.Usage.Completion >= 0
	}
	if d.draftCount == 1 {
		r.Drafts = parseDrafts(d.drafts)
	}
	if len(d.firstUsage) > 0 {
		u := r.Usage
		if !bytes.Equal(d.firstUsage, d.usage) {
			u = parseUsage(d.firstUsage)
		}
		r.PerChunkTokens = max(-1, int(u.Completion))
	}
	if len(d.pending) == 0 {
		r.ServerError = string(d.failure)
		return
	}
	if d.lastEnds && d.last.message != d.pending[len(d.pending)-1].message {
		r.End, r.EndMessage = d.last.at, d.last.message
	}
	r.Contents = make([]record.Content, len(d.pending))
	for i, c := range d.pending {
		r.Contents[i] = record.Content{At: c.at, Message: c.message, Kind: c.kind,
			Text: r.Output[c.text[0]:c.text[1]], Reasoning: r.Reasoning[c.reasoning[0]:c.reasoning[1]]}
	}
}
