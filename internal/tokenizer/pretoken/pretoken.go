// Package pretoken cuts text into the pieces that a model encodes on its own. A pre-tokenizer is a chain of stages; each takes a
// piece and hands smaller ones on. Stages are immutable and safe for concurrent use.
package pretoken

import (
	"unicode/utf8"

	"aiperf/internal/budget"
	"aiperf/internal/tokenizer/regex"
	"aiperf/internal/tokenizer/scan"
)

// Sink takes pieces in order. first tells that a piece stands at the very beginning of the input.
type Sink interface {
	Piece(s string, first bool)
	// Budget pays for the work on the text; nil = it has no limits.
	Budget() *budget.Budget
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

// Scanner finds the matches of a pattern: by hand-written code, or by the regular expression engine.
type Scanner struct {
	scan.Func
	Engine *regex.Regexp // nil = Func is complete
}

// Regex is the scanner of a pattern: a hand-written one where the pattern is in common use, else the engine.
func Regex(pattern string) (Scanner, error) {
	if f, ok := scan.Known[pattern]; ok {
		return Scanner{Func: f}, nil
	}
	re, err := regex.Compile(pattern)
	return Scanner{Engine: re}, err
}

// Isolated is the stage whose pieces are the matches and the stretches between them.
func (c Scanner) Isolated() Stage {
	if c.Engine == nil {
		return Isolated(c.Func)
	}
	return isolatedEngine{c}
}

// isolatedEngine is Isolated for the regular expression engine.
type isolatedEngine struct{ c Scanner }

// Split implements Stage.
func (e isolatedEngine) Split(s string, first bool, next Sink) {
	Isolated(e.c.Within(next.Budget())).Split(s, first, next)
}

// Within is the scanner of one text; what the engine does is paid from b. Where the budget ends, the rest of the text is no match.
func (c Scanner) Within(b *budget.Budget) scan.Func {
	if c.Engine == nil {
		return c.Func
	}
	return func(s string, i int) (int, bool) {
		if end := c.Engine.Match(b, s, i); end > i {
			return end, false
		}
		if b.Err() != nil {
			return len(s), true
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		return i + n, true
	}
}
