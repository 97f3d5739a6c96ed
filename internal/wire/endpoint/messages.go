package endpoint

import (
	"encoding/json"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// messagesType implements Anthropic's messages (endpoints, section 9.4).
var messagesType = jsonType{encode: encodeMessages, input: messagesInput,
	begin: beginMessages, member: messagesMember, after: afterMessages, newMemory: func() memoryBuilder { return new(messagesMemory) }}

// messagesAuth returns the headers of Anthropic's API: the key under its special name, and the API version unless the user set one.
func messagesAuth(key string, user []record.Header) (list []record.Header) {
	if key != "" {
		list = append(list, record.Header{Name: "x-api-key", Value: key})
	}
	for _, h := range user {
		if strings.EqualFold(h.Name, "anthropic-version") {
			return append(list, h)
		}
	}
	return append(list, record.Header{Name: "anthropic-version", Value: "2023-06-01"})
}

// defaultAnswer is the max_tokens of a body whose turn sets none: the API requires a value.
const defaultAnswer = 1024

func encodeMessages(b *body, t *conversation.Turn, h *History) error {
	b.setString("model", b.set.model(t))
	w := claudeWriter{messageWriter: messageWriter{b: b}}
	if h.System != "" {
		w.system = append(w.system, jsontext.AppendString(nil, h.System))
	}
	if err := w.messages(t, h); err != nil {
		return err
	}
	most := defaultAnswer
	if t.MaxTokens != nil {
		most = *t.MaxTokens
	}
	b.setInt("max_tokens", most)
	if b.set.Streaming {
		b.setBool("stream", true)
	}
	w.writeSystem()
	return b.tools(t, h)
}

// claudeWriter writes a list of user and assistant messages. System messages of the dataset go into the separate member "system".
type claudeWriter struct {
	messageWriter
	system []json.RawMessage // strings or lists of blocks, in order
}

func (w *claudeWriter) messages(t *conversation.Turn, h *History) error {
	b := w.b
	a := len(b.buf)
	b.buf = append(b.buf, '[')
	if h.UserContext != "" {
		w.plain("user", h.UserContext)
	}
	if err := w.history(h.Past, t, w.turn); err != nil {
		return err
	}
	b.buf = append(b.buf, ']')
	b.end("messages", a)
	return nil
}

func (w *claudeWriter) turn(t *conversation.Turn) error {
	for _, m := range t.RawMessages {
		if role, content := roleAndContent(m); role == "system" && content != nil {
			w.system = append(w.system, content)
		} else if err := w.ready(t, m); err != nil {
			return err
		}
	}
	if t.RawMessages != nil {
		return nil
	}
	role := t.Role
	switch role {
	case "":
		role = "user"
	case "system":
		w.system = append(w.system, jsontext.AppendString(nil, strings.Join(t.Contents(), "\n\n")))
		return nil
	}
	w.open(role)
	err := w.content(t)
	w.b.buf = append(w.b.buf, '}')
	return err
}

// content writes a single text as a string, anything else as a list of blocks.
func (w *claudeWriter) content(t *conversation.Turn) error {
	if len(t.Parts) == 1 && t.Parts[0].Kind == conversation.Text {
		w.b.buf = jsontext.AppendString(w.b.buf, t.Parts[0].Text)
		return nil
	}
	p := partWriter{b: w.b}
	for i := range t.Parts {
		if err := p.block(t, &t.Parts[i]); err != nil {
			return err
		}
	}
	p.end()
	return nil
}

// block writes a part in the format of messages.
func (p *partWriter) block(t *conversation.Turn, part *conversation.Part) error {
	switch part.Kind {
	case conversation.Text:
		if part.Text != "" {
			p.text("text", part.Text)
		}
	case conversation.ToolResult:
		p.open("tool_result")
		p.b.buf = jsontext.AppendString(append(p.b.buf, `,"tool_use_id":`...), part.ID)
		p.b.buf = append(jsontext.AppendString(append(p.b.buf, `,"content":`...), part.Text), '}')
	case conversation.Image:
		return p.source(t, part.Blob)
	case conversation.Audio:
		return invalid(t, "endpoint type messages cannot carry audio; chat and responses can")
	default:
		return invalid(t, "endpoint type messages cannot carry video; chat can")
	}
	return nil
}

// source writes an image as content or as an address.
func (p *partWriter) source(t *conversation.Turn, m *conversation.Blob) error {
	switch {
	case m == nil:
		return nil
	case !m.Inline():
		p.open("image")
		p.b.buf = append(p.b.buf, `,"source":{"type":"url","url":`...)
		p.b.buf = append(jsontext.AppendString(p.b.buf, m.Address()), '}', '}')
		return nil
	}
	content, err := m.Base64()
	if err != nil {
		return invalid(t, "%v", err)
	}
	media := m.MediaType()
	if media == "" {
		media = "image/png"
	}
	p.open("image")
	p.b.buf = append(p.b.buf, `,"source":{"type":"base64","media_type":`...)
	p.b.buf = append(jsontext.AppendString(p.b.buf, media), `,"data":"`...)
	p.b.share(content)
	p.b.buf = append(p.b.buf, '"', '}', '}')
	return nil
}

// writeSystem writes the system texts as one text, separated by blank lines. If they include blocks, it writes a list of blocks.
func (w *claudeWriter) writeSystem() {
	b := w.b
	if len(w.system) == 0 {
		return
	}
	a, texts := len(b.buf), []string(nil)
	for _, v := range w.system {
		if s := (jsontext.Scanner{Doc: v}); s.Kind() == '"' {
			texts = append(texts, s.Text().String())
		}
	}
	if len(texts) == len(w.system) {
		b.setString("system", strings.Join(texts, "\n\n"))
		return
	}
	p := partWriter{b: b}
	for _, v := range w.system {
		s := jsontext.Scanner{Doc: v}
		if s.Kind() == '"' {
			p.text("text", s.Text().String())
			continue
		}
		elements(&s, func() {
			c := byte(',')
			if !p.nonEmpty {
				c = '['
			}
			p.nonEmpty = true
			b.buf = jsontext.AppendCompact(append(b.buf, c), &s)
		})
	}
	p.end()
	b.end("system", a)
}

// roleAndContent parses a message of the dataset. content is nil unless it is a string or a list.
func roleAndContent(m json.RawMessage) (role string, content json.RawMessage) {
	s := jsontext.Scanner{Doc: m}
	members(&s, func(key string) {
		switch key {
		case "role":
			role = s.Text().String()
		case "content":
			if c := s.Kind(); c == '"' || c == '[' {
				content = s.Raw()
			} else {
				s.Skip()
			}
		default:
			s.Skip()
		}
	})
	if !s.Done() {
		return "", nil
	}
	return role, content
}

// messagesInput reads system, messages and tools.
func messagesInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	switch string(key) {
	case "system":
		x.blocks(s)
	case "messages":
		elements(s, func() {
			members(s, func(key string) {
				if key == "content" {
					x.blocks(s)
				} else {
					s.Skip()
				}
			})
		})
	case "tools":
		elements(s, func() { x.tool(s) })
	default:
		return false
	}
	return true
}

// blocks reads a string, or the texts of a list of blocks: texts, the name and input of calls, and tool results.
func (x *inputTexts) blocks(s *jsontext.Scanner) {
	if s.Kind() == '"' {
		x.add(s.Text())
		return
	}
	elements(s, func() {
		var name, input jsontext.Text
		members(s, func(key string) {
			switch key {
			case "text":
				x.add(s.Text())
			case "content":
				x.blocks(s)
			case "name":
				name = s.Text()
			case "input":
				input = jsontext.Text{Raw: jsontext.AppendCompact(nil, s), Set: true}
			case "type":
				if string(s.Text().Raw) == "image" {
					x.images++
				}
			default:
				s.Skip()
			}
		})
		for _, t := range present(name, input) {
			x.add(t)
		}
	})
}
