package regex

// memo remembers from where one run of a program has failed already: a place of the program, a position in the text, and which loops were
// entered at that very position. What follows from there depends on nothing else (there are no back-references), so it would fail again.
// A run thus tries each combination once: its work grows with the square of the text at most, where plain backtracking may double with
// every character. Ordinary patterns go back too little to need it, so it begins late.
type memo struct {
	left int // times that the run may go back before it remembers
	seen map[place]struct{}
}

// place is what decides how a run goes on.
type place struct {
	pc, pos int
	entered uint64 // loops whose mark is this position, by index
}

const (
	// A run remembers when it has gone back memoAfter times and perCharacter times for each character of the text before it: many times
	// what the patterns of published tokenizers need, and what a repeat needs that gives back a long text.
	memoAfter    = 1 << 10
	perCharacter = 8
	// maxMarks is the number of loops that place tells apart.
	maxMarks = 64
	// lookUp is the cost of a look into the table, in steps.
	lookUp = 16
)

// again tells, of a place that a run has come back to, whether it failed from there before.
func (t *memo) again(m *machine, op iop, pc, pos int) bool {
	if t.seen == nil {
		if t.left--; t.left >= 0 {
			return false
		}
		t.seen = map[place]struct{}{}
	}
	return op != iSplit && !t.first(m, pc, pos) // a split looks for itself: it is also reached by going on
}

// first notes a place and tells whether it is new.
func (t *memo) first(m *machine, pc, pos int) bool {
	at := place{pc: pc, pos: pos}
	for i, mark := range m.marks {
		if mark == pos {
			at.entered |= 1 << i
		}
	}
	m.steps += lookUp
	if _, ok := t.seen[at]; ok {
		return false
	}
	t.seen[at] = struct{}{}
	return true
}
