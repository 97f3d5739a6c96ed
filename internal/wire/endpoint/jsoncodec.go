package endpoint

import (
	"fmt"
	"sync"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// jsonType is an endpoint type whose bodies are JSON objects and whose answers are JSON documents. Its functions are independent of each other.
type jsonType struct {
	encode func(b *body, t *conversation.Turn, h *History) error
	input  func(x *inputTexts, s *jsontext.Scanner, key []byte) bool // reads one top-level member of a payload; false = not consumed
	path   func(set *Settings, t *conversation.Turn) string          // target of requests (Request.Path); nil = the URL of the endpoint
	// extrasIn is the member, an object, that receives --extra-inputs; "" = the body itself.
	extrasIn string

	member func(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool // reads one top-level member of an answer; false = not consumed
	array  func(d *jsonAnswer, s *jsontext.Scanner) bool             // reads a top-level array; nil = such an answer has no data
	begin  func(d *jsonAnswer)                                       // called before a document is read; nil = nothing to do
	after  func(d *jsonAnswer)                                       // interprets the document after it was read; nil = nothing to do
	// lastEnds means that the last message ends the answer, with or without content.
	lastEnds    bool
	plain       bool                              // a body that is not a JSON object is plain text
	decodePlain func(d *jsonAnswer, doc []byte)   // decodes a document, body or event, that is not JSON; nil = it is skipped
	newMemory   func() memoryBuilder              // makes the Memory of an answer; nil = answers have no Memory
	fails       func(d *jsonAnswer) *record.Error // failure that the document reports, beyond what every type recognises; nil = none
	verbatim    bool                              // every message is text, even if it is JSON
}

// open makes the codec of a run. It refuses extras that are not valid JSON.
func (t *jsonType) open(s Settings) (Codec, error) {
	c := &jsonCodec{jsonType: t, set: s}
	for _, m := range s.Extras {
		if !c.extras.setRaw(m.Key, m.Value) {
			return nil, fmt.Errorf("%s %s: %q is not JSON", s.Spell.As("endpoint.extra"), m.Key, m.Value)
		}
	}
	return c, nil
}

// jsonCodec is the codec of a jsonType in a run.
type jsonCodec struct {
	*jsonType
	set    Settings
	extras object
}

// NewAnswer implements Codec.
func (c *jsonCodec) NewAnswer(remember bool) Answer { return c.newAnswer(remember) }

// newAnswer begins an answer whose stream is framed as the endpoint type says.
func (c *jsonCodec) newAnswer(remember bool) *jsonAnswer {
	d := c.jsonType.newAnswer(remember)
	d.format = framing.OrSSE(c.set.Framing)
	return d
}

// Input implements Codec.
func (c *jsonCodec) Input(payload []byte) Input { return readInput(c.input, payload) }

// body is a request body under construction.
type body struct {
	object
	set           *Settings
	streamOptions bool // ask for usage if the finished body streams
}

var bodies = sync.Pool{New: func() any { return new(body) }}

// Encode implements Codec: compact JSON, UTF-8, members in the order of the contract.
func (c *jsonCodec) Encode(turn *conversation.Turn, h *History) (Request, error) {
	req := Request{}
	if c.path != nil {
		req.Path = c.path(&c.set, turn)
	}
	if turn.RawPayload != nil {
		req.Body = record.Plain(turn.RawPayload)
		return req, nil
	}
	b := bodies.Get().(*body)
	defer bodies.Put(b)
	b.reset()
	b.set, b.streamOptions = &c.set, false
	if err := c.encode(b, turn, h); err != nil {
		return Request{}, err
	}
	c.addExtras(&b.object)
	if turn.ExtraBody != nil {
		s := jsontext.Scanner{Doc: turn.ExtraBody}
		b.merge(&s)
		if !s.Done() {
			return Request{}, invalid(turn, "extra body: %.80q is not a JSON object", turn.ExtraBody)
		}
	}
	if b.streamOptions {
		b.askForUsage(c.set.PerChunkUsage)
	}
	req.Body = b.ranges()
	return req, nil
}

// addExtras adds the extra inputs to a body, or to its member that receives them.
func (c *jsonCodec) addExtras(b *object) {
	if c.extrasIn == "" {
		b.overlay(&c.extras)
	} else if i := b.find(c.extrasIn); i >= 0 && len(c.extras.members) > 0 {
		var inner object
		inner.merge(&jsontext.Scanner{Doc: b.value(i)})
		inner.overlay(&c.extras)
		b.setObject(c.extrasIn, &inner)
	}
}

// askForUsage adds the request for usage to a body that streams, unless the author set it.
func (b *body) askForUsage(perChunk bool) {
	i := b.find("stream")
	if i < 0 || !truthy(b.value(i)) {
		return
	}
	var options object
	if i = b.find("stream_options"); i >= 0 && string(b.value(i)) != "null" {
		if b.value(i)[0] != '{' {
			return
		}
		options.merge(&jsontext.Scanner{Doc: b.value(i)})
	}
	if options.find("include_usage") < 0 {
		options.setBool("include_usage", true)
	}
	if perChunk && options.find("continuous_usage_stats") < 0 {
		options.setBool("continuous_usage_stats", true)
	}
	b.setObject("stream_options", &options)
}

// truthy reports whether an encoded JSON value counts as true where any value may replace a boolean.
func truthy(v []byte) bool {
	switch string(v) {
	case "", "null", "false", "0", "0.0", "-0.0", `""`, "[]", "{}":
		return false
	}
	return true
}

func (b *body) strings(list []string) {
	b.buf = append(b.buf, '[')
	for i, s := range list {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		b.buf = jsontext.AppendString(b.buf, s)
	}
	b.buf = append(b.buf, ']')
}
