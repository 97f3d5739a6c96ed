package endpoint

import (
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// huggingFaceType implements Hugging Face's text generation (endpoints, section 9.9). The path, not the body, selects between a stream and a whole
// answer.
var huggingFaceType = jsonType{encode: encodeHuggingFace, extrasIn: "parameters", input: huggingFaceInput,
	member: huggingFaceMember, array: huggingFaceArray, begin: beginHuggingFace, after: afterHuggingFace}

func encodeHuggingFace(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "huggingface_generate"); err != nil {
		return err
	}
	b.setString("inputs", strings.Join(t.Contents(), " "))
	var parameters object
	if t.MaxTokens != nil {
		parameters.setInt("max_new_tokens", *t.MaxTokens)
	}
	b.setObject("parameters", &parameters)
	return nil
}

// huggingFaceInput reads the prompt.
func huggingFaceInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "inputs" {
		return false
	}
	x.prompt(s)
	return true
}

// huggingFaceDoc holds the fields of the current document.
type huggingFaceDoc struct {
	whole   jsontext.Text // generated_text: the answer, or in a stream a repetition of the answer
	token   jsontext.Text // token of a stream
	event   bool          // the document is a token of a stream
	special bool          // special token, which is not text, for example the end mark
	streams bool          // the answer contained a token event
}

func beginHuggingFace(d *jsonAnswer) {
	h := stateOf[huggingFaceDoc](d)
	*h = huggingFaceDoc{streams: h.streams}
}

// huggingFaceMember reads a member of an answer or of an event.
func huggingFaceMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	h := d.state.(*huggingFaceDoc)
	switch string(key) {
	case "generated_text":
		h.whole = s.Text()
	case "token":
		h.event = true
		members(s, func(key string) {
			switch key {
			case "text":
				h.token = s.Text()
			case "special":
				h.special = string(s.Raw()) == "true"
			default:
				s.Skip()
			}
		})
	case "details":
		members(s, func(key string) {
			if key == "finish_reason" {
				d.chunk.finish = s.Text()
			} else {
				s.Skip()
			}
		})
	default:
		return false
	}
	return true
}

// huggingFaceArray reads the first answer of a list. Of the others it only reads whether they have text.
func huggingFaceArray(d *jsonAnswer, s *jsontext.Scanner) bool {
	first := true
	elements(s, func() {
		if !first {
			members(s, func(key string) {
				if key != "generated_text" {
					s.Skip()
				} else if !s.Text().Empty() {
					d.chunk.more = true
				}
			})
			return
		}
		first = false
		members(s, func(key string) {
			if !huggingFaceMember(d, s, []byte(key)) {
				s.Skip()
			}
		})
	})
	return true
}

// afterHuggingFace uses the token of a stream, or the whole answer if no stream came before it.
func afterHuggingFace(d *jsonAnswer) {
	h, p := d.state.(*huggingFaceDoc), &d.chunk.delta
	p.reset()
	p.set = true
	switch {
	case h.event:
		h.streams = true
		if !h.special {
			p.content = h.token
		}
	case !h.streams:
		p.content = h.whole
	}
}
