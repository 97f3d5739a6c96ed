// Package utf8repair replaces invalid UTF-8 as Python and browsers do: one U+FFFD for each maximal part of an invalid sequence.
package utf8repair

import (
	"strings"
	"unicode/utf8"
)

// Valid returns s, or a copy in which every maximal invalid part is U+FFFD.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = broken(s)
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// broken returns the length of the maximal invalid part at the start of s: the lead byte and its continuation bytes that could still have become a
// character; at least 1.
func broken(s string) int {
	lead := s[0]
	lo, hi, want := byte(0x80), byte(0xBF), 0 // limits of the second byte, number of continuation bytes
	switch {
	case lead >= 0xC2 && lead <= 0xDF:
		want = 1
	case lead >= 0xE0 && lead <= 0xEF:
		want = 2
		switch lead {
		case 0xE0:
			lo = 0xA0
		case 0xED:
			hi = 0x9F
		}
	case lead >= 0xF0 && lead <= 0xF4:
		want = 3
		switch lead {
		case 0xF0:
			lo = 0x90
		case 0xF4:
			hi = 0x8F
		}
	}
	n := 1
	for ; n <= want && n < len(s) && s[n] >= lo && s[n] <= hi; n++ {
		lo, hi = 0x80, 0xBF
	}
	return n
}
