package endpoint

import (
	"errors"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// responsesType implements OpenAI's responses (endpoints, section 9.3).
var responsesType = jsonType{encode: encodeResponses, input: responsesInput,
	begin: beginResponse, member: responsesMember, after: afterResponse, newMemory: func() memoryBuilder { return new(responsesBuilder) }}

// openResponses makes the codec. It refuses chained responses whose input cannot be counted, because the server's stored history is in no payload.
func openResponses(s Settings) (Codec, error) {
	for _, m := range s.Extras {
		if m.Key == "store" && string(m.Value) == "true" && !s.ServerTokenCount {
			return nil, errors.New(s.Spell.Text("{endpoint.extra} store:true with {endpoint.type} responses needs {endpoint.use_server_token_count}: ") +
				"requests then hold only the new messages, so only the server can count the tokens")
		}
	}
	return responsesType.open(s)
}

// stores reports whether the run asks the server to keep its answers.
func (s *Settings) stores() bool {
	for _, m := range s.Extras {
		if m.Key == "store" {
			return string(m.Value) == "true"
		}
	}
	return false
}

func encodeResponses(b *body, t *conversation.Turn, h *History) error {
	past, id := h.Past, chain(b.set, h)
	if id != "" {
		past = nil // the server stores it
	}
	if err := b.items(t, h, past); err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	b.setBool("stream", b.set.Streaming)
	if id != "" {
		b.setString("previous_response_id", id)
	}
	if h.System != "" {
		b.setString("instructions", h.System)
	}
	if t.MaxTokens != nil {
		b.setInt("max_output_tokens", *t.MaxTokens)
	}
	if err := b.tools(t, h); err != nil {
		return err
	}
	b.streamOptions = b.set.Streaming && b.set.ServerTokenCount
	return nil
}

// chain returns the id of the answer that a request may continue, "" = the request holds the whole history. A request with a transport failure leaves
// the previous id in use; an answer that reports a failure breaks the chain.
func chain(s *Settings, h *History) (id string) {
	for i := range h.Past {
		if m, ok := h.Past[i].Reply.(*responsesMemory); ok {
			id = ""
			if m.stored || s.stores() {
				id = m.id
			}
		}
	}
	return id
}

// items writes the input: the user context, the earlier turns with the memories of their answers, and the turn itself.
func (b *body) items(t *conversation.Turn, h *History, past []PastTurn) error {
	a := len(b.buf)
	b.buf = append(b.buf, '[')
	w := itemWriter{messageWriter{b: b}}
	if h.UserContext != "" && len(past) == len(h.Past) {
		w.comma()
		b.buf = append(b.buf, `{"type":"message","role":"user","content":`...)
		b.buf = append(jsontext.AppendString(b.buf, h.UserContext), '}')
	}
	for i := range past {
		if err := w.turn(past[i].Turn); err != nil {
			return err
		}
		if m, ok := past[i].Reply.(*responsesMemory); ok {
			for _, item := range m.items {
				w.comma()
				b.buf = append(b.buf, item...)
			}
		}
	}
	if err := w.turn(t); err != nil {
		return err
	}
	b.buf = append(b.buf, ']')
	b.end("input", a)
	return nil
}

// itemWriter writes the elements of a list of items.
type itemWriter struct{ messageWriter }

func (w *itemWriter) turn(t *conversation.Turn) error {
	if t.RawMessages != nil {
		for _, m := range t.RawMessages {
			if err := w.ready(t, m); err != nil {
				return err
			}
		}
		return nil
	}
	role := t.Role
	if role == "" {
		role = "user"
	}
	w.open(role)
	if err := w.content(t); err != nil {
		return err
	}
	w.b.buf = append(w.b.buf, `,"type":"message"}`...)
	return nil
}

// content writes a single text as a string, anything else as a list of parts.
func (w *itemWriter) content(t *conversation.Turn) error {
	if len(t.Parts) == 1 && t.Parts[0].Kind == conversation.Text {
		w.b.buf = jsontext.AppendString(w.b.buf, t.Parts[0].Text)
		return nil
	}
	p := partWriter{b: w.b}
	for i := range t.Parts {
		if err := p.item(t, &t.Parts[i]); err != nil {
			return err
		}
	}
	p.end()
	return nil
}

// item writes a part in the format of responses.
func (p *partWriter) item(t *conversation.Turn, part *conversation.Part) error {
	switch part.Kind {
	case conversation.Text, conversation.ToolResult:
		if part.Text != "" {
			p.text("input_text", part.Text)
		}
	case conversation.Audio:
		return p.audio(t, part)
	case conversation.Image:
		if part.Blob == nil {
			return nil
		}
		p.open("input_image")
		p.b.buf = append(p.b.buf, `,"image_url":`...)
		if err := p.b.mediaURL(t, part.Blob); err != nil {
			return err
		}
		p.b.buf = append(p.b.buf, '}')
	default:
		return invalid(t, "endpoint type responses cannot carry video; chat can")
	}
	return nil
}

// responsesInput reads input, instructions and tools.
func responsesInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	switch string(key) {
	case "input":
		if s.Kind() == '"' {
			x.add(s.Text())
			return true
		}
		elements(s, func() { x.item(s) })
	case "instructions":
		x.add(s.Text())
	case "tools":
		elements(s, func() { x.tool(s) })
	default:
		return false
	}
	return true
}

// item reads a text, a message, a call or the result of a call.
func (x *inputTexts) item(s *jsontext.Scanner) {
	if s.Kind() == '"' {
		x.add(s.Text())
		return
	}
	var c call
	members(s, func(key string) {
		switch key {
		case "content", "output":
			x.content(s)
		case "name":
			c.name = s.Text()
		case "arguments", "input":
			c.arguments = s.Text()
		default:
			s.Skip()
		}
	})
	for _, t := range present(c.name, c.arguments) {
		x.add(t)
	}
}
