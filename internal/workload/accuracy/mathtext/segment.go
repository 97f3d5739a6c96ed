package mathtext

import (
	"math"
	"slices"

	"aiperf/internal/base/sorting"
)

// segment is an interval of the real line.
type segment struct {
	from, to         float64
	fromOpen, toOpen bool
}

func (s segment) same(t segment) bool {
	return s.fromOpen == t.fromOpen && s.toOpen == t.toOpen && sameReal(s.from, t.from) && sameReal(s.to, t.to)
}

func (s segment) empty() bool { return s.from > s.to || s.from == s.to && (s.fromOpen || s.toOpen) }

var wholeLine = segment{from: math.Inf(-1), to: math.Inf(1), fromOpen: true, toOpen: true}

// exactSet reports whether a set is written without decimal fractions: the reference treats 0.5 and 1/2 as different elements.
func (n *Node) exactSet() bool {
	return !n.Float && !slices.ContainsFunc(n.Args, func(a *Node) bool { return !a.exactSet() })
}

// segments returns n as a set of real numbers: sorted intervals that do not touch. nil = not such a set.
func (n *Node) segments() []segment {
	switch n.Kind {
	case Named:
		switch n.Name {
		case "R":
			return []segment{wholeLine}
		case "empty":
			return []segment{}
		}
	case Interval:
		from, ok1 := n.Args[0].realValue()
		to, ok2 := n.Args[1].realValue()
		if ok1 && ok2 {
			return mergeIntervals([]segment{{from, to, n.Name[0] == '(', n.Name[1] == ')'}})
		}
	case Set:
		out := []segment{}
		for _, a := range n.Args {
			v, ok := a.realValue()
			if !ok || math.IsInf(v, 0) {
				return nil
			}
			out = append(out, segment{from: v, to: v})
		}
		return mergeIntervals(out)
	case SetOp:
		a, b := n.Args[0].segments(), n.Args[1].segments()
		if a == nil || b == nil {
			return nil
		}
		switch n.Name {
		case "union":
			return mergeIntervals(slices.Concat(a, b))
		case "intersection":
			return common(a, b)
		default:
			return common(a, outside(b))
		}
	}
	return nil
}

// mergeIntervals sorts intervals and merges those that touch.
func mergeIntervals(list []segment) []segment {
	list = slices.DeleteFunc(slices.Clone(list), segment.empty)
	sorting.Sort(list, func(a, b segment) int {
		switch {
		case a.from < b.from || a.from == b.from && !a.fromOpen && b.fromOpen:
			return -1
		case a.from == b.from && a.fromOpen == b.fromOpen:
			return 0
		}
		return 1
	})
	out := []segment{}
	for _, s := range list {
		if len(out) > 0 {
			last := &out[len(out)-1]
			if s.from < last.to || s.from == last.to && !(s.fromOpen && last.toOpen) {
				switch {
				case s.to > last.to:
					last.to, last.toOpen = s.to, s.toOpen
				case s.to == last.to:
					last.toOpen = last.toOpen && s.toOpen
				}
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// common returns the intersection of two sets.
func common(a, b []segment) []segment {
	var out []segment
	for _, x := range a {
		for _, y := range b {
			s := x
			if y.from > s.from || y.from == s.from && y.fromOpen {
				s.from, s.fromOpen = y.from, y.fromOpen
			}
			if y.to < s.to || y.to == s.to && y.toOpen {
				s.to, s.toOpen = y.to, y.toOpen
			}
			out = append(out, s)
		}
	}
	return mergeIntervals(out)
}

// outside returns the complement in the real line.
func outside(list []segment) []segment {
	rest := []segment{}
	from, open := math.Inf(-1), true
	for _, s := range list {
		rest = append(rest, segment{from, s.from, open, !s.fromOpen || math.IsInf(s.from, 0)})
		from, open = s.to, !s.toOpen
	}
	return mergeIntervals(append(rest, segment{from, math.Inf(1), open, true}))
}

// solutions returns the set of numbers that satisfy an inequality between a symbol and a number; nil = another kind of relation.
func (n *Node) solutions() *Node {
	if n.Kind == And {
		var all *Node
		for _, a := range n.Args {
			set := a.solutions()
			if set == nil {
				return nil
			}
			if all == nil {
				all = set
			} else {
				all = &Node{Kind: SetOp, Name: "intersection", Args: []*Node{all, set}}
			}
		}
		return all
	}
	sign, left, right := n.Name, n.Args[0], n.Args[1]
	if right.Kind == Sym {
		sign, left, right = mirroredSigns[sign], right, left
	}
	if _, ok := right.realValue(); left.Kind != Sym || !ok {
		return nil
	}
	brackets := map[string]string{"<": "()", "<=": "(]", ">": "()", ">=": "[)"}[sign]
	point := &Node{Kind: Set, Args: []*Node{right}}
	switch sign {
	case "<", "<=":
		return &Node{Kind: Interval, Name: brackets, Args: []*Node{constant(minusInfinity), right}}
	case ">", ">=":
		return &Node{Kind: Interval, Name: brackets, Args: []*Node{right, constant(infinity)}}
	case "!=":
		return &Node{Kind: SetOp, Name: "minus", Args: []*Node{{Kind: Named, Name: "R"}, point}}
	}
	return point
}
