package pretoken

import (
	"strings"
	"unicode/utf8"

	cc "aiperf/internal/tokenizer/charclass"
	"aiperf/internal/tokenizer/scan"
)

// PrefixSpace puts a space in front of a piece that does not begin with one.
type PrefixSpace struct{}

// Split implements Stage.
func (PrefixSpace) Split(s string, first bool, next Sink) {
	if s[0] != ' ' {
		s = " " + s
	}
	next.Piece(s, first)
}

// Scheme says where Metaspace puts its mark in front.
type Scheme string

// The schemes, by their names in tokenizer.json.
const (
	Always Scheme = "always"
	First  Scheme = "first" // only at the very beginning of the input
	Never  Scheme = "never"
)

// Metaspace turns spaces into a mark, puts one in front where there is none, and cuts before every mark.
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

// WhitespaceSplit cuts at white space and drops it.
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

// Bert cuts at white space, which it drops, and makes every mark of punctuation a piece.
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

// Digits is the scanner of runs of numeric characters, or of single ones.
func Digits(single bool) scan.Func {
	numeric := cc.Numeric()
	return members(numeric.Has, single)
}

// Punctuation is the scanner of single marks of punctuation.
func Punctuation() scan.Func { return members(cc.Punct().Has, true) }

// Delimiter is the scanner of one character.
func Delimiter(d rune) scan.Func {
	return members(func(r rune) bool { return r == d }, true)
}

// members matches single characters that has accepts, or runs of them.
func members(has func(rune) bool, single bool) scan.Func {
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

// Whitespace is the scanner of `\w+|[^\w\s]+`.
func Whitespace() scan.Func {
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

// Text is the scanner of a fixed text.
func Text(t string) scan.Func {
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

// FixedLength cuts into pieces of so many characters.
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
