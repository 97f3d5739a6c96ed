// Package regex is a small backtracking engine for the split patterns of tokenizer files, and for patterns that find answers. It supports look-around,
// atomic groups, lazy and possessive repeats, named groups, class intersection, and Unicode classes from the reference's tables. It works on UTF-8
// directly, and has its own stack, so a long text cannot cause a stack overflow. If a pattern backtracks often, the engine remembers failed states, so no pattern takes exponential time; see memo.
package regex

import (
	"fmt"
	"math"
	"sync"
	"unicode/utf8"

	"aiperf/internal/base/budget"
	cc "aiperf/internal/text/tokenizer/charclass"
)

// Regexp is a compiled pattern. It is safe for concurrent use.
type Regexp struct {
	prog   []inst
	starts [2]uint64 // ASCII characters with which a match can start
	groups []string  // names of the recorded groups
	stacks sync.Pool // of *machine
}

// inst is one instruction. Programs end in iMatch.
type inst struct {
	op     iop
	set    *class
	x, y   int // targets; iRepeat: counts; iLook: x is the largest number of characters that sub matches
	mode   mode
	neg    bool
	behind bool
	sub    []inst // iLook, iAtomic
}

type iop uint8

const (
	iMatch  iop = iota
	iSet        // one character of set
	iSplit      // try x, then y
	iJump       // go to x
	iRepeat     // x to y characters of set
	iAtomic     // sub, without backtracking into it
	iLook       // sub matches here, or does not
	iAssert     // x is the op of a position
	iMark       // stores the position in the loop counter x
	iMoved      // fails if the position is still that of iMark x
	iRecord     // stores the position in the group record x
)

// Compile compiles a pattern. Unsupported syntax is an error that names it.
func Compile(pattern string) (*Regexp, error) { return compile(pattern, false) }

// CompileGroups compiles a pattern whose named groups are recorded. A group in a look-around or in an atomic group is an error.
func CompileGroups(pattern string) (*Regexp, error) { return compile(pattern, true) }

func compile(pattern string, groups bool) (*Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes; at most %d are allowed", len(pattern), maxPattern)
	}
	p := &parser{src: pattern, groups: groups}
	n, err := p.alternation()
	if err == nil && p.more() {
		err = p.fail("there is one closing bracket too many")
	}
	if err != nil {
		return nil, err
	}
	c := &compiler{}
	prog, err := c.program(n)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", clip(pattern), err)
	}
	re := &Regexp{prog: prog, groups: c.names}
	re.starts = firsts(prog)
	return re, nil
}

// Match returns the end of the match that starts exactly at s[at:], -1 if there is none. b limits the steps; if it is exceeded, nothing matches.
func (re *Regexp) Match(b *budget.Budget, s string, at int) int { return re.match(b, s, at, nil) }

// match is Match; it stores the begin and the end of every recorded group in groups, if this is not nil.
func (re *Regexp) match(b *budget.Budget, s string, at int, groups []int) int {
	if b.Err() != nil {
		return -1
	}
	if at < len(s) {
		if c := s[at]; c < utf8.RuneSelf && re.starts[c>>6]>>(c&63)&1 == 0 {
			return -1
		}
	}
	m, ok := re.stacks.Get().(*machine)
	if !ok {
		m = &machine{after: memoAfter}
	}
	m.stack, m.budget, m.groups = m.stack[:0], b, groups
	m.countedSteps, m.nextCount = m.steps, m.steps+stepsPerCount
	end := m.run(re.prog, s, at)
	if !m.countSteps() {
		end = -1
	}
	m.budget, m.groups = nil, nil
	if cap(m.stack) < 1<<16 {
		re.stacks.Put(m)
	}
	return end
}

