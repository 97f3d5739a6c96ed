package endpoint

import (
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// content writes the parts of a turn as content: a single plain text as a string, anything else as a list.
func (w *messageWriter) content(t *conversation.Turn) error {
	b := w.b
	if len(t.Parts) == 1 && t.Parts[0].Kind == conversation.Text {
		if content := t.Parts[0].Text; !w.force || content == "" {
			if w.prefix != "" {
				content = w.prefix + "\n\n" + content
			}
			b.buf = jsontext.AppendString(b.buf, content)
			return nil
		}
	}
	p := partWriter{b: b}
	if w.prefix != "" {
		p.text("text", w.prefix)
	}
	for i := range t.Parts {
		if err := p.chat(t, &t.Parts[i]); err != nil {
			return err
		}
	}
	p.end()
	return nil
}

// partWriter writes a list of content parts; without parts it writes the empty string.
type partWriter struct {
	b        *body
	nonEmpty bool
}

// open begins a part of a type.
func (p *partWriter) open(kind string) {
	if p.nonEmpty {
		p.b.buf = append(p.b.buf, ',')
	} else {
		p.b.buf = append(p.b.buf, '[')
	}
	p.nonEmpty = true
	p.b.buf = append(p.b.buf, `{"type":`...)
	p.b.buf = jsontext.AppendString(p.b.buf, kind)
}

func (p *partWriter) end() {
	if p.nonEmpty {
		p.b.buf = append(p.b.buf, ']')
	} else {
		p.b.buf = append(p.b.buf, '"', '"')
	}
}

func (p *partWriter) text(kind, s string) {
	p.open(kind)
	p.b.buf = append(p.b.buf, `,"text":`...)
	p.b.buf = jsontext.AppendString(p.b.buf, s)
	p.b.buf = append(p.b.buf, '}')
}

// chat writes a part in the format of chat completions.
func (p *partWriter) chat(t *conversation.Turn, part *conversation.Part) error {
	switch part.Kind {
	case conversation.Text, conversation.ToolResult:
		if part.Text != "" {
			p.text("text", part.Text)
		}
	case conversation.Image:
		return p.url(t, "image_url", part)
	case conversation.Video:
		return p.url(t, "video_url", part)
	case conversation.Audio:
		return p.audio(t, part)
	}
	return nil
}

// url writes media as an object with a URL. An image without content is written as its id alone; without an id either, it is omitted.
func (p *partWriter) url(t *conversation.Turn, kind string, part *conversation.Part) error {
	if part.Blob == nil && part.ID == "" {
		return nil
	}
	p.open(kind)
	p.b.buf = append(p.b.buf, `,"`...)
	p.b.buf = append(p.b.buf, kind...)
	p.b.buf = append(p.b.buf, `":{"url":`...)
	if err := p.b.mediaURL(t, part.Blob); err != nil {
		return err
	}
	p.b.buf = append(p.b.buf, '}')
	if part.ID != "" {
		p.b.buf = append(p.b.buf, `,"uuid":`...)
		p.b.buf = jsontext.AppendString(p.b.buf, part.ID)
	}
	p.b.buf = append(p.b.buf, '}')
	return nil
}

// mediaURL writes media as one string: the address, or a data URL with the shared content. nil is written as the empty string.
func (b *body) mediaURL(t *conversation.Turn, m *conversation.Blob) error {
	b.buf = append(b.buf, '"')
	err := b.mediaText(t, m)
	b.buf = append(b.buf, '"')
	return err
}

// mediaText writes the text between the quotes of mediaURL.
func (b *body) mediaText(t *conversation.Turn, m *conversation.Blob) error {
	switch {
	case m == nil:
		return nil
	case !m.Inline():
		b.inner(m.Address())
		return nil
	}
	content, err := m.Base64()
	if err != nil {
		return invalid(t, "%v", err)
	}
	head := "data:" + m.MediaType() + ";base64,"
	if a := m.Address(); a != "" { // unchanged, as the author wrote it
		head = a[:strings.IndexByte(a, ',')+1]
	}
	b.inner(head)
	b.share(content)
	return nil
}

// audio writes a clip with its content in base64.
func (p *partWriter) audio(t *conversation.Turn, part *conversation.Part) error {
	m := part.Blob
	if m == nil {
		return nil
	}
	if !m.Inline() {
		return invalid(t, "audio %.40q: must be FORMAT,BASE64 or data:audio/FORMAT;base64,BASE64", m.Address())
	}
	content, err := m.Base64()
	if err != nil {
		return invalid(t, "%v", err)
	}
	format := strings.TrimPrefix(m.MediaType(), "audio/")
	if format == "" {
		format = "wav"
	}
	p.open("input_audio")
	p.b.buf = append(p.b.buf, `,"input_audio":{"data":"`...)
	p.b.share(content)
	p.b.buf = append(p.b.buf, `","format":`...)
	p.b.buf = jsontext.AppendString(p.b.buf, format)
	p.b.buf = append(p.b.buf, '}', '}')
	return nil
}
