package endpoint

import (
	"encoding/json"
	"strings"

	"aiperf/internal/conversation"
)

// encodeChat builds the body of a chat completion.
func encodeChat(b *body, in *Input) error {
	turn := &in.Conversation.Turns[in.Turn]
	if err := b.messages(in); err != nil {
		return err
	}
	b.setString("model", in.modelOf(turn))
	b.setBool("stream", in.Streaming)
	if tools := latestTools(in); tools != nil && !b.setRaw("tools", tools) {
		return invalid(turn, "tools: %.80q is not JSON", tools)
	}
	if turn.MaxTokens != nil {
		name := "max_completion_tokens"
		if in.Options.LegacyMaxTokens {
			name = "max_tokens"
		}
		b.setInt(name, *turn.MaxTokens)
	}
	b.streamOptions = true
	return nil
}

// firstTurn is the first turn whose messages are part of this request.
func (in *Input) firstTurn() int {
	if in.Conversation.Mode == conversation.MessageArrayWithResponses {
		return in.Turn
	}
	return 0
}

func latestTools(in *Input) json.RawMessage {
	for i := in.Turn; i >= in.firstTurn(); i-- {
		if t := in.Conversation.Turns[i].RawTools; t != nil && string(t) != "null" {
			return t
		}
	}
	return nil
}

// messages writes the system message, the user context, the turns so far and the answers to them.
func (b *body) messages(in *Input) error {
	conv := in.Conversation
	a := len(b.buf)
	b.buf = append(b.buf, '[')
	w := messageWriter{b: b, force: in.Options.ForceContentParts, context: conv.UserContext, prefix: conv.System}
	answers := conv.Mode == "" || conv.Mode == conversation.DeltasWithoutResponses
	first := in.firstTurn()
	if !startsWithSystem(&conv.Turns[first]) {
		w.writePrefix()
	}
	for i := first; i <= in.Turn; i++ {
		if err := w.turn(&conv.Turns[i]); err != nil {
			return err
		}
		if answers && i < in.Turn && i < len(in.Replies) && len(in.Replies[i]) > 0 {
			w.comma()
			b.buf = append(b.buf, in.Replies[i]...)
		}
	}
	b.buf = append(b.buf, ']')
	b.end("messages", a)
	return nil
}

// messageWriter writes the elements of a chat's list of messages.
type messageWriter struct {
	b       *body
	force   bool
	prefix  string // generated system message still to be written
	context string // generated user message still to be written
	some    bool
}

func (w *messageWriter) comma() {
	if w.some {
		w.b.buf = append(w.b.buf, ',')
	}
	w.some = true
}

// writePrefix writes the generated messages that no authored system message takes up.
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
	w.b.buf = appendString(w.b.buf, content)
	w.b.buf = append(w.b.buf, '}')
}

