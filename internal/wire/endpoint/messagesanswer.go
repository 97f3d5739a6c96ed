package endpoint

import (
	"encoding/json"

	"aiperf/internal/base/jsontext"
)

// messageDoc holds the fields of the current document: an event of a stream or a whole message.
type messageDoc struct {
	index   int
	block   messageBlock // content_block of a content_block_start
	delta   messageBlock // delta of a content_block_delta
	content []byte       // blocks of a whole message
	usage   object       // usage of the whole answer: later members replace earlier ones
}

// messageBlock is a block of a message's content, or a piece of a block.
type messageBlock struct {
	kind, text, thinking, signature, partial jsontext.Text
	id, name                                 jsontext.Text
	input                                    []byte
	raw                                      []byte
}

func beginMessages(d *jsonAnswer) {
	m := stateOf[messageDoc](d)
	*m = messageDoc{usage: m.usage}
}

// messagesMember reads a top-level member of an event or of a message.
func messagesMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	m := d.state.(*messageDoc)
	switch string(key) {
	case "index":
		if n, ok := number(s); ok {
			m.index = int(n)
		}
	case "content_block":
		m.block = readBlock(d, s.Raw())
	case "delta":
		m.delta = readBlock(d, s.Raw())
	case "content":
		m.content = s.Raw()
	case "stop_reason":
		d.chunk.finish = s.Text()
	case "message":
		members(s, func(key string) {
			if key == "usage" && s.Kind() == '{' {
				d.chunk.usage = s.Raw()
			} else {
				s.Skip()
			}
		})
	default:
		return false
	}
	return true
}

// readBlock reads a block or a delta. The delta of the message itself holds the stop reason.
func readBlock(d *jsonAnswer, raw []byte) (b messageBlock) {
	b.raw = raw
	s := &jsontext.Scanner{Doc: raw}
	members(s, func(key string) {
		switch key {
		case "type":
			b.kind = s.Text()
		case "text":
			b.text = s.Text()
		case "thinking":
			b.thinking = s.Text()
		case "signature":
			b.signature = s.Text()
		case "partial_json":
			b.partial = s.Text()
		case "id":
			b.id = s.Text()
		case "name":
			b.name = s.Text()
		case "input":
			b.input = jsontext.AppendCompact(nil, s)
		case "stop_reason":
			d.chunk.finish = s.Text()
		default:
			s.Skip()
		}
	})
	return b
}

// calls reports whether a block is a tool call. Servers have further kinds of calls (server_tool_use, mcp_tool_use), and some leave the name out.
func (b *messageBlock) calls() bool { return !b.name.Empty() || !b.inputText().Empty() }

// inputText returns the input of a call as text; an empty object gives no text.
func (b *messageBlock) inputText() jsontext.Text {
	if len(b.input) == 0 || string(b.input) == "{}" || string(b.input) == "null" {
		return jsontext.Text{}
	}
	return jsontext.Text{Raw: b.input, Set: true}
}

// afterMessages converts the document to a piece of a message.
func afterMessages(d *jsonAnswer) {
	m, p := d.state.(*messageDoc), &d.chunk.delta
	p.reset()
	p.set = true
	m.overlay(d)
	switch string(d.chunk.typ.Raw) {
	case "content_block_delta":
		p.content, p.reasoning = m.delta.text, m.delta.thinking
		if !m.delta.partial.Empty() {
			p.tools = append(p.tools, call{arguments: m.delta.partial})
		}
	case "content_block_start":
		p.content, p.reasoning = m.block.text, m.block.thinking
		if m.block.calls() {
			p.tools = append(p.tools, call{name: m.block.name, arguments: m.block.inputText()})
		}
	case "message", "":
		if len(d.pending) == 0 {
			p.message(d, m.content)
		}
	}
}

// overlay merges the counts of a document into the earlier ones: a stream reports some at its start and the others at its end.
func (m *messageDoc) overlay(d *jsonAnswer) {
	if len(d.chunk.usage) == 0 {
		return
	}
	var later object
	later.merge(&jsontext.Scanner{Doc: d.chunk.usage})
	for i := range later.members {
		if v := later.value(i); string(v) != "null" {
			a := len(m.usage.buf)
			m.usage.buf = append(m.usage.buf, v...)
			m.usage.end(later.members[i].key, a)
		}
	}
	d.chunk.usage = m.usage.append(nil)
}

// message reads the content of a whole message.
func (p *part) message(d *jsonAnswer, content []byte) {
	s := &jsontext.Scanner{Doc: content}
	if s.Kind() == '"' {
		p.content = s.Text()
		return
	}
	var thoughts []byte
	elements(s, func() {
		b := readBlock(d, s.Raw())
		if !b.text.Empty() {
			p.parts = append(p.parts, b.text)
		}
		thoughts = b.thinking.Append(thoughts)
		if b.calls() {
			p.tools = append(p.tools, call{name: b.name, arguments: b.inputText()})
		}
	})
	if len(thoughts) > 0 {
		p.reasoning = jsontext.Text{Raw: thoughts, Set: true}
	}
}

