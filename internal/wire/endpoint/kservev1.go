package endpoint

import (
	"encoding/json"
	"net/url"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// Extras that name the members of an instance and of a prediction.
const (
	fieldInput  = "v1_input_field"
	fieldOutput = "v1_output_field"
)

// openKServeV1 makes the codec of the first version of KServe's protocol (endpoints, section 11.5): one instance, one prediction. The extras
// v1_input_field and v1_output_field name the members that hold the input text and the output text.
func openKServeV1(s Settings) (Codec, error) {
	input, err := consume(&s, fieldInput)
	if err != nil {
		return nil, err
	}
	output, err := consume(&s, fieldOutput)
	if err != nil {
		return nil, err
	}
	if input == "" {
		input = "text"
	}
	if output == "" {
		output = "output"
	}
	t := jsonType{
		path: func(set *Settings, t *conversation.Turn) string {
			return "/v1/models/" + url.PathEscape(set.model(t)) + ":predict"
		},
		encode: func(b *body, t *conversation.Turn, h *History) error {
			if err := rejectHistory(t, h, "kserve_v1_predict"); err != nil {
				return err
			}
			text, err := onePrompt(t, "kserve_v1_predict")
			if err != nil {
				return err
			}
			var instance object
			instance.setString(input, text)
			a := len(b.buf)
			b.buf = append(instance.append(append(b.buf, '[')), ']')
			b.end("instances", a)
			return nil
		},
		input: func(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
			if string(key) != "instances" {
				return false
			}
			elements(s, func() {
				members(s, func(key string) {
					if key == input {
						x.prompt(s)
					} else {
						s.Skip()
					}
				})
			})
			return true
		},
		member: func(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
			if string(key) != "predictions" {
				return false
			}
			prediction(d, s, output)
			return true
		},
	}
	return t.open(s)
}

// prediction reads the first element of a list: a text, or an object with a text. Any other value is content without text. Of the other elements it only
// reads whether they have text.
func prediction(d *jsonAnswer, s *jsontext.Scanner, output string) {
	first := true
	text := func() {
		if said := s.Text(); !first {
			d.chunk.more = d.chunk.more || !said.Empty()
		} else {
			p := &d.chunk.delta
			p.reset()
			p.set, p.content = true, said
		}
	}
	elements(s, func() {
		switch s.Kind() {
		case '"':
			text()
		case '{':
			members(s, func(key string) {
				if key == output && s.Kind() == '"' {
					text()
				} else {
					s.Skip()
				}
			})
		default:
			if v := s.Raw(); first && json.Valid(v) && string(v) != "null" {
				d.chunk.kind, d.chunk.items = record.Other, 1
			}
		}
		first = false
	})
}
