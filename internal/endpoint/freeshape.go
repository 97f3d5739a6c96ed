package endpoint

// freeNames are the well-known members in the order in which they are looked at.
var freeNames = []string{"data", "embeddings", "embedding", "rankings", "results", "text", "content", "response", "output", "result", "choices"}

// Indexes into freeNames.
const (
	firstRanking = 3
	firstText    = 5
	freeChoices  = 10
)

// freeDoc is what the document that is being read holds of the well-known members, unread; whole is a document that is a list.
type freeDoc struct {
	values [freeChoices + 1][]byte
	whole  []byte
}

func beginFree(d *jsonAnswer) {
	f, ok := d.state.(*freeDoc)
	if !ok {
		f = new(freeDoc)
		d.state = f
	}
	*f = freeDoc{}
}

func freeMember(d *jsonAnswer, s *scanner, key []byte) bool {
	for i, name := range freeNames {
		if string(key) == name {
			d.state.(*freeDoc).values[i] = s.raw()
			return true
		}
	}
	return false
}

// afterFree takes the first member that is content of its kind: vectors, scores, text.
func afterFree(d *jsonAnswer) {
	f, c := d.state.(*freeDoc), &d.chunk
	if f.whole != nil {
		c.listed(counted(f.whole, false))
		return
	}
	if s := (scanner{b: d.scan.b}); s.kind() == '"' || isDigit(s.kind()) || s.kind() == '-' {
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
		if p.said(v) {
			return
		}
	}
	p.choice(f.values[freeChoices])
}

// plainScalar takes a document of one string or one number as the text that it is.
func plainScalar(d *jsonAnswer, s *scanner) {
	d.chunk.delta.reset()
	d.chunk.delta.set = true
	if s.kind() == '"' {
		d.chunk.delta.content = s.text()
	} else {
		d.chunk.delta.content = text{raw: s.raw(), set: true}
	}
}

// counted counts vectors and objects in a list; with marked only elements whose object is "embedding" are vectors.
func counted(raw []byte, marked bool) (vectors, scores int) {
	s := scanner{b: raw}
	elements(&s, func() {
		switch c := s.kind(); {
		case c == '-' || isDigit(c):
			s.skip()
			if !marked {
				vectors = 1
			}
		case c == '[':
			if v := s.raw(); !marked && onlyNumbers(v) {
				vectors++
			}
		case c == '{':
			scores++
			if v := s.raw(); marked && embedded(v) {
				vectors++
			}
		default:
			s.skip()
		}
	})
	return vectors, scores
}

func onlyNumbers(raw []byte) bool {
	s, n, all := scanner{b: raw}, 0, true
	elements(&s, func() {
		c := s.kind()
		n, all = n+1, all && (c == '-' || isDigit(c))
		s.skip()
	})
	return n > 0 && all
}

// embedded tells whether an element of a list is an embedding with a vector.
func embedded(raw []byte) bool {
	s, kind := scanner{b: raw}, text{}
	members(&s, func(key string) {
		if key == "object" {
			kind = s.text()
		} else {
			s.skip()
		}
	})
	return string(kind.raw) == "embedding" && vector(&scanner{b: raw})
}

// said takes a string, maybe an empty one, or a list of strings; false = the value is none of both.
func (p *part) said(raw []byte) bool {
	s := scanner{b: raw}
	if s.kind() == '"' {
		p.content = s.text()
		return true
	}
	if s.kind() != '[' {
		return false
	}
	p.parts = p.parts[:0]
	strings := true
	elements(&s, func() {
		t := s.text()
		strings = strings && t.set
		p.parts = append(p.parts, t)
	})
	if !strings {
		p.parts = p.parts[:0]
	}
	return len(p.parts) > 0
}

// choice takes the text of the first choice: its own, its message's or its delta's.
func (p *part) choice(raw []byte) {
	s := scanner{b: raw}
	var own, message, delta text
	first := true
	elements(&s, func() {
		if !first {
			s.skip()
			return
		}
		first = false
		content := func(into *text) {
			members(&s, func(key string) {
				if key == "content" {
					*into = s.text()
				} else {
					s.skip()
				}
			})
		}
		members(&s, func(key string) {
			switch key {
			case "text":
				own = s.text()
			case "message":
				content(&message)
			case "delta":
				content(&delta)
			default:
				s.skip()
			}
		})
	})
	for _, t := range []text{own, message, delta} {
		if t.set {
			p.content = t
			return
		}
	}
}
