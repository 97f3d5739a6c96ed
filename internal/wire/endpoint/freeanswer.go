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
func freeType(field *jmespath.JMESPath) jsonType {
	t := jsonType{input: freeInput, decodePlain: looseAnswer, lastEnds: true}
	if field != nil {
		t.after = func(d *jsonAnswer) { d.chunk.setContent(selected(field, d.scan.Doc)) }
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

// responseField removes response_field from the extras and parses it. The name "text" means the well-known members.
func responseField(s *Settings) (*jmespath.JMESPath, error) {
	path, err := consume(s, "response_field")
	if err != nil || path == "" || path == "text" {
		return nil, err
	}
	field, err := jmespath.Compile(path)
	if err != nil {
		return nil, fmt.Errorf("%s response_field: %q is not a JMESPath expression: %w", s.Spell.As("endpoint.extra"), path, err)
	}
	return field, nil
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

// selected evaluates an expression on a document; nil = no such value.
func selected(field *jmespath.JMESPath, doc []byte) any { return searched(field, treeOf(doc)) }

// setContent converts a selected value to content: a text, a list of numbers or of lists of numbers (vectors), or a list of objects (scores).
func (c *chunk) setContent(value any) {
	switch v := value.(type) {
	case string:
		c.delta.reset()
		c.delta.set, c.delta.content = true, jsontext.Text{Raw: []byte(v), Set: true}
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
		c.listed(vectors, scores)
	}
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
