package serverprobe

import (
	"encoding/json"
	"strings"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// document is an answer or one of its events: a JSON object, read where the APIs put the model, token counts and reasoning.
type document map[string]any

// parse reads the document of a message; nil if it is not an object.
func parse(f framing.Format, m *record.Message) document {
	data := m.Raw
	if !m.Body {
		var e framing.Event
		framing.Take(f, &e, m)
		data = e.Data()
	}
	var d document
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	return d
}

// inner returns a member that is an object; nil = there is none.
func (d document) inner(name string) document {
	o, _ := d[name].(map[string]any)
	return o
}

// text returns a member that is a text; "" = there is none.
func (d document) text(name string) string {
	s, _ := d[name].(string)
	return s
}

// wrapped returns the document and those inside it in which some APIs wrap the answer: the responses and messages APIs.
func (d document) wrapped() []document { return []document{d, d.inner("response"), d.inner("message")} }

// model returns the model that the document names.
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

// counts reports whether the document contains token counts.
func (d document) counts() bool {
	if d["eval_count"] != nil { // Ollama
		return true
	}
	for _, w := range d.wrapped() {
		for _, name := range []string{"usage", "meta_info"} {
			if len(w.inner(name)) > 0 {
				return true
			}
		}
	}
	return false
}

// reasoning returns the name of the member with reasoning; "" = there is none.
func (d document) reasoning() string {
	if strings.Contains(d.text("type"), "reasoning") { // responses API: response.reasoning_text.delta
		return d.text("type")
	}
	if d.inner("delta").text("thinking") != "" || d.inner("message").text("thinking") != "" || d.text("thinking") != "" { // messages API, and Ollama's
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
	for _, block := range append(blocks(d["content"]), blocks(d["output"])...) { // messages and responses API, not streamed
		if kind := block.text("type"); kind == "thinking" || kind == "reasoning" {
			return kind
		}
	}
	return ""
}

// blocks returns the objects of a list.
func blocks(v any) (list []document) {
	all, _ := v.([]any)
	for _, one := range all {
		if o, ok := one.(map[string]any); ok {
			list = append(list, o)
		}
	}
	return list
}
