package jsontext

import (
	"slices"
	"unicode/utf8"

	"aiperf/internal/base/utf8text"
)

// longString is the length in bytes from which AppendString reserves room for the string plus a little more. Without that, the next appended byte
// would copy the string again.
const longString = 64 << 10

// AppendString writes s as a JSON string. It escapes only quotes, backslashes and control characters.
func AppendString(dst []byte, s string) []byte {
	if len(s) >= longString {
		dst = slices.Grow(dst, len(s)+len(s)/64)
	}
	dst = append(dst, '"')
	if plain(s) {
		dst = append(dst, s...)
		return append(dst, '"')
	}
	start := 0
	for i := 0; i < len(s); i++ {
		if !special[s[i]] {
			continue
		}
		dst = AppendUTF8(dst, []byte(s[start:i]))
		dst = appendEscape(dst, s[i])
		start = i + 1
	}
	dst = AppendUTF8(dst, []byte(s[start:]))
	return append(dst, '"')
}

// plain reports whether s is ASCII without characters to escape.
func plain(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	found := uint64(0) // a high bit is set in each byte that is not plain
	for ; len(s) >= 8; s = s[8:] {
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		quote, backslash := x^'"'*ones, x^'\\'*ones
		found |= x | (x - ' '*ones) | (quote - ones) | (backslash - ones)
	}
	for i := range len(s) {
		if special[s[i]] || s[i] >= 0x80 {
			return false
		}
	}
	return found&highs == 0
}

func appendEscape(dst []byte, c byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// AppendUTF8 appends b with invalid UTF-8 replaced.
func AppendUTF8(dst, b []byte) []byte {
	if utf8.Valid(b) {
		return append(dst, b...)
	}
	return append(dst, utf8text.Valid(b)...)
}

// StringEnd returns the index after the JSON string that begins at the quotation mark at an index; the length of the text if the string does not end.
func StringEnd(text []byte, at int) int {
	for i := at + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
