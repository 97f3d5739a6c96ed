// Package pretoken cuts text into the pieces that a model encodes on its own. A pre-tokenizer is a chain of stages; each takes a
// piece and hands smaller ones on. Stages are immutable and safe for concurrent use.
package pretoken

import "aiperf/internal/tokenizer/scan"

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
