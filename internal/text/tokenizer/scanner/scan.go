// Package scanner splits text into pieces as the common split patterns do, without a regular expression engine. A scanner is selected by the exact
// text of its pattern (see Known). Fuzzing compares the scanners with the engine.
package scanner

import (
	"unicode/utf8"

	cc "aiperf/internal/text/tokenizer/charclass"
)

// Func reads s from byte i on (i < len(s)) and returns the end of the piece that starts there. gap means that no alternative of the pattern matches
// at i; then end is after this character.
type Func func(s string, i int) (end int, gap bool)

// at returns class, code point and width of the character at i; at the end 0, -1 and 0.
func at(s string, i int) (cc.Classes, rune, int) {
	if i >= len(s) {
		return 0, -1, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return cc.ASCII[c], rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return cc.Of(r), r, n
}

// run returns the end of the longest run from i of characters in set.
func run(s string, i int, set cc.Classes) int {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if cc.ASCII[c]&set == 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if cc.Of(r)&set == 0 {
			return i
		}
		i += n
	}
	return i
}

// until returns the end of the longest run from i of characters not in set.
func until(s string, i int, set cc.Classes) int {
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			if cc.ASCII[c]&set != 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if cc.Of(r)&set != 0 {
			return i
		}
		i += n
	}
	return i
}

// count returns the end of a run of at most limit characters in set.
func count(s string, i, limit int, set cc.Classes) int {
	for ; limit > 0; limit-- {
		c, _, n := at(s, i)
		if c&set == 0 {
			break
		}
		i += n
	}
	return i
}

// newlines returns the end of a run of carriage returns, line feeds and, if slash is set, slashes.
func newlines(s string, i int, slash bool) int {
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || slash && s[i] == '/') {
		i++
	}
	return i
}

// contraction returns the length of an English contraction ('s 't 're 've 'm 'll 'd) at i, 0 if there is none. If fold is set, it ignores case, and
// U+017F (long s) counts as an s, as in Unicode folding.
func contraction(s string, i int, fold bool) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return 0
	}
	lower := func(j int) byte {
		if j >= len(s) {
			return 0
		}
		if c := s[j]; fold && 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return s[j]
	}
	switch lower(i + 1) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if lower(i+2) == 'e' {
			return 3
		}
	case 'l':
		if lower(i+2) == 'l' {
			return 3
		}
	case 0xC5: // U+017F is C5 BF
		if fold && i+2 < len(s) && s[i+2] == 0xBF {
			return 3
		}
	}
	return 0
}

// whitespace returns the end of a piece that starts with white space at i, like the alternatives `\s*[\r\n]+` (only if breaks is set), `\s+(?!\S)`,
// `\s+`. The piece is the run up to its last line break; otherwise all of a run at the end of the text; otherwise all but its last character, which
// belongs to the next piece.
func whitespace(s string, i int, breaks bool) int {
	end, last, brk := i, i, -1 // last: start of the run's last character; brk: end of its last line break
	for end < len(s) {
		c, r, n := at(s, end)
		if c&cc.Space == 0 {
			break
		}
		last = end
		end += n
		if r == '\r' || r == '\n' {
			brk = end
		}
	}
	switch {
	case breaks && brk >= 0:
		return brk
	case end == len(s) || last == i:
		return end
	}
	return last
}
