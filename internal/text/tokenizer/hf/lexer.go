package hf

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// lexer reads JSON text without building values. Vocabularies have tens of megabytes; everything else is small.
type lexer struct {
	b   []byte
	i   int
	buf []byte // last string with escapes
}

func (l *lexer) fail(want string) error {
	found := "the end"
	if l.i < len(l.b) {
		found = strconv.Quote(string(l.b[l.i:min(len(l.b), l.i+20)]))
	}
	return fmt.Errorf("JSON, offset %d: found %s, want %s", l.i, found, want)
}

// peek skips white space and returns the next byte, 0 at the end.
func (l *lexer) peek() byte {
	for l.i < len(l.b) {
		switch c := l.b[l.i]; c {
		case ' ', '\t', '\n', '\r':
			l.i++
		default:
			return c
		}
	}
	return 0
}

func (l *lexer) expect(c byte) error {
	if l.peek() != c {
		return l.fail(strconv.QuoteRune(rune(c)))
	}
	l.i++
	return nil
}

// hasElement skips the comma before an element of an object or array that ends in end. It reports whether there is an element.
func (l *lexer) hasElement(end byte, first bool) (bool, error) {
	c := l.peek()
	if c == end {
		l.i++
		return false, nil
	}
	if first {
		return true, nil
	}
	if c != ',' {
		return false, l.fail("a comma or " + strconv.QuoteRune(rune(end)))
	}
	l.i++
	return true, nil
}

// str reads a string. The result is valid until the next call.
func (l *lexer) str() ([]byte, error) {
	if err := l.expect('"'); err != nil {
		return nil, err
	}
	begin := l.i
	for l.i < len(l.b) {
		switch l.b[l.i] {
		case '"':
			l.i++
			return l.b[begin : l.i-1], nil
		case '\\':
			l.buf = append(l.buf[:0], l.b[begin:l.i]...)
			return l.escaped()
		}
		l.i++
	}
	return nil, l.fail("the end of a string")
}

var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f', '"': '"', '\\': '\\', '/': '/'}

// escaped reads the rest of a string from its first backslash.
func (l *lexer) escaped() ([]byte, error) {
	for l.i < len(l.b) {
		c := l.b[l.i]
		l.i++
		switch {
		case c == '"':
			return l.buf, nil
		case c != '\\':
			l.buf = append(l.buf, c)
			continue
		case l.i >= len(l.b):
			return nil, l.fail("an escape")
		}
		e := l.b[l.i]
		l.i++
		if e != 'u' {
			r, ok := escapes[e]
			if !ok {
				return nil, l.fail("a known escape before here")
			}
			l.buf = append(l.buf, r)
			continue
		}
		r, ok := l.hex()
		if ok && utf16.IsSurrogate(r) {
			at := l.i
			low := rune(0)
			if bytes.HasPrefix(l.b[l.i:], []byte(`\u`)) {
				l.i += 2
				low, ok = l.hex()
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				l.i = at // a lone surrogate: the text after it is independent
			}
		}
		if !ok {
			return nil, l.fail("four hexadecimal digits before here")
		}
		l.buf = utf8.AppendRune(l.buf, r)
	}
	return nil, l.fail("the end of a string")
}

func (l *lexer) hex() (rune, bool) {
	if l.i+4 > len(l.b) {
		return 0, false
	}
	v := rune(0)
	for _, c := range l.b[l.i : l.i+4] {
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	l.i += 4
	return v, true
}

// integer reads a number that must be an integer from 0 to the maximum id.
func (l *lexer) integer() (int32, error) {
	c := l.peek()
	begin, n := l.i, int64(0)
	for ; l.i < len(l.b) && l.b[l.i] >= '0' && l.b[l.i] <= '9'; l.i++ {
		if n = n*10 + int64(l.b[l.i]-'0'); n > maxID {
			return 0, l.fail(fmt.Sprintf("an id of at most %d", maxID))
		}
	}
	if l.i == begin || c == 0 {
		return 0, l.fail("an id")
	}
	return int32(n), nil
}

// float reads a number.
func (l *lexer) float() (float64, error) {
	l.peek()
	begin := l.i
	for l.i < len(l.b) && bytes.IndexByte([]byte("+-.eE0123456789"), l.b[l.i]) >= 0 {
		l.i++
	}
	v, err := strconv.ParseFloat(string(l.b[begin:l.i]), 64)
	if err != nil {
		l.i = begin
		return 0, l.fail("a number")
	}
	return v, nil
}

// skip skips one value of any kind and returns its text.
func (l *lexer) skip() ([]byte, error) {
	l.peek()
	begin, depth := l.i, 0
	for l.i < len(l.b) {
		switch c := l.b[l.i]; c {
		case '"':
			if !l.skipString() {
				return nil, l.fail("the end of a string")
			}
			if depth == 0 {
				return l.b[begin:l.i], nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return l.value(begin)
			}
			if depth--; depth == 0 {
				l.i++
				return l.b[begin:l.i], nil
			}
		case ',':
			if depth == 0 {
				return l.value(begin)
			}
		}
		l.i++
	}
	if depth > 0 {
		return nil, l.fail("a closing bracket")
	}
	return l.value(begin)
}

// value returns the number or word from begin to the current position.
func (l *lexer) value(begin int) ([]byte, error) {
	v := bytes.TrimSpace(l.b[begin:l.i])
	if len(v) == 0 {
		return nil, l.fail("a value")
	}
	return v, nil
}

func (l *lexer) skipString() bool {
	for l.i++; l.i < len(l.b); l.i++ {
		k := bytes.IndexByte(l.b[l.i:], '"')
		if k < 0 {
			l.i = len(l.b)
			return false
		}
		l.i += k
		n := 0 // number of backslashes before the quote
		for l.b[l.i-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			l.i++
			return true
		}
	}
	return false
}

// object calls f for each key of an object, with the lexer before its value. f must read the value.
func (l *lexer) object(f func(key string) error) error {
	if err := l.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := l.hasElement('}', first)
		if err != nil || !more {
			return err
		}
		key, err := l.str()
		if err != nil {
			return err
		}
		name := string(key)
		if err := l.expect(':'); err != nil {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
	}
}

// array calls f before each element. f must read it.
func (l *lexer) array(f func(i int) error) error {
	if err := l.expect('['); err != nil {
		return err
	}
	for i := 0; ; i++ {
		more, err := l.hasElement(']', i == 0)
		if err != nil || !more {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
}
