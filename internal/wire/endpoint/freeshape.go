package endpoint

import "aiperf/internal/base/jsontext"

// freeNames are the well-known members in the order of the search.
var freeNames = []string{"data", "embeddings", "embedding", "rankings", "results", "text", "content", "response", "output", "result", "choices"}

// Indexes into freeNames.
const (
	firstRanking = 3
	firstText    = 5
	freeChoices  = 10
)

// freeDoc holds the well-known members of the current document, unparsed. whole is a document that is a list.
type freeDoc struct {
	values [freeChoices + 1][]byte
	whole  []byte
}

func beginFree(d *jsonAnswer) {
	*stateOf[freeDoc](d) = freeDoc{}
}

func freeMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	for i, name := range freeNames {
		if string(key) == name {
			d.state.(*freeDoc).values[i] = s.Raw()
			return true
		}
	}
	return false
}

// afterFree uses the first member that is content of its kind: vectors, scores or text.
func afterFree(d *jsonAnswer) {
	f, c := d.state.(*freeDoc), &d.chunk
	if f.whole != nil {
		c.listed(counted(f.whole, false))
		return
	}
	if s := (jsontext.Scanner{Doc: d.scan.Doc}); s.Kind() == '"' || digit(s.Kind()) || s.Kind() == '-' {
		plainScalar(d, &s)
		return
	}
	for i, v := range f.values[:firstText] {
		vectors, scores := counted(v, i == 0)
		if i >= firstRanking {
			vectors = 0
		} else {
			scores = 0
		}
		if c.listed(vectors, scores) {
			return
		}
	}
	p := &c.delta
	p.reset()
	p.set = true
	for _, v := range f.values[firstText:freeChoices] {
		if p.readStrings(v) {
			return
		}
	}
	p.choice(f.values[freeChoices])
}

// plainScalar treats a document of one string or one number as text.
func plainScalar(d *jsonAnswer, s *jsontext.Scanner) {
	d.chunk.delta.reset()
	d.chunk.delta.set = true
	if s.Kind() == '"' {
		d.chunk.delta.content = s.Text()
	} else {
		d.chunk.delta.content = jsontext.Text{Raw: s.Raw(), Set: true}
	}
}

// counted counts the vectors and objects of a list. With marked, only elements whose "object" is "embedding" are vectors.
func counted(raw []byte, marked bool) (vectors, scores int) {
	s := jsontext.Scanner{Doc: raw}
	elements(&s, func() {
		switch c := s.Kind(); {
		case c == '-' || digit(c):
			s.Skip()
			if !marked {
				vectors = 1
			}
		case c == '[':
			if v := s.Raw(); !marked && onlyNumbers(v) {
				vectors++
			}
		case c == '{':
			scores++
			if v := s.Raw(); marked && embedded(v) {
				vectors++
			}
		default:
			s.Skip()
		}
	})
	return vectors, scores
}

func onlyNumbers(raw []byte) bool {
	s, n, all := jsontext.Scanner{Doc: raw}, 0, true
	elements(&s, func() {
		c := s.Kind()
		n, all = n+1, all && (c == '-' || digit(c))
		s.Skip()
	})
	return n > 0 && all
}

// embedded reports whether an element of a list is an embedding with a vector.
func embedded(raw []byte) bool {
	s, kind := jsontext.Scanner{Doc: raw}, jsontext.Text{}
	members(&s, func(key string) {
		if key == "object" {
			kind = s.Text()
		} else {
			s.Skip()
		}
	})
	return string(kind.Raw) == "embedding" && vector(&jsontext.Scanner{Doc: raw})
}

// readStrings reads a string, which may be empty, or a list of strings; false = the value is neither.
func (p *part) readStrings(raw []byte) bool {
	s := jsontext.Scanner{Doc: raw}
	if s.Kind() == '"' {
		p.content = s.Text()
		return true
	}
	if s.Kind() != '[' {
		return false
	}
	p.parts = p.parts[:0]
	strings := true
	elements(&s, func() {
		t := s.Text()
		strings = strings && t.Set
		p.parts = append(p.parts, t)
	})
	if !strings {
		p.parts = p.parts[:0]
	}
	return len(p.parts) > 0
}

// choice reads the text of the first choice: its own, that of its message, or that of its delta.
func (p *part) choice(raw []byte) {
	s := jsontext.Scanner{Doc: raw}
	var own, message, delta jsontext.Text
	first := true
	elements(&s, func() {
		if !first {
			s.Skip()
			return
		}
		first = false
		content := func(into *jsontext.Text) {
			members(&s, func(key string) {
				if key == "content" {
					*into = s.Text()
				} else {
					s.Skip()
				}
			})
		}
		members(&s, func(key string) {
			switch key {
			case "text":
				own = s.Text()
			case "message":
				content(&message)
			case "delta":
				content(&delta)
			default:
				s.Skip()
			}
		})
	})
	for _, t := range []jsontext.Text{own, message, delta} {
		if t.Set {
			p.content = t
			return
		}
	}
}

// freeInput reads a payload in the formats of the other types. A payload in another format has no known input.
func freeInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	switch string(key) {
	case "messages", "prompt":
		return chatInput(x, s, key)
	case "input", "instructions", "tools":
		return responsesInput(x, s, key)
	case "inputs":
		return huggingFaceInput(x, s, key)
	case "system":
		x.blocks(s)
		return true
	}
	return rankingsInput(x, s, key)
}
