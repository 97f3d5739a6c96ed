package endpoint

import (
	"bytes"
	"encoding/json"

	"aiperf/internal/base/jsontext"
)

// responseDoc holds the fields of the current document that only this type has: an event of a stream or a whole response. Nested values stay unparsed
// until they are needed.
type responseDoc struct {
	delta, full           jsontext.Text // of an event: a piece, or the complete text of its part
	place                 responsePlace
	item                  []byte
	id, status            jsontext.Text
	output                []byte
	outputText            jsontext.Text
	stored                bool
	seen                  responseSeen // of the whole answer
	lastID                string       // of the whole answer
	failedStatus, storing bool         // of the whole answer
}

// outputClass is the class of a part of a response. Text, refusals and transcripts are one class, because each is shown to the user.
type outputClass byte

const (
	visibleOutput outputClass = iota
	reasoningOutput
	argumentsOutput
	outputClasses
)

// responsePlace is the position of a part in the response. A missing index is 0.
type responsePlace struct {
	class           outputClass
	output, content float64
}

// responseSeen records which parts of a response have already come. A server sends each part up to four times: in pieces, whole after the pieces, in
// its item, and in the response that ends the stream. The first of them counts.
type responseSeen struct {
	places  map[responsePlace]bool
	classes [outputClasses]bool
	name    bool // name of a call
}

// take reports whether a part is new, and records it. The pieces of one place follow each other.
func (x *responseSeen) take(at responsePlace, piece bool, t jsontext.Text) bool {
	if t.Empty() || !piece && x.places[at] {
		return false
	}
	if !x.places[at] {
		x.places[at] = true
	}
	x.classes[at.class] = true
	return true
}

// beginResponse clears the fields of the previous document.
func beginResponse(d *jsonAnswer) {
	r := stateOf[responseDoc](d)
	if r.seen.places == nil {
		r.seen.places = map[responsePlace]bool{}
	}
	*r = responseDoc{seen: r.seen, lastID: r.lastID, failedStatus: r.failedStatus, storing: r.storing}
}

// responsesMember reads a top-level member of an event or a response.
func responsesMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	r := d.state.(*responseDoc)
	switch string(key) {
	case "delta":
		r.delta = s.Text()
	case "text", "refusal", "transcript", "arguments", "input", "code":
		r.full = s.Text()
	case "output_index":
		r.place.output, _ = number(s)
	case "content_index", "summary_index":
		r.place.content, _ = number(s)
	case "item":
		r.item = s.Raw()
	case "response":
		members(s, func(key string) {
			if key == "usage" && s.Kind() == '{' {
				d.chunk.usage = s.Raw()
			} else if !r.member(s, key) {
				s.Skip()
			}
		})
	default:
		return r.member(s, string(key))
	}
	return true
}

// member reads a member of a response.
func (r *responseDoc) member(s *jsontext.Scanner, key string) bool {
	switch key {
	case "id":
		r.id = s.Text()
	case "status":
		r.status = s.Text()
	case "store":
		r.stored = string(s.Raw()) == "true"
	case "output":
		r.output = s.Raw()
	case "output_text":
		r.outputText = s.Text()
	default:
		return false
	}
	return true
}

// afterResponse converts the document to a piece of a message.
func afterResponse(d *jsonAnswer) {
	r, p := d.state.(*responseDoc), &d.chunk.delta
	p.reset()
	p.set = true
	switch kind := d.chunk.typ.Raw; string(kind) {
	case "response.output_item.added":
		p.begun(r)
	case "response.completed", "response.incomplete", "":
		p.output(r)
	default:
		p.event(r, kind)
	}
	if !r.id.Empty() {
		r.lastID = r.id.String()
	}
	switch string(d.chunk.typ.Raw) {
	case "response.incomplete", "response.error", "response.failed", "error":
		r.failedStatus = true
	}
	r.failedStatus = r.failedStatus || string(r.status.Raw) == "failed"
	r.storing = r.storing || r.stored
}

// event reads an event about a part: a piece of it (.delta), or the whole part (.done) if no piece of it came before.
func (p *part) event(r *responseDoc, kind []byte) {
	stem, piece := bytes.CutSuffix(kind, []byte(".delta"))
	said := r.delta
	if !piece {
		var done bool
		if stem, done = bytes.CutSuffix(kind, []byte(".done")); !done {
			return
		}
		said = r.full
	}
	var to *jsontext.Text
	class := visibleOutput
	switch string(stem) {
	case "response.output_text":
		to = &p.content
	case "response.refusal":
		to = &p.refusal
	case "response.audio.transcript", "response.audio_transcript", "response.output_audio_transcript":
		to = &p.transcript
	case "response.reasoning_text", "response.reasoning_summary_text":
		to, class = &p.reasoning, reasoningOutput
	case "response.function_call_arguments", "response.custom_tool_call_input", "response.mcp_call_arguments", "response.code_interpreter_call_code":
		class = argumentsOutput
	default:
		return
	}
	r.place.class = class
	switch {
	case !r.seen.take(r.place, piece, said):
	case to != nil:
		*to = said
	default:
		p.tools = append(p.tools, call{arguments: said})
	}
}

