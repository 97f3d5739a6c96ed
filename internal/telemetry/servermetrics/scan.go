package servermetrics

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number or a punctuation mark of a description.
type token struct {
	written string
	word    string // in lower case
	number  float64
	numeric bool
}

func (t token) is(number float64) bool     { return t.numeric && t.number == number }
func (t token) oneOf(words ...string) bool { return slices.Contains(words, t.word) }
func (t token) percent() bool              { return t.oneOf("%", "percent") }

// scan splits a description into tokens. A point is part of a number between digits, a slash part of a word between letters; every other punctuation
// mark is a separate token.
func scan(text string) (list []token) {
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		n := size
		if inWord(r) {
			n = wordLength(text)
		}
		if !unicode.IsSpace(r) {
			list = append(list, newToken(text[:n]))
		}
		text = text[n:]
	}
	return list
}

func newToken(written string) token {
	t := token{written: written, word: strings.ToLower(written)}
	if isDigit(written[0]) {
		number, err := strconv.ParseFloat(written, 64)
		t.number, t.numeric = number, err == nil
	}
	return t
}

// wordLength returns the length in bytes of the word or number at the beginning of a text.
func wordLength(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		next, _ := utf8.DecodeRuneInString(text[n+size:])
		switch {
		case inWord(r):
		case r == '.' && n > 0 && isDigit(text[n-1]) && next < utf8.RuneSelf && isDigit(byte(next)):
		case r == '/' && inWord(next):
		default:
			return n
		}
		n += size
	}
	return n
}

// inWord reports whether a rune can be part of a word: letters, digits, the underscore of names, the degree of °C.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '°')
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