// Find returns the first match at or after from; ok is false if there is none. It skips empty matches.
func (re *Regexp) Find(b *budget.Budget, s string, from int) (begin, end int, ok bool) {
	for i := from; i < len(s) && b.Err() == nil; {
		if e := re.Match(b, s, i); e > i {
			return i, e, true
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return 0, 0, false
}

// state is a backtracking point: program counter pc at pos. A greedy repeat may give back characters down to low. A lazy repeat may take up to left
// more.
type state struct {
	pc, pos int
	low     int
	left    int
	kind    backKind
}

type backKind uint8

const (
	backPlain  backKind = iota
	backGive            // greedy repeat: give back one character
	backTake            // lazy repeat: take one more
	backMark            // restore a loop mark: pc = index, pos = value
	backRecord          // restore a group record: pc = index, pos = value
)

type machine struct {
	stack []state
	marks []int
	// groups has the begin and the end of every recorded group, -1 if it has not matched; nil = nobody asks.
	groups []int
	after  int // number of backtracks before a run remembers its failures
	steps  int // instructions executed so far
	// budget limits the steps; nil = no limit.
	budget       *budget.Budget
	countedSteps int // steps already counted in the budget
	nextCount    int // number of steps at which to count again
}

// countSteps counts the steps so far in the budget; false = it is exceeded.
func (m *machine) countSteps() bool {
	n := m.steps - m.countedSteps
	m.countedSteps, m.nextCount = m.steps, m.steps+stepsPerCount
	return m.budget.Step(int64(n)) == nil
}

// stepsPerCount is the number of steps that are counted at once.
const stepsPerCount = 1 << 10

// run executes prog at pos and returns the end of the match, -1 if there is none. It uses the stack above its length at entry.
func (m *machine) run(prog []inst, s string, pos int) int { //nolint:gocyclo // a case for each instruction, and a call for each would cost
	base := len(m.stack)
	pc := 0
	tried := memo{untilActive: m.after}
	if m.after < math.MaxInt {
		tried.untilActive += m.after / memoAfter * perCharacter * (len(s) - pos)
	}
	for {
		if m.steps++; m.steps >= m.nextCount && !m.countSteps() {
			m.stack = m.stack[:base]
			return -1
		}
		in := &prog[pc]
		ok := true
		switch in.op {
		case iMatch:
			m.stack = m.stack[:base]
			return pos
		case iSet:
			var n int
			if n, ok = step(in.set, s, pos); ok {
				pos += n
				pc++
			}
		case iSplit:
			if ok = tried.seen == nil || tried.markSeen(m, pc, pos); ok {
				m.stack = append(m.stack, state{pc: in.y, pos: pos})
				pc = in.x
			}
		case iJump:
			pc = in.x
		case iRepeat:
			if pos, ok = m.repeat(in, pc, s, pos); ok {
				pc++
			}
		case iAtomic:
			if end := m.run(in.sub, s, pos); end >= 0 {
				pos = end
				pc++
			} else {
				ok = false
			}
		case iLook:
			if ok = m.lookAround(in, s, pos) != in.neg; ok {
				pc++
			}
		case iAssert:
			if ok = assert(op(in.x), s, pos); ok {
				pc++
			}
		case iMark:
			for len(m.marks) <= in.x {
				m.marks = append(m.marks, -1)
			}
			m.stack = append(m.stack, state{pc: in.x, pos: m.marks[in.x], kind: backMark})
			m.marks[in.x] = pos
			pc++
		case iMoved:
			if ok = m.marks[in.x] != pos; ok {
				pc++
			}
		case iRecord:
			if m.groups != nil {
				m.stack = append(m.stack, state{pc: in.x, pos: m.groups[in.x], kind: backRecord})
				m.groups[in.x] = pos
			}
			pc++
		}
		if ok {
			continue
		}
		for again := true; again; again = tried.failedBefore(m, prog[pc].op, pc, pos) {
			if pc, pos, ok = m.backtrack(prog, s, base); !ok {
				return -1
			}
		}
	}
}

// backtrack pops the last backtracking point.
func (m *machine) backtrack(prog []inst, s string, base int) (pc, pos int, ok bool) {
	for len(m.stack) > base {
		top := &m.stack[len(m.stack)-1]
		switch top.kind {
		case backMark:
			m.marks[top.pc] = top.pos
			m.stack = m.stack[:len(m.stack)-1]
			continue
		case backRecord:
			m.groups[top.pc] = top.pos
			m.stack = m.stack[:len(m.stack)-1]
			continue
		case backGive:
			_, n := utf8.DecodeLastRuneInString(s[top.low:top.pos])
			top.pos -= n
			pc, pos = top.pc+1, top.pos
			if pos <= top.low {
				m.stack = m.stack[:len(m.stack)-1]
			}
			return pc, pos, true
		case backTake:
			n, fits := step(prog[top.pc].set, s, top.pos)
			if !fits || top.left == 0 {
				m.stack = m.stack[:len(m.stack)-1]
				continue
			}
			top.pos += n
			top.left--
			return top.pc + 1, top.pos, true
		}
		pc, pos = top.pc, top.pos
		m.stack = m.stack[:len(m.stack)-1]
		return pc, pos, true
	}
	return 0, 0, false
}

// repeat takes characters of a set according to its mode.
func (m *machine) repeat(in *inst, pc int, s string, pos int) (int, bool) {
	count := 0
	for ; count < in.x; count++ {
		n, ok := step(in.set, s, pos)
		if !ok {
			return pos, false
		}
		pos += n
	}
	if in.mode == lazy {
		m.stack = append(m.stack, state{pc: pc, pos: pos, left: in.y - count, kind: backTake})
		return pos, true
	}
	low := pos
	for ; in.y == unlimited || count < in.y; count++ {
		n, ok := step(in.set, s, pos)
		if !ok {
			break
		}
		pos += n
	}
	if in.mode == greedy && pos > low {
		m.stack = append(m.stack, state{pc: pc, pos: pos, low: low, kind: backGive})
	}
	return pos, true
}

// lookAround executes a look-around at pos.
func (m *machine) lookAround(in *inst, s string, pos int) bool {
	if !in.behind {
		return m.run(in.sub, s, pos) >= 0
	}
	for at, left := pos, in.x; ; left-- {
		if m.run(in.sub, s[:pos], at) == pos {
			return true
		}
		if at == 0 || left == 0 || pos-at > 255 {
			return false
		}
		_, n := utf8.DecodeLastRuneInString(s[:at])
		at -= n
	}
}

// step returns the width of the character at pos and whether it is in set.
func step(set *class, s string, pos int) (int, bool) {
	if pos >= len(s) {
		return 0, false
	}
	if c := s[pos]; c < utf8.RuneSelf {
		return 1, set.ascii[c>>6]>>(c&63)&1 != 0
	}
	r, n := utf8.DecodeRuneInString(s[pos:])
	return n, set.slow(r)
}

// assert tests a position. Line ends are line feeds. As in the reference engine, ^ and $ match at lines.
func assert(o op, s string, pos int) bool {
	switch o {
	case opLineStart:
		return pos == 0 || s[pos-1] == '\n'
	case opLineEnd:
		return pos == len(s) || s[pos] == '\n'
	case opTextStart:
		return pos == 0
	case opTextEnd:
		return pos == len(s)
	case opTextEndBreak:
		return pos == len(s) || pos == len(s)-1 && s[pos] == '\n'
	}
	before, _ := utf8.DecodeLastRuneInString(s[:pos])
	after, _ := utf8.DecodeRuneInString(s[pos:])
	edge := (pos > 0 && cc.Of(before)&cc.Word != 0) != (pos < len(s) && cc.Of(after)&cc.Word != 0)
	return edge == (o == opWordEdge)
}
