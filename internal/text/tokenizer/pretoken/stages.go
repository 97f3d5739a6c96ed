package pretoken

import (
	"strings"
	"unicode/utf8"

	cc "aiperf/internal/text/tokenizer/charclass"
	"aiperf/internal/text/tokenizer/scanner"
)

// PrefixSpace adds a space before a piece that does not start with one.
type PrefixSpace struct{}

// Split implements Stage.
func (PrefixSpace) Split(s string, first bool, next Sink) {
	if s[0] != ' ' {
		s = " " + s
	}
	next.Piece(s, first)
}

// Scheme sets where Metaspace adds its mark.
type Scheme string

// The schemes, by their names in tokenizer.json.
const (
	Always Scheme = "always"
	First  Scheme = "first" // only at the very beginning of the input
	Never  Scheme = "never"
)

// Metaspace replaces spaces by a mark, adds a mark at the start if there is none, and splits before every mark.
type Metaspace struct {
	Mark   string // "▁"
	Scheme Scheme
	Cut    bool
}

// Split implements Stage.
func (m Metaspace) Split(s string, first bool, next Sink) {
	if strings.IndexByte(s, ' ') >= 0 {
		s = strings.ReplaceAll(s, " ", m.Mark)
	}
	if (m.Scheme == Always || m.Scheme == First && first) && !strings.HasPrefix(s, m.Mark) {
		s = m.Mark + s
	}
	if !m.Cut {
		next.Piece(s, first)
		return
	}
	begin := 0
	for from := 0; ; {
		k := strings.Index(s[from:], m.Mark)
		if k < 0 {
			break
		}
		if at := from + k; at > begin {
			next.Piece(s[begin:at], first && begin == 0)
			begin = at
		}
		from = begin + len(m.Mark)
	}
	next.Piece(s[begin:], first && begin == 0)
}

// WhitespaceSplit splits at white space and drops it.
type WhitespaceSplit struct{}

// Split implements Stage.
func (WhitespaceSplit) Split(s string, first bool, next Sink) {
	begin := -1
	for i, r := range s {
		space := cc.Of(r)&cc.Space != 0
		switch {
		case space && begin >= 0:
			next.Piece(s[begin:i], first && begin == 0)
			begin = -1
		case !space && begin < 0:
			begin = i
		}
	}
	if begin >= 0 {
		next.Piece(s[begin:], first && begin == 0)
	}
}

// Bert splits at white space, which it drops, and makes every punctuation mark a piece.
type Bert struct{}

// Split implements Stage.
func (Bert) Split(s string, first bool, next Sink) {
	punct := cc.Punct()
	begin := 0
	emit := func(end int) {
		if end > begin {
			next.Piece(s[begin:end], first && begin == 0)
		}
	}
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		space, mark := cc.Of(r)&cc.Space != 0, punct.Has(r)
		if space || mark {
			emit(i)
			begin = i + n
			if mark {
				next.Piece(s[i:i+n], first && i == 0)
			}
		}
		i += n
	}
	emit(len(s))
}

// Digits returns the scanner for runs of numeric characters, or for single ones.
func Digits(single bool) scanner.Func {
	numeric := cc.Numeric()
	return members(numeric.Has, single)
}

// Punctuation returns the scanner for single punctuation marks.
func Punctuation() scanner.Func { return members(cc.Punct().Has, true) }

// Delimiter returns the scanner for one character.
func Delimiter(d rune) scanner.Func {
	return members(func(r rune) bool { return r == d }, true)
}

// members returns a scanner for single characters that has accepts, or for runs of them.
func members(has func(rune) bool, single bool) scanner.Func {
	return func(s string, i int) (int, bool) {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if !has(r) {
			return i, true
		}
		for !single && i < len(s) {
			if r, n = utf8.DecodeRuneInString(s[i:]); !has(r) {
				break
			}
			i += n
		}
		return i, false
	}
}

// Whitespace returns the scanner for `\w+|[^\w\s]+`.
func Whitespace() scanner.Func {
	word := cc.WordRust()
	return func(s string, i int) (int, bool) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if cc.Of(r)&cc.Space != 0 {
			return i + n, true
		}
		w := word.Has(r)
		for i += n; i < len(s); i += n {
			if r, n = utf8.DecodeRuneInString(s[i:]); word.Has(r) != w || cc.Of(r)&cc.Space != 0 {
				break
			}
		}
		return i, false
	}
}

// Text returns the scanner for a fixed text.
func Text(t string) scanner.Func {
	return func(s string, i int) (int, bool) {
		k := strings.Index(s[i:], t)
		switch {
		case t == "" || k < 0:
			return len(s), true
		case k > 0:
			return i + k, true
		}
		return i + len(t), false
	}
}

// FixedLength splits into pieces with a fixed number of characters.
type FixedLength int

// Split implements Stage.
func (f FixedLength) Split(s string, first bool, next Sink) {
	n, begin := 0, 0
	for i := range s {
		if n == int(f) {
			next.Piece(s[begin:i], first && begin == 0)
			begin, n = i, 0
		}
		n++
	}
	next.Piece(s[begin:], first && begin == 0)
}
