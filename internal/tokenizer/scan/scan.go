// Package scan cuts text into pieces as the split patterns in common use do, without a regular expression engine. Each scanner is
// chosen by the exact text of its pattern (see Known) and is proven against the engine by fuzzing.
package scan

import (
	"unicode/utf8"

	cc "aiperf/internal/tokenizer/charclass"
)

// Func looks at s from byte i on (i < len(s)) and returns where the piece that starts there ends. gap reports that no alternative
// of the pattern matches at i; end is then behind the one character that was looked at.
type Func func(s string, i int) (end int, gap bool)

// at returns class, code point and width of the character at i; all zero, with rune -1, at the end.
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

// contraction returns the length of an English contraction ('s 't 're 've 'm 'll 'd) at i, 0 for none. With fold, letters match in
// either case, and U+017F (long s) counts as an s, as Unicode folding has it.
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

// whitespace ends a piece that starts with white space at i, as the alternatives `\s*[\r\n]+` (only with breaks), `\s+(?!\S)`, `\s+`
// do: the run up to its last line break; else all of a run at the end of the text; else all but its last character, which is left
// for the next piece.
func whitespace(s string, i int, breaks bool) int {
	end, last, brk := i, i, -1 // last: start of the run's last character; brk: behind its last line break
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
