// Package pretoken cuts text into the pieces that a model encodes on its own. A pre-tokenizer is a chain of stages; each takes a
// piece and hands smaller ones on. Stages are immutable and safe for concurrent use.
package pretoken

import (
	"unicode/utf8"

	"aiperf/internal/tokenizer/regex"
	"aiperf/internal/tokenizer/scan"
)

// Sink takes pieces in order. first tells that a piece stands at the very beginning of the input.
type Sink interface {
	Piece(s string, first bool)
}

// Stage cuts one piece, never an empty one, and hands the parts to next. Empty parts are not handed on.
type Stage interface {
	Split(s string, first bool, next Sink)
}

// Isolated cuts by a scanner: every match is a piece, and so is every stretch between matches.
type Isolated scan.Func

var _ Stage = Isolated(nil)

// Split implements Stage.
func (f Isolated) Split(s string, first bool, next Sink) {
	gap := -1 // start of the stretch that nothing has matched yet
	for i := 0; i < len(s); {
		end, miss := f(s, i)
		if miss {
			if gap < 0 {
				gap = i
			}
			i = end
			continue
		}
		if gap >= 0 {
			next.Piece(s[gap:i], first)
			first, gap = false, -1
		}
		next.Piece(s[i:end], first)
		first, i = false, end
	}
	if gap >= 0 {
		next.Piece(s[gap:], first)
	}
}

// Regex is the scanner of a pattern: a hand-written one where the pattern is in common use, else the engine.
func Regex(pattern string) (scan.Func, error) {
	if f, ok := scan.Known[pattern]; ok {
		return f, nil
	}
	re, err := regex.Compile(pattern)
	if err != nil {
		return nil, err
	}
	return Engine(re), nil
}

// Engine is the scanner that asks the regular expression engine.
func Engine(re *regex.Regexp) scan.Func {
	return func(s string, i int) (int, bool) {
		if end := re.Match(s, i); end > i {
			return end, false
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		return i + n, true
	}
}
