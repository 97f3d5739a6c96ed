// Package pytext looks at characters as Python's strings and regular expressions do, where that decides what an answer says.
package pytext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Space tells whether str.isspace holds: what str.strip takes off and \s matches.
func Space(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1c && r <= ' ', r == 0x85:
		return true
	case r < 0x80:
		return false
	}
	return unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
}

// Word tells whether \w matches: letters and numbers of every script, and the underscore.
func Word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// Strip takes white space off both ends, as str.strip does.
func Strip(s string) string { return strings.TrimFunc(s, Space) }

// FirstLine is the text before the first line feed.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// WordBefore tells whether a word character ends right before s[i].
func WordBefore(s string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(s[:i])
	return size > 0 && Word(r)
}

// WordAt tells whether a word character begins at s[i].
func WordAt(s string, i int) bool {
	r, size := utf8.DecodeRuneInString(s[i:])
	return size > 0 && Word(r)
}
