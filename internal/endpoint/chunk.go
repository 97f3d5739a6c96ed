package endpoint

import "aiperf/internal/record"

// chunk is what one JSON document of an answer holds: an event of a stream or a whole body. Its texts point into the document.
type chunk struct {
	object  text
	typ     text
	failure text // value of a top-level error that says something, as it stands
	usage   []byte
	finish  text
	delta   part
	message part
	kind    record.Kind // of items
	items   int         // vectors, scores
}

// part is a message or a piece of one.
type part struct {
	content    text
	parts      []text // content given as a list
	refusal    text
	transcript text
	sound      bool // audio bytes without words
	reasoning  text // reasoning_content
	thought    text // reasoning
	tools      []call
	set        bool
}

// call is a tool call or a piece of one.
type call struct {
	index           int
	id, kind        text
	name, arguments text
}

// reset forgets everything but the room that lists take.
func (p *part) reset() { *p = part{parts: p.parts[:0], tools: p.tools[:0]} }

// thinking is the reasoning text.
func (p *part) thinking() text {
	if !p.reasoning.empty() {
		return p.reasoning
	}
	return p.thought
}

// called tells whether a tool call brought text.
func (p *part) called() bool {
	for i := range p.tools {
		if !p.tools[i].name.empty() || !p.tools[i].arguments.empty() {
			return true
		}
	}
	return false
}

// prose appends the text that is no tool call.
func (p *part) prose(dst []byte) []byte {
	dst = p.content.append(dst)
	for _, t := range p.parts {
		dst = t.append(dst)
	}
	dst = p.refusal.append(dst)
	return p.transcript.append(dst)
}

// calls appends name and arguments of every tool call.
func (p *part) calls(dst []byte) []byte {
	for i := range p.tools {
		dst = p.tools[i].name.append(dst)
		dst = p.tools[i].arguments.append(dst)
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
	c.object, c.typ, c.failure, c.usage, c.finish, c.items = text{}, text{}, text{}, nil, text{}, 0
}

// chosen is the part that counts: the one that the object's name promises, else the one that is there.
func (c *chunk) chosen() *part {
	if c.delta.set && (!c.message.set || string(c.object.raw) != "chat.completion") {
		return &c.delta
	}
	if c.message.set {
		return &c.message
	}
	return &c.delta
}

// document reads one JSON document; false = it is not JSON. A document that is no object has no data, unless the endpoint reads lists.
func (d *jsonAnswer) document(doc []byte) bool {
	d.chunk.reset()
	if d.begin != nil {
		d.begin(d)
	}
	d.scan = scanner{b: doc}
	s := &d.scan
	switch s.kind() {
	case '{':
		d.top(s)
	case '[':
		if d.array == nil || !d.array(d, s) {
			s.skip()
		}
	default:
		s.skip()
	}
	if !s.done() {
		d.chunk.reset()
		return false
	}
	if d.after != nil {
		d.after(d)
	}
	return true
}

func (d *jsonAnswer) top(s *scanner) {
	c := &d.chunk
	s.open('{')
	for first := true; s.next('}', first); first = false {
		key := s.key()
		if d.member(d, s, key) {
			continue
		}
		switch string(key) {
		case "object":
			c.object = s.text()
		case "type":
			c.typ = s.text()
		case "usage":
			c.usage = nil
			if s.kind() == '{' {
				c.usage = s.raw()
			} else {
				s.skip()
			}
		case "error":
			c.failure = text{}
			if v := s.raw(); meaningful(v) {
				c.failure = text{raw: v, set: true}
			}
		default:
			s.skip()
		}
	}
}

// meaningful tells whether the value of an error member says that there is an error.
func meaningful(v []byte) bool {
	s := scanner{b: v}
	if s.open('{') {
		return s.kind() != '}'
	}
	if s.open('[') {
		return s.kind() != ']'
	}
	return truthy(v)
}

// firstChoice reads the first element of a list of choices, member by member, and skips the others.
func firstChoice(d *jsonAnswer, s *scanner, member func(d *jsonAnswer, s *scanner, key []byte)) {
	if !s.open('[') {
		s.skip()
		return
	}
	for first := true; s.next(']', first); first = false {
		if !first || !s.open('{') {
			s.skip()
			continue
		}
		for first := true; s.next('}', first); first = false {
			member(d, s, s.key())
		}
	}
}
