package endpoint

import (
	"encoding/json"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// chatType implements OpenAI's chat completions.
var chatType = jsonType{encode: encodeChat, input: chatInput, member: chatMember, newMemory: func() memoryBuilder { return new(chatMemory) }}

// encodeChat builds the body of a chat completion.
func encodeChat(b *body, t *conversation.Turn, h *History) error {
	if err := b.messages(t, h); err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	b.setBool("stream", b.set.Streaming)
	if err := b.tools(t, h); err != nil {
		return err
	}
	if t.MaxTokens != nil {
		name := "max_completion_tokens"
		if b.set.LegacyMaxTokens {
			name = "max_tokens"
		}
		b.setInt(name, *t.MaxTokens)
	}
	b.streamOptions = true
	return nil
}

// tools writes the tools of the latest turn that has any.
func (b *body) tools(t *conversation.Turn, h *History) error {
	tools := t.RawTools
	for i := len(h.Past) - 1; i >= 0 && !isPresent(tools); i-- {
		tools = h.Past[i].Turn.RawTools
	}
	if isPresent(tools) && !b.setRaw("tools", tools) {
		return invalid(t, "tools: %.80q is not JSON", tools)
	}
	return nil
}

func isPresent(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }

// messages writes the system message, the user context, the earlier turns with their answers, and the turn itself.
func (b *body) messages(t *conversation.Turn, h *History) error {
	a := len(b.buf)
	b.buf = append(b.buf, '[')
	w := messageWriter{b: b, force: b.set.ForceContentParts, context: h.UserContext, prefix: h.System}
	if !startsWithSystem(h.First(t)) {
		w.writePrefix()
	}
	if err := w.history(h.Past, t, w.turn); err != nil {
		return err
	}
	b.buf = append(b.buf, ']')
	b.end("messages", a)
	return nil
}

// history writes the earlier turns, each with its answer, and then the turn that is sent now.
func (w *messageWriter) history(past []PastTurn, now *conversation.Turn, turn func(*conversation.Turn) error) error {
	for i := range past {
		if err := turn(past[i].Turn); err != nil {
			return err
		}
		if reply, ok := past[i].Reply.(json.RawMessage); ok {
			w.comma()
			w.b.buf = append(w.b.buf, reply...)
		}
	}
	return turn(now)
}

// messageWriter writes the elements of a chat's list of messages.
type messageWriter struct {
	b        *body
	force    bool
	prefix   string // generated system message that is not written yet
	context  string // generated user message that is not written yet
	nonEmpty bool
}

func (w *messageWriter) comma() {
	if w.nonEmpty {
		w.b.buf = append(w.b.buf, ',')
	}
	w.nonEmpty = true
}

// writePrefix writes the generated messages, unless an authored system message will include the system text.
func (w *messageWriter) writePrefix() {
	if w.prefix != "" {
		w.plain("system", w.prefix)
		w.prefix = ""
	}
	if w.context != "" {
		w.plain("user", w.context)
		w.context = ""
	}
}

func (w *messageWriter) plain(role, content string) {
	w.open(role)
	w.b.buf = jsontext.AppendString(w.b.buf, content)
	w.b.buf = append(w.b.buf, '}')
}

func (w *messageWriter) open(role string) {
	w.comma()
	w.b.buf = append(w.b.buf, `{"role":`...)
	w.b.buf = jsontext.AppendString(w.b.buf, role)
	w.b.buf = append(w.b.buf, `,"content":`...)
}

func (w *messageWriter) turn(t *conversation.Turn) error {
	if t.RawMessages != nil {
		for _, m := range t.RawMessages {
			if err := w.ready(t, m); err != nil {
				return err
			}
		}
		w.writePrefix()
		return nil
	}
	role := t.Role
	if role == "" {
		role = "user"
	}
	w.open(role)
	err := w.content(t)
	w.b.buf = append(w.b.buf, '}')
	w.prefix = ""
	w.writePrefix()
	return err
}

// ready copies a message of the dataset. It puts the generated system message in front of the content if that is not written yet.
func (w *messageWriter) ready(t *conversation.Turn, m json.RawMessage) error {
	w.comma()
	b := w.b
	a := len(b.buf)
	s := jsontext.Scanner{Doc: m}
	b.buf = jsontext.AppendCompact(b.buf, &s)
	if !s.Done() {
		return invalid(t, "message %.80q is not JSON", m)
	}
	if w.prefix == "" {
		return nil
	}
	var o object
	o.merge(&jsontext.Scanner{Doc: b.buf[a:]})
	if i := o.find("content"); i >= 0 {
		v := append([]byte(nil), o.value(i)...)
		from := len(o.buf)
		o.buf = prefixContent(o.buf, v, w.prefix)
		o.end("content", from)
	}
	b.buf = o.append(b.buf[:a])
	w.prefix = ""
	w.writePrefix()
	return nil
}

// prefixContent writes content with the generated system text in front of it.
func prefixContent(dst, content []byte, prefix string) []byte {
	switch s := (jsontext.Scanner{Doc: content}); s.Kind() {
	case '"':
		return jsontext.AppendString(dst, prefix+"\n\n"+s.Text().String())
	case '[':
		dst = append(dst, `[{"type":"text","text":`...)
		dst = jsontext.AppendString(dst, prefix)
		dst = append(dst, '}')
		if rest := content[1:]; len(rest) > 1 {
			dst = append(dst, ',')
			return append(dst, rest...)
		}
		return append(dst, ']')
	}
	return jsontext.AppendString(dst, prefix)
}

// startsWithSystem reports whether the first message of a turn is a system message.
func startsWithSystem(t *conversation.Turn) bool {
	if t.RawMessages == nil {
		return t.Role == "system"
	}
	if len(t.RawMessages) == 0 {
		return false
	}
	s := jsontext.Scanner{Doc: t.RawMessages[0]}
	if !s.Open('{') {
		return false
	}
	role := ""
	for first := true; s.Next('}', first); first = false {
		if string(s.Key()) == "role" {
			role = s.Text().String()
		} else {
			s.Skip()
		}
	}
	return role == "system"
}
