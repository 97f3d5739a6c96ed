package jsontext

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a JSON string of a document, not yet unescaped.
type Text struct {
	Raw     []byte // the bytes between the quotes, or a JSON value that is used as text
	Escaped bool
	Set     bool // the document has this string, which may be empty
}

// Empty reports whether there is no text.
func (t Text) Empty() bool { return len(t.Raw) == 0 }

// Append writes the characters to dst. It resolves escapes, and replaces half surrogates and invalid UTF-8 by U+FFFD.
func (t Text) Append(dst []byte) []byte {
	if !t.Escaped {
		return AppendUTF8(dst, t.Raw)
	}
	b := t.Raw
	for len(b) > 0 {
		plain := 0
		for plain < len(b) && b[plain] != '\\' {
			plain++
		}
		dst = AppendUTF8(dst, b[:plain])
		if b = b[plain:]; len(b) < 2 {
			break
		}
		switch b[1] {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, n := unicodeEscape(b)
			dst = utf8.AppendRune(dst, r)
			b = b[n:]
			continue
		default:
			dst = append(dst, b[1])
		}
		b = b[2:]
	}
	return dst
}

// String returns the text as a string.
func (t Text) String() string {
	if !t.Escaped && utf8.Valid(t.Raw) {
		return string(t.Raw)
	}
	return string(t.Append(make([]byte, 0, len(t.Raw))))
}

// unicodeEscape decodes \uXXXX, or a surrogate pair, and returns the character and the number of bytes read.
func unicodeEscape(b []byte) (rune, int) {
	r := hex4(b[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if both := utf16.DecodeRune(r, hex4(b[8:12])); both != utf8.RuneError {
			return both, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) (r rune) {
	for _, c := range b {
		r <<= 4
		if isDigit(c) {
			r |= rune(c - '0')
		} else {
			r |= rune(c|0x20-'a') + 10
		}
	}
	return r
}
