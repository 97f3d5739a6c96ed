package pretoken

import "fmt"

// Behavior sets what a Split does with matches.
type Behavior string

// The behaviours, by their names in tokenizer.json.
const (
	Removed            Behavior = "Removed"            // matches are dropped
	IsolatedBehavior   Behavior = "Isolated"           // matches are pieces
	MergedWithPrevious Behavior = "MergedWithPrevious" // a match ends the piece before it
	MergedWithNext     Behavior = "MergedWithNext"     // a match begins the piece after it
	Contiguous         Behavior = "Contiguous"         // neighbouring matches are one piece
)

// NewSplit returns the stage that splits with a scanner. invert swaps matches and the texts between them.
func NewSplit(f Scanner, b Behavior, invert bool) (Stage, error) {
	switch b {
	case IsolatedBehavior:
		return f.Isolated(), nil // the same for both
	case Removed, MergedWithPrevious, MergedWithNext, Contiguous:
		return Split{Scan: f, Behavior: b, Invert: invert}, nil
	}
	return nil, fmt.Errorf("behavior %q is not supported; allowed are %s, %s, %s, %s and %s", b, Removed, IsolatedBehavior, MergedWithPrevious,
		MergedWithNext, Contiguous)
}

// Split splits with a scanner and handles matches by its behaviour.
type Split struct {
	Scan     Scanner
	Behavior Behavior
	Invert   bool
}

var _ Stage = Split{}

// Split implements Stage.
func (p Split) Split(s string, first bool, next Sink) {
	scan := p.Scan.Within(next.Budget())
	out := joiner{s: s, first: first, next: next, behavior: p.Behavior}
	gap := 0
	for i := 0; i < len(s); {
		end, miss := scan(s, i)
		if !miss {
			if i > gap {
				out.add(gap, i, p.Invert)
			}
			out.add(i, end, !p.Invert)
			gap = end
		}
		i = end
	}
	if gap < len(s) {
		out.add(gap, len(s), p.Invert)
	}
	out.flush()
}

// joiner joins parts of a text to pieces.
type joiner struct {
	s          string
	first      bool
	next       Sink
	behavior   Behavior
	begin, end int  // part that is held back; empty if begin == end
	match      bool // it ends in a match
}

// add adds the part s[begin:end] and whether it is a match.
func (j *joiner) add(begin, end int, match bool) {
	held := j.end > j.begin
	var keep bool // the held-back part and this one are one piece
	switch j.behavior {
	case Removed:
		j.flush()
		if !match {
			j.emit(begin, end)
		}
		return
	case MergedWithPrevious:
		keep = held && match && !j.match
	case MergedWithNext:
		keep = held && j.match && !match
	case Contiguous:
		keep = held && match == j.match
	}
	if keep {
		j.end, j.match = end, match
		return
	}
	j.flush()
	j.begin, j.end, j.match = begin, end, match
}

func (j *joiner) emit(begin, end int) {
	j.next.Piece(j.s[begin:end], j.first && begin == 0)
}

func (j *joiner) flush() {
	if j.end > j.begin {
		j.emit(j.begin, j.end)
		j.begin = j.end
	}
}
