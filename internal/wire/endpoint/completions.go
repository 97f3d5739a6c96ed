package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// completionsType implements OpenAI's text completions.
var completionsType = jsonType{encode: encodeCompletions, input: promptInput, member: completionsMember}

// encodeCompletions builds the body of a text completion.
func encodeCompletions(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "completions"); err != nil {
		return err
	}
	list := t.Contents()
	if front := h.text(); front != "" {
		for i := range list {
			list[i] = front + list[i]
		}
	}
	a := len(b.buf)
	switch {
	case t.TokenIDs != nil:
		b.setIDs("prompt", t.TokenIDs)
	case len(list) == 1:
		b.buf = jsontext.AppendString(b.buf, list[0])
	default:
		b.strings(list)
	}
	b.end("prompt", a)
	b.setString("model", b.set.model(t))
	b.setBool("stream", b.set.Streaming)
	if t.MaxTokens != nil && *t.MaxTokens != 0 {
		b.setInt("max_tokens", *t.MaxTokens)
	}
	b.streamOptions = true
	return nil
}

// text returns the system message and the user context as a prefix of a prompt, each followed by a blank line.
func (h *History) text() string {
	text := ""
	for _, s := range []string{h.System, h.UserContext} {
		if s != "" {
			text += s + "\n\n"
		}
	}
	return text
}

// completionsMember reads the choices of an answer.
func completionsMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) == "metrics" {
		d.chunk.readDrafts(s)
		return true
	}
	if string(key) != "choices" {
		return false
	}
	d.chunk.delta.reset()
	d.chunk.delta.set = true
	d.chunk.finish = jsontext.Text{}
	firstChoice(d, s, textChoice)
	return true
}

func textChoice(d *jsonAnswer, s *jsontext.Scanner, key []byte) {
	switch string(key) {
	case "text":
		d.chunk.delta.content = s.Text()
	case "finish_reason":
		d.chunk.finish = s.Text()
	case "speculative_decoding_stats": // of older servers
		d.chunk.keepDrafts(s)
	default:
		s.Skip()
	}
}
