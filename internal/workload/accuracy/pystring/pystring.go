// Package pystring classifies characters like Python's strings and regular expressions, where this affects the reading of an answer.
package pystring

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Space reports whether str.isspace holds: the characters that str.strip removes and \s matches.
func Space(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1c && r <= ' ', r == 0x85:
		return true
	case r < 0x80:
		return false
	}
	return unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
}

// Word reports whether \w matches: letters and numbers of every script, and the underscore.
func Word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

// Strip removes white space from both ends, like str.strip.
func Strip(s string) string { return strings.TrimFunc(s, Space) }

// FirstLine returns the text before the first line feed.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// WordBefore reports whether a word character ends directly before s[i].
func WordBefore(s string, i int) bool {
	r, size := utf8.DecodeLastRuneInString(s[:i])
	return size > 0 && Word(r)
}

// WordAt reports whether a word character begins at s[i].
func WordAt(s string, i int) bool {
	r, size := utf8.DecodeRuneInString(s[i:])
	return size > 0 && Word(r)
}
