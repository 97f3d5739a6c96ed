package endpoint

import "aiperf/internal/conversation"

// encodeCompletions builds the body of a text completion.
func encodeCompletions(b *body, in *Input) error {
	t, err := in.onlyTurn("completions")
	if err != nil {
		return err
	}
	list := texts(t)
	if front := contextText(in.Conversation); front != "" {
		for i := range list {
			list[i] = front + list[i]
		}
	}
	a := len(b.buf)
	if len(list) == 1 {
		b.buf = appendString(b.buf, list[0])
	} else {
		b.strings(list)
	}
	b.end("prompt", a)
	b.setString("model", in.modelOf(t))
	b.setBool("stream", in.Streaming)
	if t.MaxTokens != nil && *t.MaxTokens != 0 {
		b.setInt("max_tokens", *t.MaxTokens)
	}
	b.streamOptions = true
	return nil
}

// contextText is the system message and the user context as they stand in front of a prompt: a blank line behind each.
func contextText(c *conversation.Conversation) string {
	text := ""
	for _, s := range []string{c.System, c.UserContext} {
		if s != "" {
			text += s + "\n\n"
		}
	}
	return text
}

// completionsMember reads the choices of an answer.
func completionsMember(d *decoder, s *scanner, key []byte) bool {
	if string(key) != "choices" {
		return false
	}
	d.chunk.delta.reset()
	d.chunk.delta.set = true
	d.chunk.finish = text{}
	firstChoice(d, s, textChoice)
	return true
}

func textChoice(d *decoder, s *scanner, key []byte) {
	switch string(key) {
	case "text":
		d.chunk.delta.content = s.text()
	case "finish_reason":
		d.chunk.finish = s.text()
	default:
		s.skip()
	}
}
