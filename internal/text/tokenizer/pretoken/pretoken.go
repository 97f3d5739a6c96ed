// Package pretoken splits text into the pieces that a model encodes separately. A pre-tokenizer is a chain of stages. Each stage splits a piece and
// passes the parts on. Stages are immutable and safe for concurrent use.
package pretoken

import (
	"unicode/utf8"

	"aiperf/internal/base/budget"
	"aiperf/internal/text/tokenizer/regex"
	"aiperf/internal/text/tokenizer/scanner"
)

// Sink receives pieces in order. first marks a piece at the very beginning of the input.
type Sink interface {
	Piece(s string, first bool)
	// Budget limits the work on the text; nil = no limits.
	Budget() *budget.Budget
}

// Stage splits a piece, which is never empty, and passes the parts that are not empty to next.
type Stage interface {
	Split(s string, first bool, next Sink)
}

// Isolated splits with a scanner: every match is a piece, and so is the text between matches.
type Isolated scanner.Func

var _ Stage = Isolated(nil)

// Split implements Stage.
func (f Isolated) Split(s string, first bool, next Sink) {
	gap := -1 // start of the text without a match so far
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

// Scanner finds the matches of a pattern, with hand-written code or with the regular expression engine.
type Scanner struct {
	scanner.Func
	Engine *regex.Regexp // nil = Func is complete
}

// Regex returns the scanner of a pattern: a hand-written one for patterns in common use, otherwise the engine.
func Regex(pattern string) (Scanner, error) {
	if f, ok := scanner.Known[pattern]; ok {
		return Scanner{Func: f}, nil
	}
	re, err := regex.Compile(pattern)
	return Scanner{Engine: re}, err
}

// Isolated returns the stage whose pieces are the matches and the texts between them.
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

// Within returns the scanner for one text. The engine's work is limited by b. If the budget is exceeded, the rest of the text does not match.
func (c Scanner) Within(b *budget.Budget) scanner.Func {
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