// begun reads the name of a call that begins.
func (p *part) begun(r *responseDoc) {
	i := readItem(r.item)
	if i.called() {
		p.tools = append(p.tools, call{name: i.name})
		r.seen.name = r.seen.name || !i.name.Empty()
	}
}

// outputItem is an item of a response's output.
type outputItem struct {
	kind, id, name, arguments jsontext.Text
	texts, reasoning          []jsontext.Text
	refusal                   jsontext.Text
}

// called reports whether the item is a call of a tool whose arguments the model wrote.
func (i *outputItem) called() bool {
	switch string(i.kind.Raw) {
	case "function_call", "custom_tool_call", "mcp_call", "code_interpreter_call":
		return true
	}
	return false
}

// readItem reads an item.
func readItem(raw []byte) (i outputItem) {
	s := &jsontext.Scanner{Doc: raw}
	members(s, func(key string) {
		switch key {
		case "type":
			i.kind = s.Text()
		case "id":
			i.id = s.Text()
		case "name":
			i.name = s.Text()
		case "arguments", "input", "code":
			if c := s.Kind(); c == '{' || c == '[' {
				i.arguments = jsontext.Text{Raw: jsontext.AppendCompact(nil, s), Set: true}
			} else {
				i.arguments = s.Text()
			}
		case "content", "summary":
			elements(s, func() { i.piece(s) })
		default:
			s.Skip()
		}
	})
	return i
}

// piece reads a piece of a message's content or of a reasoning summary.
func (i *outputItem) piece(s *jsontext.Scanner) {
	var kind, said, refusal jsontext.Text
	members(s, func(key string) {
		switch key {
		case "type":
			kind = s.Text()
		case "text", "transcript":
			said = s.Text()
		case "refusal":
			refusal = s.Text()
		default:
			s.Skip()
		}
	})
	switch string(kind.Raw) {
	case "output_text", "output_audio":
		i.texts = append(i.texts, said)
	case "summary_text", "reasoning_text":
		i.reasoning = append(i.reasoning, said)
	case "refusal":
		i.refusal = refusal
	}
}

// output reads from a whole response what did not come before. That is everything if nothing came, text and calls if only reasoning came, and the
// arguments of calls if only the names came.
func (p *part) output(r *responseDoc) {
	x := &r.seen
	if x.classes[visibleOutput] || x.classes[argumentsOutput] {
		return
	}
	var thoughts []byte
	s := &jsontext.Scanner{Doc: r.output}
	elements(s, func() {
		i := readItem(s.Raw())
		if x.name {
			if i.called() {
				p.tools = append(p.tools, call{arguments: i.arguments})
			}
			return
		}
		p.parts = append(p.parts, i.texts...)
		if !i.refusal.Empty() {
			p.parts = append(p.parts, i.refusal)
		}
		for _, t := range i.reasoning {
			thoughts = t.Append(thoughts)
		}
		if i.called() {
			p.tools = append(p.tools, call{name: i.name, arguments: i.arguments})
		}
	})
	if len(p.parts)+len(p.tools) == 0 && !x.name {
		p.content = r.outputText
	}
	if !x.classes[reasoningOutput] {
		p.reasoning = jsontext.Text{Raw: thoughts, Set: len(thoughts) > 0}
	}
}

// responsesMemory is what a response leaves for later turns.
type responsesMemory struct {
	items  []json.RawMessage // items of its output, unchanged
	id     string            // "" = the server cannot continue from this response
	stored bool              // the answer says that the server stores it
}

// responsesBuilder collects the items of an answer by id.
type responsesBuilder struct {
	items []json.RawMessage
	place map[string]int // id -> index into items
}

// notReplayed are the types of items that later requests do not repeat.
var notReplayed = map[string]bool{"web_search_call": true, "file_search_call": true, "image_generation_call": true, "code_interpreter_call": true,
	"computer_call": true, "reasoning": true}

func (k *responsesBuilder) take(d *jsonAnswer) {
	r := d.state.(*responseDoc)
	if string(d.chunk.typ.Raw) == "response.output_item.done" && r.item != nil {
		k.keep(r.item)
	}
	if r.output != nil {
		s := &jsontext.Scanner{Doc: r.output}
		elements(s, func() { k.keep(s.Raw()) })
	}
}

func (k *responsesBuilder) keep(raw []byte) {
	i := readItem(raw)
	if notReplayed[string(i.kind.Raw)] {
		return
	}
	item := json.RawMessage(jsontext.AppendCompact(nil, &jsontext.Scanner{Doc: raw}))
	id := i.id.String()
	if at, known := k.place[id]; known && id != "" {
		k.items[at] = item
		return
	}
	if k.place == nil {
		k.place = map[string]int{}
	}
	k.place[id] = len(k.items)
	k.items = append(k.items, item)
}

func (k *responsesBuilder) memory(d *jsonAnswer) Memory {
	r, ok := d.state.(*responseDoc)
	if !ok {
		return nil
	}
	m := &responsesMemory{items: k.items, id: r.lastID, stored: r.storing}
	if d.failed != nil || r.failedStatus {
		m.id = ""
	}
	return m
}
