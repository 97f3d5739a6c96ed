package regex

import (
	"fmt"
	"slices"
)

type compiler struct {
	size   int // instructions of all programs
	marks  int
	names  []string // of groups
	nested int      // look-arounds and atomic groups around the code
}

// program compiles n to a separate program.
func (c *compiler) program(n *node) ([]inst, error) {
	prog, err := c.emit(nil, n)
	return append(prog, inst{op: iMatch}), err
}

// emit appends the code of n to prog.
func (c *compiler) emit(prog []inst, n *node) ([]inst, error) {
	if c.size++; c.size > maxProgram {
		return nil, fmt.Errorf("needs more than %d instructions", maxProgram)
	}
	var err error
	switch n.op {
	case opEmpty:
	case opSet:
		prog = append(prog, inst{op: iSet, set: n.set})
	case opCat:
		for _, s := range n.subs {
			if prog, err = c.emit(prog, s); err != nil {
				return nil, err
			}
		}
	case opAlt:
		return c.alternatives(prog, n.subs)
	case opRepeat:
		return c.repeat(prog, n)
	case opGroup:
		return c.group(prog, n)
	case opAtomic, opLook:
		c.nested++
		sub, err := c.program(n.subs[0])
		if c.nested--; err != nil {
			return nil, err
		}
		in := inst{op: iAtomic, sub: sub}
		if n.op == opLook {
			_, most := n.subs[0].width()
			in = inst{op: iLook, sub: sub, neg: n.neg, behind: n.behind, x: most}
		}
		prog = append(prog, in)
	default:
		prog = append(prog, inst{op: iAssert, x: int(n.op)})
	}
	return prog, nil
}

// group compiles a group that records what it matches.
func (c *compiler) group(prog []inst, n *node) ([]inst, error) {
	if c.nested > 0 { // its positions would not be restored when the code around it backtracks
		return nil, fmt.Errorf("group %q is inside a look-around or an atomic group", n.name)
	}
	i := slices.Index(c.names, n.name)
	if i < 0 {
		i, c.names = len(c.names), append(c.names, n.name)
	}
	prog, err := c.emit(append(prog, inst{op: iRecord, x: 2 * i}), n.subs[0])
	return append(prog, inst{op: iRecord, x: 2*i + 1}), err
}

func (c *compiler) alternatives(prog []inst, subs []*node) ([]inst, error) {
	var jumps []int
	var err error
	for i, s := range subs {
		split := -1
		if i+1 < len(subs) {
			split = len(prog)
			prog = append(prog, inst{op: iSplit, x: split + 1})
		}
		if prog, err = c.emit(prog, s); err != nil {
			return nil, err
		}
		if split >= 0 {
			jumps = append(jumps, len(prog))
			prog = append(prog, inst{op: iJump})
			prog[split].y = len(prog)
		}
	}
	for _, j := range jumps {
		prog[j].x = len(prog)
	}
	return prog, nil
}

// repeat compiles a repeat: of one character to a single instruction, of anything else by unrolling it.
func (c *compiler) repeat(prog []inst, n *node) ([]inst, error) {
	sub := n.subs[0]
	for sub.op == opCat && len(sub.subs) == 1 {
		sub = sub.subs[0]
	}
	if sub.op == opSet {
		return append(prog, inst{op: iRepeat, set: sub.set, x: n.min, y: n.max, mode: n.mode}), nil
	}
	if n.mode == possessive {
		plain := *n
		plain.mode = greedy
		return c.emit(prog, &node{op: opAtomic, subs: []*node{&plain}})
	}
	var err error
	for range n.min {
		if prog, err = c.emit(prog, sub); err != nil {
			return nil, err
		}
	}
	if least, _ := sub.width(); n.max == unlimited && least > 0 { // the loop cannot repeat at one position
		loop := len(prog)
		if prog, err = c.emit(append(prog, inst{op: iSplit}), sub); err != nil {
			return nil, err
		}
		prog = append(prog, inst{op: iJump, x: loop})
		prog[loop].x, prog[loop].y = order(n.mode, loop+1, len(prog))
		return prog, nil
	}
	if n.max == unlimited {
		mark := c.marks
		if c.marks++; c.marks > maxMarks {
			return nil, fmt.Errorf("needs more than %d loops over groups", maxMarks)
		}
		loop := len(prog)
		prog = append(prog, inst{op: iSplit}, inst{op: iMark, x: mark})
		if prog, err = c.emit(prog, sub); err != nil {
			return nil, err
		}
		prog = append(prog, inst{op: iMoved, x: mark}, inst{op: iJump, x: loop})
		prog[loop].x, prog[loop].y = order(n.mode, loop+1, len(prog))
		return prog, nil
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, len(prog))
		prog = append(prog, inst{op: iSplit})
		if prog, err = c.emit(prog, sub); err != nil {
			return nil, err
		}
	}
	for _, s := range splits {
		prog[s].x, prog[s].y = order(n.mode, s+1, len(prog))
	}
	return prog, nil
}

// many stands for any larger number of characters.
const many = 1 << 30

// width returns how many characters n matches at least and at most, up to many.
func (n *node) width() (lo, hi int) {
	switch n.op {
	case opSet:
		return 1, 1
	case opCat:
		for _, s := range n.subs {
			l, h := s.width()
			lo, hi = min(lo+l, many), min(hi+h, many)
		}
	case opAlt:
		lo = many
		for _, s := range n.subs {
			l, h := s.width()
			lo, hi = min(lo, l), max(hi, h)
		}
	case opRepeat:
		most := n.max
		if most == unlimited {
			most = many
		}
		l, h := n.subs[0].width()
		lo, hi = min(l*n.min, many), min(h*most, many)
	case opGroup, opAtomic:
		return n.subs[0].width()
	}
	return lo, hi
}

// order returns the targets of a split in the order in which its mode tries them.
func order(m mode, body, after int) (x, y int) {
	if m == lazy {
		return after, body
	}
	return body, after
}

// firsts returns the ASCII characters with which a match can start.
func firsts(prog []inst) (set [2]uint64) {
	seen := make([]bool, len(prog))
	var walk func(pc int)
	walk = func(pc int) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		switch in := &prog[pc]; in.op {
		case iSet:
			set[0] |= in.set.ascii[0]
			set[1] |= in.set.ascii[1]
		case iRepeat:
			set[0] |= in.set.ascii[0]
			set[1] |= in.set.ascii[1]
			if in.x == 0 {
				walk(pc + 1)
			}
		case iSplit:
			walk(in.x)
			walk(in.y)
		case iJump:
			walk(in.x)
		case iMark, iMoved, iRecord, iAssert, iLook:
			walk(pc + 1)
		default: // an empty match, or code that is not analysed
			set = [2]uint64{^uint64(0), ^uint64(0)}
		}
	}
	walk(0)
	return set
}
