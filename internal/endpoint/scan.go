package endpoint

// scanner walks over one JSON document without building a tree. It is strict (RFC 8259: no NaN, no raw control characters, nothing
// behind the value), matches names byte by byte and leaves it to the caller that the last of two equal names wins. On the first
// mistake it goes to the end and stays bad, so that callers need not check every step: they ask done at the end.
//
// It exists beside the libraries because an answer must be refused as a whole (NaN, cut JSON), read with the last of two equal
// names, have half surrogates replaced, and because an embedding is thousands of numbers that nobody reads.
type scanner struct {
	b   []byte
	i   int
	bad bool
	// depth of the value that skip is in.
	depth int
}

// maxDepth is how deep values may nest.
const maxDepth = 1000

func (s *scanner) fail() {
	s.bad = true
	s.i = len(s.b)
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\t', '\r':
			s.i++
		default:
			return
		}
	}
}

// kind looks at the first byte of the next value: one of {["tfn-0123456789, or 0 at the end.
func (s *scanner) kind() byte {
	if s.i < len(s.b) {
		if c := s.b[s.i]; c > ' ' {
			return c
		}
	}
	return s.afterSpace()
}

func (s *scanner) afterSpace() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// open enters an object or array; false when the next value is of another kind (nothing is consumed then).
func (s *scanner) open(bracket byte) bool {
	if s.kind() != bracket {
		return false
	}
	s.i++
	return true
}

// next goes to the next member of the object or element of the array that is open; false at its end.
// Use: for first := true; s.next('}', first); first = false { key := s.key(); ... one value ... }
func (s *scanner) next(end byte, first bool) bool {
	c := s.kind()
	if c == end {
		s.i++
		return false
	}
	if c == 0 {
		s.fail()
		return false
	}
	if !first {
		if c != ',' {
			s.fail()
			return false
		}
		s.i++
		if c = s.kind(); c == end || c == 0 {
			s.fail()
			return false
		}
	}
	return true
}

// key reads a member's name and the colon behind it.
func (s *scanner) key() []byte {
	if s.kind() != '"' {
		s.fail()
		return nil
	}
	t := s.text()
	if s.kind() != ':' {
		s.fail()
		return nil
	}
	s.i++
	if t.escaped {
		return t.append(nil)
	}
	return t.raw
}

// special marks the bytes at which a plain run inside a string ends.
var special = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// text reads a string. A value of another kind is skipped and gives an unset text.
func (s *scanner) text() text {
	if s.kind() != '"' {
		s.skip()
		return text{}
	}
	b, start := s.b, s.i+1
	escaped := false
	for i := start; i < len(b); i++ {
		c := b[i]
		if !special[c] {
			continue
		}
		switch c {
		case '"':
			s.i = i + 1
			return text{raw: b[start:i], escaped: escaped, set: true}
		case '\\':
			escaped = true
			n := escapeLen(b[i:])
			if n == 0 {
				s.fail()
				return text{}
			}
			i += n - 1
		default:
			s.fail()
			return text{}
		}
	}
	s.fail()
	return text{}
}

// escapeLen is the length of the escape at the start of b; 0 = not a valid one.
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

// raw skips a value and gives its bytes.
func (s *scanner) raw() []byte {
	s.space()
	start := s.i
	s.skip()
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// skip checks a value and goes behind it.
func (s *scanner) skip() {
	switch c := s.kind(); c {
	case '"':
		s.text()
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

func (s *scanner) skipNested(bracket byte) {
	if s.depth++; s.depth > maxDepth {
		s.fail()
		return
	}
	s.i++
	if bracket == '{' {
		for first := true; s.next('}', first); first = false {
			s.key()
			s.skip()
		}
	} else {
		for first := true; s.next(']', first); first = false {
			s.skip()
		}
	}
	s.depth--
}

func (s *scanner) literal(word string) {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		s.fail()
		return
	}
	s.i += len(word)
}

func (s *scanner) number() {
	b, i := s.b, s.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && isDigit(b[i]):
		i = digits(b, i)
	default:
		s.fail()
		return
	}
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if end == i+1 {
			s.fail()
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
			s.fail()
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

// done tells whether the document was well-formed up to its last byte.
func (s *scanner) done() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}
