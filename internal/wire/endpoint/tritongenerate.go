package endpoint

import (
	"net/url"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// generateType implements Triton's generate extension (endpoints, section 11.3), with the model in the path.
var generateType = jsonType{encode: encodeGenerate, path: generatePath, input: generateInput, member: generateMember}

// generatePath returns the path of requests for a model.
func generatePath(set *Settings, t *conversation.Turn) string {
	path := "/v2/models/" + url.PathEscape(set.model(t)) + "/generate"
	if set.Streaming {
		path += "_stream"
	}
	return path
}

// encodeGenerate writes one prompt as a string, several as a list.
func encodeGenerate(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "generate"); err != nil {
		return err
	}
	list := t.Contents()
	a := len(b.buf)
	if len(list) == 1 {
		b.buf = jsontext.AppendString(b.buf, list[0])
	} else {
		b.strings(list)
	}
	b.end("text_input", a)
	if t.MaxTokens != nil {
		b.setInt("max_tokens", *t.MaxTokens)
	}
	if b.set.Streaming {
		b.setBool("stream", true)
	}
	return nil
}

// generateInput reads the prompt.
func generateInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "text_input" {
		return false
	}
	x.prompt(s)
	return true
}

// generateMember reads the output: a text, or texts to join.
func generateMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "text_output" {
		return false
	}
	p := &d.chunk.delta
	p.reset()
	p.set = true
	if s.Kind() != '[' {
		p.content = s.Text()
		return true
	}
	elements(s, func() { p.parts = append(p.parts, s.Text()) })
	return true
}
