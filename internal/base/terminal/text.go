// Package terminal makes foreign text safe to show. Text from servers, files and names must not move the cursor, change colours, set a title, or
// reverse the writing direction. Text cleans one text. A Writer cleans a stream, and also removes known secrets.
package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text that is safe to show. Line ends and tabs stay. It writes out other control characters (C0, C1, DEL), invisible characters with
// an effect (bidirectional marks, foreign line ends, tags, soft hyphens) and invalid UTF-8: \x1b, \u202e. Joiners stay, because scripts and emoji
// need them.
func Text(s string) string {
	i := unsafeAt(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = unsafeAt(s) {
		b.WriteString(s[:i])
		r, n := utf8.DecodeRuneInString(s[i:])
		writeEscaped(&b, r, s[i:i+n])
		s = s[i+n:]
	}
	b.WriteString(s)
	return b.String()
}

// Line returns Text in one line: line ends and tabs become blanks.
func Line(s string) string {
	return Text(strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\t', '\u0085', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, s))
}

// unsafeAt returns the index of the first unsafe character; -1 if there is none.
func unsafeAt(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || hasEffect(r) {
			return i
		}
		i += n
	}
	return -1
}

// hasEffect reports whether a character is invisible but has an effect.
func hasEffect(r rune) bool {
	switch r {
	case '\u200c', '\u200d': // joiners
		return false
	case '\u2028', '\u2029', '\u115f', '\u1160', '\u3164', '\uffa0': // line ends, and letters that look blank
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// digits of the spelling.
const digits = "0123456789abcdef"

// writeEscaped writes out a character.
func writeEscaped(b *strings.Builder, r rune, raw string) {
	switch {
	case r == utf8.RuneError: // invalid UTF-8
		r = rune(raw[0])
		fallthrough
	case r < 0x100:
		b.Write([]byte{'\\', 'x', digits[r>>4], digits[r&15]})
	case r < 0x10000:
		b.Write([]byte{'\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
	default:
		b.WriteString(`\U`)
		for shift := 28; shift >= 0; shift -= 4 {
			b.WriteByte(digits[r>>shift&15])
		}
	}
}