// messagesMemory collects the blocks of an answer by index.
type messagesMemory struct{ blocks []wholeBlock }

// wholeBlock is a block with its pieces joined.
type wholeBlock struct {
	index                    int
	kind, text, signature    []byte // text also holds thinking
	id, name, partial, input []byte
	verbatim                 []byte // block of a type that is repeated unchanged
}

func (k *messagesMemory) take(d *jsonAnswer) {
	m := d.state.(*messageDoc)
	switch string(d.chunk.typ.Raw) {
	case "content_block_start":
		k.block(m.index).add(&m.block)
	case "content_block_delta":
		k.block(m.index).add(&m.delta)
	case "message", "":
		s := &jsontext.Scanner{Doc: m.content}
		if s.Kind() == '"' {
			k.block(0).add(&messageBlock{text: s.Text()})
			return
		}
		elements(s, func() {
			b := readBlock(d, s.Raw())
			k.block(len(k.blocks)).add(&b)
		})
	}
}

// block returns the block with an index; it adds it if it is new.
func (k *messagesMemory) block(index int) *wholeBlock {
	for i := range k.blocks {
		if k.blocks[i].index == index {
			return &k.blocks[i]
		}
	}
	k.blocks = append(k.blocks, wholeBlock{index: index})
	return &k.blocks[len(k.blocks)-1]
}

// add appends a piece.
func (w *wholeBlock) add(b *messageBlock) {
	switch kind := string(b.kind.Raw); kind {
	case "redacted_thinking":
		w.verbatim = jsontext.AppendCompact(nil, &jsontext.Scanner{Doc: b.raw})
	case "thinking", "thinking_delta", "signature_delta":
		w.kind = []byte("thinking")
	}
	if b.calls() {
		w.kind = []byte("tool_use")
		w.id, w.name, w.input = b.id.Append(w.id[:0]), b.name.Append(w.name[:0]), append(w.input[:0], b.input...)
	}
	w.text = b.thinking.Append(b.text.Append(w.text))
	w.signature = b.signature.Append(w.signature)
	w.partial = b.partial.Append(w.partial)
}

// memory returns the content of the answer: a string if it is only text, otherwise a list of blocks with thinking, text and calls.
func (k *messagesMemory) memory(d *jsonAnswer) Memory {
	if d.failed != nil {
		return nil
	}
	var thoughts, calls [][]byte
	var said []byte
	for i := range k.blocks {
		w := &k.blocks[i]
		switch {
		case w.verbatim != nil:
			thoughts = append(thoughts, w.verbatim)
		case string(w.kind) == "thinking":
			thoughts = append(thoughts, w.appendThinking())
		case string(w.kind) == "tool_use":
			calls = append(calls, w.call())
		default:
			said = append(said, w.text...)
		}
	}
	if len(said)+len(thoughts)+len(calls) == 0 {
		return nil
	}
	out := []byte(`{"role":"assistant","content":`)
	if len(thoughts)+len(calls) == 0 {
		return json.RawMessage(append(jsontext.AppendString(out, string(said)), '}'))
	}
	list := thoughts
	if len(said) > 0 {
		list = append(list, append(jsontext.AppendString([]byte(`{"type":"text","text":`), string(said)), '}'))
	}
	for i, one := range append(list, calls...) {
		c := byte(',')
		if i == 0 {
			c = '['
		}
		out = append(append(out, c), one...)
	}
	return json.RawMessage(append(out, ']', '}'))
}

func (w *wholeBlock) appendThinking() []byte {
	b := jsontext.AppendString([]byte(`{"type":"thinking","thinking":`), string(w.text))
	if len(w.signature) > 0 {
		b = jsontext.AppendString(append(b, `,"signature":`...), string(w.signature))
	}
	return append(b, '}')
}

// call returns the block of a tool call. Its input is that of the pieces, or otherwise the initial one. Pieces that are not a JSON object are
// dropped.
func (w *wholeBlock) call() []byte {
	b := jsontext.AppendString([]byte(`{"type":"tool_use","id":`), string(w.id))
	b = append(jsontext.AppendString(append(b, `,"name":`...), string(w.name)), `,"input":`...)
	for _, input := range [][]byte{w.partial, w.input} {
		s := jsontext.Scanner{Doc: input}
		if s.Kind() != '{' {
			continue
		}
		a := len(b)
		if b = jsontext.AppendCompact(b, &s); s.Done() {
			return append(b, '}')
		}
		b = b[:a]
	}
	return append(b, '{', '}', '}')
}
