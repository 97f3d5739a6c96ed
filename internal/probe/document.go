package probe

import (
	"encoding/json"
	"strings"

	"aiperf/internal/record"
	"aiperf/internal/sse"
)

// document is an answer or an event of one: a JSON object, looked at where the APIs name models, count tokens and hold reasoning.
type document map[string]any

// parse reads the document of a message; nil = there is none.
func parse(m *record.Message) document {
	data := m.Raw
	if !m.Body {
		var e sse.Event
		e.Parse(m.Raw)
		data = e.Data()
	}
	var d document
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	return d
}

// inner is a member that is an object; nil = there is none.
func (d document) inner(name string) document {
	o, _ := d[name].(map[string]any)
	return o
}

// text is a member that is a text.
func (d document) text(name string) string {
	s, _ := d[name].(string)
	return s
}

// wrapped are the document and those that some APIs wrap the answer in: responses and messages.
func (d document) wrapped() []document { return []document{d, d.inner("response"), d.inner("message")} }

// model is the model that the document names.
func (d document) model() string {
	for _, w := range d.wrapped() {
		for _, name := range []string{"model", "model_name"} {
			if text := w.text(name); text != "" {
				return text
			}
		}
	}
	return ""
}

// counts tells whether the document counts tokens.
func (d document) counts() bool {
	for _, w := range d.wrapped() {
		for _, name := range []string{"usage", "meta_info"} {
			if len(w.inner(name)) > 0 {
				return true
			}
		}
	}
	return false
}

// reasoning names the member that holds reasoning; "" = there is none.
func (d document) reasoning() string {
	if strings.Contains(d.text("type"), "reasoning") { // responses: response.reasoning_text.delta
		return d.text("type")
	}
	if d.inner("delta").text("thinking") != "" { // messages
		return "thinking"
	}
	choices, _ := d["choices"].([]any)
	for _, c := range choices {
		one, _ := c.(map[string]any)
		for _, part := range []string{"delta", "message"} {
			for _, name := range []string{"reasoning_content", "reasoning"} {
				if document(one).inner(part).text(name) != "" {
					return name
				}
			}
		}
	}
	for _, block := range append(blocks(d["content"]), blocks(d["output"])...) { // messages and responses in one piece
		if kind := block.text("type"); kind == "thinking" || kind == "reasoning" {
			return kind
		}
	}
	return ""
}

// blocks are the objects of a list.
func blocks(v any) (list []document) {
	all, _ := v.([]any)
	for _, one := range all {
		if o, ok := one.(map[string]any); ok {
			list = append(list, o)
		}
	}
	return list
}
