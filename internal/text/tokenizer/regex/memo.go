package regex

// memo remembers the states in which one run of a program has failed: an instruction, a position in the text, and the loops that were entered at this
// position. The further run depends on nothing else (there are no back-references), so it would fail again. A run thus tries each state only once.
// Its work grows at most with the square of the text length, while plain backtracking may double with every character. Ordinary patterns backtrack
// too little to need it, so it starts late.
type memo struct {
	untilActive int // number of backtracks before the run remembers
	seen        map[place]struct{}
}

// place is the state that determines how a run continues.
type place struct {
	pc, pos int
	entered uint64 // loops entered at this position, by index
}

const (
	// A run remembers failures after memoAfter backtracks plus perCharacter ones for each character before its position. That is many times the need
	// of published tokenizers, and of a repeat that gives back a long text.
	memoAfter    = 1 << 10
	perCharacter = 8
	// maxMarks is the number of loops that place distinguishes.
	maxMarks = 64
	// lookupCost is the cost of a table lookup, in steps.
	lookupCost = 16
)

// failedBefore reports whether a run has failed before from the place to which it backtracks.
func (t *memo) failedBefore(m *machine, op iop, pc, pos int) bool {
	if t.seen == nil {
		if t.untilActive--; t.untilActive >= 0 {
			return false
		}
		t.seen = map[place]struct{}{}
	}
	return op != iSplit && !t.markSeen(m, pc, pos) // a split checks this itself, because it is also reached without backtracking
}

// markSeen records a place and reports whether it is new.
func (t *memo) markSeen(m *machine, pc, pos int) bool {
	at := place{pc: pc, pos: pos}
	for i, mark := range m.marks {
		if mark == pos {
			at.entered |= 1 << i
		}
	}
	m.steps += lookupCost
	if _, ok := t.seen[at]; ok {
		return false
	}
	t.seen[at] = struct{}{}
	return true
}
