package endpoint

import (
	"encoding/json"
	"fmt"

	"github.com/jmespath/go-jmespath"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
)

// freeType returns a type whose answers have no fixed format: template and raw (endpoints, section 9.16). field selects the value that counts; nil =
// the first of the well-known members. A document that is not JSON counts as text.
func freeType(field *answerField) jsonType {
	t := jsonType{input: freeInput, decodePlain: looseAnswer, lastEnds: true}
	if field != nil {
		t.after = field.read
		t.member = func(*jsonAnswer, *jsontext.Scanner, []byte) bool { return false }
		return t
	}
	t.begin, t.member, t.after = beginFree, freeMember, afterFree
	t.array = func(d *jsonAnswer, s *jsontext.Scanner) bool {
		d.state.(*freeDoc).whole = s.Raw()
		return true
	}
	return t
}

// responseExtra is the extra that names the value that counts.
const responseExtra = "response_field"

// answerField selects the value of an answer that counts.
type answerField struct {
	expression string
	path       *jmespath.JMESPath
}

// read reads the current document. The answer remembers why a value is not content.
func (f *answerField) read(d *jsonAnswer) {
	value := searched(f.path, treeOf(d.scan.Doc))
	if !d.chunk.setContent(value) || value == "" {
		d.missed = responseExtra + " " + f.expression + " selects " + valueKind(value)
	}
}

// valueKind names a value without content.
func valueKind(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing in the answer"
	case string:
		return "an empty text"
	case float64:
		return "a number, not a text"
	case bool:
		return "true or false, not a text"
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return "a list that is neither of numbers nor of objects"
	}
	return "an object, not a text"
}

// responseField removes response_field from the extras and parses it. The name "text" means the well-known members.
func responseField(s *Settings) (*answerField, error) {
	path, err := consume(s, responseExtra)
	if err != nil || path == "" || path == "text" {
		return nil, err
	}
	field, err := compilePath(path)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %q is not a JMESPath expression: %w", s.Spell.As("endpoint.extra"), responseExtra, path, err)
	}
	return &answerField{path, field}, nil
}

// consume removes an extra with a string value from the list, so that it is not sent.
func consume(s *Settings, key string) (value string, err error) {
	var rest []Member
	for _, m := range s.Extras {
		if m.Key != key {
			rest = append(rest, m)
			continue
		}
		if err := json.Unmarshal(m.Value, &value); err != nil {
			return "", fmt.Errorf("%s %s: must be a text, got %.80s", s.Spell.As("endpoint.extra"), key, m.Value)
		}
	}
	s.Extras = rest
	return value, nil
}

// setContent converts a selected value to content: a text, a list of numbers or of lists of numbers (vectors), or a list of objects (scores). It
// reports whether the value is one of these.
func (c *chunk) setContent(value any) bool {
	switch v := value.(type) {
	case string:
		c.delta.reset()
		c.delta.set, c.delta.content = true, jsontext.Text{Raw: []byte(v), Set: true}
		return true
	case []any:
		vectors, scores := 0, 0
		for _, e := range v {
			switch e := e.(type) {
			case float64:
				vectors = 1
			case []any:
				if len(e) > 0 && allNumbers(e) {
					vectors++
				}
			case map[string]any:
				scores++
			}
		}
		return c.listed(vectors, scores)
	}
	return false
}

func allNumbers(list []any) bool {
	for _, e := range list {
		if _, ok := e.(float64); !ok {
			return false
		}
	}
	return true
}

// listed records the number of elements of a list that is content.
func (c *chunk) listed(vectors, scores int) bool {
	switch {
	case vectors > 0:
		c.kind, c.items = record.Embeddings, vectors
	case scores > 0:
		c.kind, c.items = record.Rankings, scores
	}
	return vectors+scores > 0
}

// looseAnswer treats a document that is not JSON as text.
func looseAnswer(d *jsonAnswer, doc []byte) {
	d.chunk.reset()
	d.chunk.delta.reset()
	d.chunk.delta.set, d.chunk.delta.content = true, jsontext.Text{Raw: doc, Set: true}
}
