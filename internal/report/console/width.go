package console

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/report/termdraw"
)

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

// fits returns the number of leading bytes of a text that need at most room columns; those of at least one character.
func fits(text string, room int) int {
	n := len(ansi.Truncate(text, room, ""))
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text)
	}
	return n
}
