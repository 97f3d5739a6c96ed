package jsontext

// Scanner walks over one JSON document without building a tree. It is strict (RFC 8259: no NaN, no raw control characters, nothing after the value)
// and compares names byte by byte. Callers must let the last of two equal names win. At the first error it skips to the end of the document and stays
// bad, so callers check Done only once, at the end.
//
// encoding/json does not fit, because a response must be rejected as a whole (NaN, truncated JSON), the last of two equal names must win, and half
// surrogates must be replaced. Also, an embedding has thousands of numbers that nobody reads.
type Scanner struct {
	Doc []byte // the document
	i   int
	bad bool
	// depth of the value that Skip is in.
	depth int
}

// maxDepth is the maximum nesting of values.
const maxDepth = 1000

// Fail marks the document as bad.
func (s *Scanner) Fail() {
	s.bad = true
	s.i = len(s.Doc)
}

func (s *Scanner) space() {
	for s.i < len(s.Doc) {
		switch s.Doc[s.i] {
		case ' ', '\n', '\t', '\r':
			s.i++
		default:
			return
		}
	}
}

// Kind returns the first byte of the next value without consuming it: one of {["tfn-0123456789, or 0 at the end.
func (s *Scanner) Kind() byte {
	if s.i < len(s.Doc) {
		if c := s.Doc[s.i]; c > ' ' {
			return c
		}
	}
	return s.afterSpace()
}

func (s *Scanner) afterSpace() byte {
	s.space()
	if s.i < len(s.Doc) {
		return s.Doc[s.i]
	}
	return 0
}

// Open enters an object or array. It returns false and consumes nothing if the next value is of another kind.
func (s *Scanner) Open(bracket byte) bool {
	if s.Kind() != bracket {
		return false
	}
	s.i++
	return true
}

// Next advances to the next member of the open object, or element of the open array; false at its end.
// Use: for first := true; s.Next('}', first); first = false { key := s.Key(); ... one value ... }
func (s *Scanner) Next(end byte, first bool) bool {
	c := s.Kind()
	if c == end {
		s.i++
		return false
	}
	if c == 0 {
		s.Fail()
		return false
	}
	if !first {
		if c != ',' {
			s.Fail()
			return false
		}
		s.i++
		if c = s.Kind(); c == end || c == 0 {
			s.Fail()
			return false
		}
	}
	return true
}

// Key reads a member's name and the colon after it.
func (s *Scanner) Key() []byte {
	if s.Kind() != '"' {
		s.Fail()
		return nil
	}
	t := s.Text()
	if s.Kind() != ':' {
		s.Fail()
		return nil
	}
	s.i++
	if t.Escaped {
		return t.Append(nil)
	}
	return t.Raw
}

// special marks the bytes that end a plain run inside a string.
var special = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// Text reads a string. A value of another kind is skipped, and the result has Set = false.
func (s *Scanner) Text() Text {
	if s.Kind() != '"' {
		s.Skip()
		return Text{}
	}
	b, start := s.Doc, s.i+1
	escaped := false
	for i := start; i < len(b); i++ {
		c := b[i]
		if !special[c] {
			continue
		}
		switch c {
		case '"':
			s.i = i + 1
			return Text{Raw: b[start:i], Escaped: escaped, Set: true}
		case '\\':
			escaped = true
			n := escapeLen(b[i:])
			if n == 0 {
				s.Fail()
				return Text{}
			}
			i += n - 1
		default:
			s.Fail()
			return Text{}
		}
	}
	s.Fail()
	return Text{}
}

// escapeLen returns the length of the escape at the start of b; 0 if it is invalid.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !isHex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Raw skips a value and returns its bytes.
func (s *Scanner) Raw() []byte {
	s.space()
	start := s.i
	s.Skip()
	if s.bad {
		return nil
	}
	return s.Doc[start:s.i]
}

// Skip checks a value and moves past it.
func (s *Scanner) Skip() {
	switch c := s.Kind(); c {
	case '"':
		s.Text()
	case '{', '[':
		s.skipNested(c)
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

func (s *Scanner) skipNested(bracket byte) {
	if s.depth++; s.depth > maxDepth {
		s.Fail()
		return
	}
	s.i++
	if bracket == '{' {
		for first := true; s.Next('}', first); first = false {
			s.Key()
			s.Skip()
		}
	} else {
		for first := true; s.Next(']', first); first = false {
			s.Skip()
		}
	}
	s.depth--
}

func (s *Scanner) literal(word string) {
	if len(s.Doc)-s.i < len(word) || string(s.Doc[s.i:s.i+len(word)]) != word {
		s.Fail()
		return
	}
	s.i += len(word)
}

func (s *Scanner) number() {
	b, i := s.Doc, s.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && isDigit(b[i]):
		i = digits(b, i)
	default:
		s.Fail()
		return
	}
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if end == i+1 {
			s.Fail()
			return
		}
		i = end
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := digits(b, i)
		if end == i {
			s.Fail()
			return
		}
		i = end
	}
	s.i = i
}

func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// Done reports whether the whole document was well-formed.
func (s *Scanner) Done() bool {
	s.space()
	return !s.bad && s.i == len(s.Doc)
}