func (w *messageWriter) open(role string) {
	w.comma()
	w.b.buf = append(w.b.buf, `{"role":`...)
	w.b.buf = appendString(w.b.buf, role)
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

// ready splices a message of the dataset, with the generated system message in front of its content if that is still to come.
func (w *messageWriter) ready(t *conversation.Turn, m json.RawMessage) error {
	w.comma()
	b := w.b
	a := len(b.buf)
	s := scanner{b: m}
	b.buf = appendCompact(b.buf, &s)
	if !s.done() {
		return invalid(t, "message %.80q is not JSON", m)
	}
	if w.prefix == "" {
		return nil
	}
	var o object
	o.merge(&scanner{b: b.buf[a:]})
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
	switch s := (scanner{b: content}); s.kind() {
	case '"':
		return appendString(dst, prefix+"\n\n"+s.text().String())
	case '[':
		dst = append(dst, `[{"type":"text","text":`...)
		dst = appendString(dst, prefix)
		dst = append(dst, '}')
		if rest := content[1:]; len(rest) > 1 {
			dst = append(dst, ',')
			return append(dst, rest...)
		}
		return append(dst, ']')
	}
	return appendString(dst, prefix)
}

// startsWithSystem tells whether the first message of a turn is a system message.
func startsWithSystem(t *conversation.Turn) bool {
	if t.RawMessages == nil {
		return t.Role == "system"
	}
	if len(t.RawMessages) == 0 {
		return false
	}
	s := scanner{b: t.RawMessages[0]}
	if !s.open('{') {
		return false
	}
	role := ""
	for first := true; s.next('}', first); first = false {
		if string(s.key()) == "role" {
			role = s.text().String()
		} else {
			s.skip()
		}
	}
	return role == "system"
}

// content writes the content of a turn built from its media: one plain text as a string, anything else as a list of parts.
func (w *messageWriter) content(t *conversation.Turn) error {
	b := w.b
	plain := len(t.Texts) == 1 && len(t.Texts[0].Contents) == 1 && len(t.Images)+len(t.Audios)+len(t.Videos) == 0
	if plain && (!w.force || t.Texts[0].Contents[0] == "") {
		content := t.Texts[0].Contents[0]
		if w.prefix != "" {
			content = w.prefix + "\n\n" + content
		}
		b.buf = appendString(b.buf, content)
		return nil
	}
	p := partWriter{b: b}
	if w.prefix != "" {
		p.text(w.prefix)
	}
	for _, s := range texts(t) {
		p.text(s)
	}
	for i := range t.Images {
		if err := p.images(t, &t.Images[i]); err != nil {
			return err
		}
	}
	for i := range t.Audios {
		for _, clip := range t.Audios[i].Contents {
			if err := p.audio(t, clip); err != nil {
				return err
			}
		}
	}
	for i := range t.Videos {
		for _, url := range t.Videos[i].Contents {
			p.media("video_url", url, "")
		}
	}
	p.end()
	return nil
}

// partWriter writes a list of content parts; with none it writes the empty string.
type partWriter struct {
	b    *body
	some bool
}

func (p *partWriter) open(kind string) {
	if p.some {
		p.b.buf = append(p.b.buf, ',')
	} else {
		p.b.buf = append(p.b.buf, '[')
	}
	p.some = true
	p.b.buf = append(p.b.buf, `{"type":`...)
	p.b.buf = appendString(p.b.buf, kind)
}

func (p *partWriter) end() {
	if p.some {
		p.b.buf = append(p.b.buf, ']')
	} else {
		p.b.buf = append(p.b.buf, '"', '"')
	}
}

func (p *partWriter) text(s string) {
	p.open("text")
	p.b.buf = append(p.b.buf, `,"text":`...)
	p.b.buf = appendString(p.b.buf, s)
	p.b.buf = append(p.b.buf, '}')
}

// media writes an image or video part; id is an authored id, "" = none.
func (p *partWriter) media(kind, url, id string) {
	p.open(kind)
	p.b.buf = append(p.b.buf, `,"`...)
	p.b.buf = append(p.b.buf, kind...)
	p.b.buf = append(p.b.buf, `":{"url":`...)
	p.b.buf = appendString(p.b.buf, url)
	p.b.buf = append(p.b.buf, '}')
	if id != "" {
		p.b.buf = append(p.b.buf, `,"uuid":`...)
		p.b.buf = appendString(p.b.buf, id)
	}
	p.b.buf = append(p.b.buf, '}')
}

// images writes the images of an entry. With ids, an image that is empty, or all of them missing, goes out as its id alone.
func (p *partWriter) images(t *conversation.Turn, m *conversation.Media) error {
	if len(m.UUIDs) == 0 {
		for _, url := range m.Contents {
			if url != "" {
				p.media("image_url", url, "")
			}
		}
		return nil
	}
	if len(m.Contents) != 0 && len(m.Contents) != len(m.UUIDs) {
		return invalid(t, "%d image ids for %d images: one id for each image, or ids alone", len(m.UUIDs), len(m.Contents))
	}
	for i, id := range m.UUIDs {
		url := ""
		if i < len(m.Contents) {
			url = m.Contents[i]
		}
		p.media("image_url", url, id)
	}
	return nil
}

// audio writes a clip given as "wav,BASE64", "mp3,BASE64" or a data URL.
func (p *partWriter) audio(t *conversation.Turn, clip string) error {
	if clip == "" {
		return nil
	}
	head, data, ok := strings.Cut(clip, ",")
	if !ok {
		return invalid(t, "audio %.40q: want FORMAT,BASE64 or data:audio/FORMAT;base64,BASE64", clip)
	}
	format := head
	if rest, isURL := strings.CutPrefix(head, "data:"); isURL {
		format, _, _ = strings.Cut(rest, ";")
		if format = strings.TrimPrefix(format, "audio/"); format == "" || format == rest {
			format = "wav"
		}
	}
	p.open("input_audio")
	p.b.buf = append(p.b.buf, `,"input_audio":{"data":`...)
	p.b.buf = appendString(p.b.buf, data)
	p.b.buf = append(p.b.buf, `,"format":`...)
	p.b.buf = appendString(p.b.buf, format)
	p.b.buf = append(p.b.buf, '}', '}')
	return nil
}
