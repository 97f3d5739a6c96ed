package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// imageGenerationType implements OpenAI's image generation (endpoints, section 9.11).
var imageGenerationType = jsonType{encode: encodeImageGeneration, input: promptInput, member: imagesMember}

// encodeImageGeneration sends only the first text of the turn; earlier turns are not sent.
func encodeImageGeneration(b *body, t *conversation.Turn, _ *History) error {
	text, err := onePrompt(t, "image_generation")
	if err != nil {
		return err
	}
	b.setString("prompt", text)
	b.setString("model", b.set.model(t))
	b.setString("response_format", "b64_json")
	b.setInt("n", 1)
	if b.set.Streaming {
		b.setBool("stream", true)
	}
	return nil
}

// onePrompt returns the first text of a turn, for the types that send only one.
func onePrompt(t *conversation.Turn, name string) (string, error) {
	texts := t.Contents()
	if len(texts) == 0 {
		return "", invalid(t, "endpoint type %s needs a text as the prompt", name)
	}
	return texts[0], nil
}

// onePromptRemarks reports texts that are not sent.
func onePromptRemarks(t *conversation.Turn) []string {
	if len(t.Contents()) > 1 {
		return []string{"only the first text is sent, as the prompt; the others are skipped"}
	}
	return nil
}

// imagesMember counts the images of an answer: those of its list, or the one in an event of a stream.
func imagesMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	switch string(key) {
	case "b64_json":
		if !s.Text().Empty() {
			d.chunk.kind, d.chunk.items = record.Images, d.chunk.items+1
		}
	case "data":
		elements(s, func() {
			if holdsImage(s) {
				d.chunk.kind, d.chunk.items = record.Images, d.chunk.items+1
			}
		})
	default:
		return false
	}
	return true
}

func holdsImage(s *jsontext.Scanner) (found bool) {
	members(s, func(key string) {
		if key == "b64_json" || key == "url" {
			found = !s.Text().Empty() || found
			return
		}
		s.Skip()
	})
	return found
}
