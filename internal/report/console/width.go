package console

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"aiperf/internal/report/termdraw"
)

// columnsOf returns the number of terminal columns of a text: two for wide characters, none for combining marks.
func columnsOf(s string) (n int) {
	for _, r := range s {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// asciiWriter replaces every non-ASCII character by an ASCII one of the same width, for terminals that show only ASCII.
type asciiWriter struct{ io.Writer }

// Write implements io.Writer.
func (w asciiWriter) Write(text []byte) (int, error) {
	var b strings.Builder
	rest := string(text)
	for rest != "" {
		n := strings.IndexAny(rest, "\x1b\n")
		if n < 0 {
			n = len(rest)
		}
		b.WriteString(termdraw.ASCII(rest[:n]))
		rest = rest[n:]
		if end := strings.IndexByte(rest, 'm') + 1; strings.HasPrefix(rest, "\x1b") && end > 0 { // an escape sequence of a colour
			b.WriteString(rest[:end])
			rest = rest[end:]
		} else if rest != "" {
			b.WriteByte(rest[0])
			rest = rest[1:]
		}
	}
	if _, err := io.WriteString(w.Writer, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// printable replaces control characters, including eight-bit ones, and Unicode line ends by blanks.
func printable(r rune) rune {
	switch {
	case r == '\n':
		return r
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	}
	return r
}

// fits returns the number of leading runes that need at most room columns, at least one.
func fits(runes []rune, room int) int {
	used := 0
	for i, r := range runes {
		if used += columnsOfRune(r); used > room {
			return max(i, 1)
		}
	}
	return len(runes)
}
