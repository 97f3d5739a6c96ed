package endpoint

import (
	"encoding/json"

	"aiperf/internal/jsontext"
)

// responseDoc is what the document that is being read holds besides what all types have: an event of a stream, or a whole response.
// Nested values stay unread until they are needed.
type responseDoc struct {
	delta, text           jsontext.Text
	outputIndex           float64
	contentIndex          float64
	item                  []byte
	id, status            jsontext.Text
	output                []byte
	outputText            jsontext.Text
	stored                bool
	seen                  map[[2]float64]bool // places whose text came in deltas; of the whole answer
	lastID                string              // of the whole answer
	failedStatus, storing bool                // of the whole answer
}

// beginResponse forgets the document before.
func beginResponse(d *jsonAnswer) {
	r := stateOf[responseDoc](d)
	if r.seen == nil {
		r.seen = map[[2]float64]bool{}
	}
	*r = responseDoc{seen: r.seen, lastID: r.lastID, failedStatus: r.failedStatus, storing: r.storing}
}

// responsesMember reads a top-level member of an event or a response.
func responsesMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	r := d.state.(*responseDoc)
	switch string(key) {
	case "delta":
		r.delta = s.Text()
	case "text":
		r.text = s.Text()
	case "output_index":
		r.outputIndex, _ = number(s)
	case "content_index":
		r.contentIndex, _ = number(s)
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

// afterResponse makes a piece of a message of the document.
func afterResponse(d *jsonAnswer) {
	r, p := d.state.(*responseDoc), &d.chunk.delta
	p.reset()
	p.set = true
	at := [2]float64{r.outputIndex, r.contentIndex}
	switch kind := string(d.chunk.typ.Raw); kind {
	case "response.output_text.delta":
		p.content = r.delta
		r.seen[at] = r.seen[at] || !r.delta.Empty()
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		p.reasoning = r.delta
	case "response.refusal.delta":
		p.refusal = r.delta
	case "response.audio.transcript.delta", "response.output_audio_transcript.delta":
		p.transcript = r.delta
	case "response.function_call_arguments.delta":
		p.tools = append(p.tools, call{arguments: r.delta})
	case "response.output_item.added":
		p.begun(r.item)
	case "response.output_text.done":
		if !r.seen[at] {
			p.content = r.text
		}
	case "response.completed", "response.incomplete", "":
		if len(d.cuts) == 0 {
			p.output(r)
		}
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

// begun takes the name of a call that begins.
func (p *part) begun(item []byte) {
	i := readItem(item)
	if string(i.kind.Raw) == "function_call" {
		p.tools = append(p.tools, call{name: i.name})
	}
}

// outputItem is an item of a response's output.
type outputItem struct {
	kind, id, name, arguments jsontext.Text
	texts, thoughts           []jsontext.Text
	refusal                   jsontext.Text
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
		case "arguments":
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

// piece reads a piece of a message's content or of a reasoning's summary.
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
		i.thoughts = append(i.thoughts, said)
	case "refusal":
		i.refusal = refusal
	}
}

// output takes all that a whole response says.
func (p *part) output(r *responseDoc) {
	var thoughts []byte
	s := &jsontext.Scanner{Doc: r.output}
	elements(s, func() {
		i := readItem(s.Raw())
		p.parts = append(p.parts, i.texts...)
		if !i.refusal.Empty() {
			p.parts = append(p.parts, i.refusal)
		}
		for _, t := range i.thoughts {
			thoughts = t.Append(thoughts)
		}
		if string(i.kind.Raw) == "function_call" {
			p.tools = append(p.tools, call{name: i.name, arguments: i.arguments})
		}
	})
	p.reasoning = jsontext.Text{Raw: thoughts, Set: len(thoughts) > 0}
	if len(p.parts)+len(p.tools)+len(thoughts) == 0 {
		p.content = r.outputText
	}
}

// responsesMemory is what a response leaves for the turns after it.
type responsesMemory struct {
	items  []json.RawMessage // of its output, as they came
	id     string            // "" = the server cannot be asked to go on from here
	stored bool              // the answer says that the server keeps it
}

// responsesKeeper gathers the items of an answer, each by its id.
type responsesKeeper struct {
	items []json.RawMessage
	place map[string]int // id -> index into items
}

// notReplayed are the types of items that a later request does not repeat.
var notReplayed = map[string]bool{"web_search_call": true, "file_search_call": true, "image_generation_call": true, "code_interpreter_call": true,
	"computer_call": true, "reasoning": true}

func (k *responsesKeeper) take(d *jsonAnswer) {
	r := d.state.(*responseDoc)
	if string(d.chunk.typ.Raw) == "response.output_item.done" && r.item != nil {
		k.keep(r.item)
	}
	if r.output != nil {
		s := &jsontext.Scanner{Doc: r.output}
		elements(s, func() { k.keep(s.Raw()) })
	}
}

func (k *responsesKeeper) keep(raw []byte) {
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

func (k *responsesKeeper) memory(d *jsonAnswer) Memory {
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
