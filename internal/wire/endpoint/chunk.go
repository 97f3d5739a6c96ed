package endpoint

import (
	"strconv"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
)

// chunk is the content of one JSON document of an answer: an event of a stream or a whole body. Its texts point into the document.
type chunk struct {
	object  jsontext.Text
	typ     jsontext.Text
	failure jsontext.Text // unparsed value of a top-level error that reports an error
	usage   []byte
	drafts  []byte // object about speculative decoding, nil = none
	finish  jsontext.Text
	delta   part
	message part
	other   part        // of a choice that is not the first
	more    bool        // such a choice has text
	choice  int         // number of the choice that was read; a missing one is 0
	kind    record.Kind // kind of the items
	items   int         // number of vectors or scores
}

// part is a message or a piece of one.
type part struct {
	content       jsontext.Text
	parts         []jsontext.Text // content given as a list
	refusal       jsontext.Text
	transcript    jsontext.Text
	isAudio       bool          // audio bytes without text
	reasoning     jsontext.Text // reasoning_content
	reasoningText jsontext.Text // reasoning
	thoughts      jsontext.Text // of the parts of type thinking in a list
	tools         []call
	set           bool
}

// call is a tool call or a piece of one.
type call struct {
	index           int
	id, kind        jsontext.Text
	name, arguments jsontext.Text
	custom          bool // of a custom tool, whose arguments are any text
}

// reset clears the part but keeps the capacity of its lists.
func (p *part) reset() { *p = part{parts: p.parts[:0], tools: p.tools[:0]} }

// thinking returns the reasoning text.
func (p *part) thinking() jsontext.Text {
	for _, t := range []jsontext.Text{p.reasoning, p.reasoningText} {
		if !t.Empty() {
			return t
		}
	}
	return p.thoughts
}

// hasCallText reports whether a tool call brought text.
func (p *part) hasCallText() bool {
	for i := range p.tools {
		if !p.tools[i].name.Empty() || !p.tools[i].arguments.Empty() {
			return true
		}
	}
	return false
}

// appendText appends the text outside tool calls.
func (p *part) appendText(dst []byte) []byte {
	dst = p.content.Append(dst)
	for _, t := range p.parts {
		dst = t.Append(dst)
	}
	dst = p.refusal.Append(dst)
	return p.transcript.Append(dst)
}

// appendCalls appends the name and the arguments of every tool call.
func (p *part) appendCalls(dst []byte) []byte {
	for i := range p.tools {
		dst = p.tools[i].name.Append(dst)
		dst = p.tools[i].arguments.Append(dst)
	}
	return dst
}

func (c *chunk) reset() {
	if c.delta.set {
		c.delta.reset()
	}
	if c.message.set {
		c.message.reset()
	}
	c.object, c.typ, c.failure, c.usage, c.drafts, c.finish, c.items = jsontext.Text{}, jsontext.Text{}, jsontext.Text{}, nil, nil, jsontext.Text{}, 0
	c.more, c.choice = false, 0
}

// chosen returns the part that counts: the one that matches the object's name, otherwise the one that is present.
func (c *chunk) chosen() *part {
	if c.delta.set && (!c.message.set || string(c.object.Raw) != "chat.completion") {
		return &c.delta
	}
	if c.message.set {
		return &c.message
	}
	return &c.delta
}

// document reads one JSON document; false = it is not JSON. A document that is not an object has no data, unless the endpoint reads lists.
func (d *jsonAnswer) document(doc []byte) bool {
	d.chunk.reset()
	if d.begin != nil {
		d.begin(d)
	}
	d.scan = jsontext.Scanner{Doc: doc}
	s := &d.scan
	switch s.Kind() {
	case '{':
		d.top(s)
	case '[':
		if d.array == nil || !d.array(d, s) {
			s.Skip()
		}
	default:
		s.Skip()
	}
	if !s.Done() {
		d.chunk.reset()
		return false
	}
	if d.after != nil {
		d.after(d)
	}
	return true
}

func (d *jsonAnswer) top(s *jsontext.Scanner) {
	c := &d.chunk
	s.Open('{')
	for first := true; s.Next('}', first); first = false {
		key := s.Key()
		if d.member(d, s, key) {
			continue
		}
		switch string(key) {
		case "object":
			c.object = s.Text()
		case "type":
			c.typ = s.Text()
		case "usage":
			c.usage = nil
			if s.Kind() == '{' {
				c.usage = s.Raw()
			} else {
				s.Skip()
			}
		case "error":
			c.failure = jsontext.Text{}
			if v := s.Raw(); meaningful(v) {
				c.failure = jsontext.Text{Raw: v, Set: true}
			}
		default:
			s.Skip()
		}
	}
}

// meaningful reports whether the value of an error member means that there is an error.
func meaningful(v []byte) bool {
	s := jsontext.Scanner{Doc: v}
	if s.Open('{') {
		return s.Kind() != '}'
	}
	if s.Open('[') {
		return s.Kind() != ']'
	}
	return truthy(v)
}

// firstChoice reads the first element of a list of choices, member by member. Of the others it only reads whether they have text or tokens.
func firstChoice(d *jsonAnswer, s *jsontext.Scanner, member func(d *jsonAnswer, s *jsontext.Scanner, key []byte)) {
	if !s.Open('[') {
		s.Skip()
		return
	}
	for first := true; s.Next(']', first); first = false {
		if !s.Open('{') {
			s.Skip()
			continue
		}
		if !first {
			d.chunk.otherChoice(s)
			continue
		}
		for first := true; s.Next('}', first); first = false {
			key := s.Key()
			if string(key) == "index" {
				d.chunk.choice, _ = strconv.Atoi(string(s.Raw()))
				continue
			}
			member(d, s, key)
		}
	}
}

// otherChoice reads the members of a choice that is not the first. An answer has several if the request asked for them ("n").
func (c *chunk) otherChoice(s *jsontext.Scanner) {
	p := &c.other
	p.reset()
	for first := true; s.Next('}', first); first = false {
		switch string(s.Key()) {
		case "delta", "message":
			p.read(s)
		case "text":
			p.content = s.Text()
		case "token_ids":
			elements(s, func() { s.Skip(); c.more = true })
		default:
			s.Skip()
		}
	}
	c.more = c.more || !p.content.Empty() || len(p.parts) > 0 || !p.refusal.Empty() || !p.thinking().Empty() || p.hasCallText()
}
