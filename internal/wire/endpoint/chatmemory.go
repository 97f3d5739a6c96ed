package endpoint

import (
	"encoding/json"

	"aiperf/internal/base/jsontext"
)

// chatMemory joins the pieces of a chat answer to the message that later turns repeat.
type chatMemory struct {
	text  []byte
	calls []wholeCall
}

// wholeCall is a tool call with its pieces joined.
type wholeCall struct {
	index                     int
	id, kind, name, arguments []byte
	custom                    bool
}

func (k *chatMemory) take(d *jsonAnswer) {
	p := d.chunk.chosen()
	k.text = p.appendText(k.text)
	for i := range p.tools {
		c := &p.tools[i]
		w := k.call(c.index)
		if !c.id.Empty() {
			w.id = c.id.Append(w.id[:0])
		}
		if !c.kind.Empty() {
			w.kind = c.kind.Append(w.kind[:0])
		}
		w.name = c.name.Append(w.name)
		w.arguments = c.arguments.Append(w.arguments)
		w.custom = w.custom || c.custom
	}
}

// call returns the call with an index; it adds it if it is new.
func (k *chatMemory) call(index int) *wholeCall {
	for i := range k.calls {
		if k.calls[i].index == index {
			return &k.calls[i]
		}
	}
	k.calls = append(k.calls, wholeCall{index: index})
	return &k.calls[len(k.calls)-1]
}

// memory returns the answer as a message. Its content is the prose, or the reasoning if there is nothing else. With tool calls the content is the
// prose or null.
func (k *chatMemory) memory(d *jsonAnswer) Memory {
	if d.failed != nil {
		return nil
	}
	content := k.text
	if len(content) == 0 && len(k.calls) == 0 {
		content = d.reasoning
	}
	if len(content) == 0 && len(k.calls) == 0 {
		return nil
	}
	b := []byte(`{"role":"assistant","content":`)
	if len(content) == 0 {
		b = append(b, "null"...)
	} else {
		b = jsontext.AppendString(b, string(content))
	}
	for i := range k.calls {
		b = k.calls[i].append(b, i == 0)
	}
	if len(k.calls) > 0 {
		b = append(b, ']')
	}
	return json.RawMessage(append(b, '}'))
}

func (c *wholeCall) append(b []byte, first bool) []byte {
	if first {
		b = append(b, `,"tool_calls":[`...)
	} else {
		b = append(b, ',')
	}
	b = append(b, `{"id":`...)
	b = jsontext.AppendString(b, string(c.id))
	member, arguments := "function", "arguments"
	if c.custom {
		member, arguments = "custom", "input"
	}
	kind := string(c.kind)
	if kind == "" {
		kind = member
	}
	b = append(b, `,"type":`...)
	b = jsontext.AppendString(b, kind)
	b = append(b, `,"`+member+`":{"name":`...)
	b = jsontext.AppendString(b, string(c.name))
	b = append(b, `,"`+arguments+`":`...)
	b = jsontext.AppendString(b, string(c.arguments))
	return append(b, '}', '}')
}
