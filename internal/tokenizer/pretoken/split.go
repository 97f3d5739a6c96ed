package pretoken

import "fmt"

// Behavior says what becomes of the matches of a Split.
type Behavior string

// The behaviours, by their names in tokenizer.json.
const (
	Removed            Behavior = "Removed"            // matches are thrown away
	IsolatedBehavior   Behavior = "Isolated"           // matches are pieces
	MergedWithPrevious Behavior = "MergedWithPrevious" // a match ends the piece before it
	MergedWithNext     Behavior = "MergedWithNext"     // a match begins the piece behind it
	Contiguous         Behavior = "Contiguous"         // neighbouring matches are one piece
)

// NewSplit returns the stage that cuts by a scanner. invert swaps matches and the stretches between them.
func NewSplit(f Scanner, b Behavior, invert bool) (Stage, error) {
	switch b {
	case IsolatedBehavior:
		return f.Isolated(), nil // the same for both
	case Removed, MergedWithPrevious, MergedWithNext, Contiguous:
		return Split{Scan: f, Behavior: b, Invert: invert}, nil
	}
	return nil, fmt.Errorf("behavior %q is not known: want %s, %s, %s, %s or %s", b, Removed, IsolatedBehavior, MergedWithPrevious,
		MergedWithNext, Contiguous)
}

// Split cuts by a scanner and does with the matches as its behaviour says.
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

// joiner puts the stretches of a text together to pieces.
type joiner struct {
	s          string
	first      bool
	next       Sink
	behavior   Behavior
	begin, end int  // what is held back, empty if begin == end
	match      bool // it ends in a match
}

// add takes the stretch s[begin:end], which is a match or not.
func (j *joiner) add(begin, end int, match bool) {
	held := j.end > j.begin
	var keep bool // the held part and this one are one piece
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
