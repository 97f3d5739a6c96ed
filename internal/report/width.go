package report

import (
	"aiperf/internal/draw"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columnsOf is the number of a terminal's columns that a text takes: two for wide characters, none for marks that join the one before.
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

// asciiWriter writes text for terminals that show nothing else: every character has a stand-in that is as wide.
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
		b.WriteString(draw.ASCII(rest[:n]))
		rest = rest[n:]
		if end := strings.IndexByte(rest, 'm') + 1; strings.HasPrefix(rest, "\x1b") && end > 0 { // a colour
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

// printable keeps what a terminal shows as text: control characters, also the eight-bit ones, and foreign line ends become blanks.
func printable(r rune) rune {
	switch {
	case r == '\n':
		return r
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	}
	return r
}

// fits is the number of leading runes that take at most room columns, at least one.
func fits(runes []rune, room int) int {
	used := 0
	for i, r := range runes {
		if used += columnsOfRune(r); used > room {
			return max(i, 1)
		}
	}
	return len(runes)
}
