package mathtext

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// Equal reports whether an answer matches the gold one, by the rules of lighteval 0.13. If one of two numbers is a decimal fraction, both are rounded
// to the given decimals. An equation with only symbols on the left counts as its right side. Sets are compared element by element.
func Equal(gold, answer *Node, decimals int) bool {
	gold, answer = unwrapped(gold, answer)
	if gold.Key() == answer.Key() {
		return true
	}
	switch {
	case gold.relational() && answer.relational():
		return sameRelation(gold, answer, decimals)
	case gold.setLike() || answer.setLike() || gold.Kind == Tuple || answer.Kind == Tuple:
		return sameSet(gold, answer, decimals)
	case gold.scalar() && answer.scalar():
		return sameScalar(gold, answer, decimals)
	}
	a, b := gold.matrix(), answer.matrix()
	return a != nil && b != nil && a.Cols == b.Cols && slices.EqualFunc(a.Args, b.Args, func(x, y *Node) bool { return sameScalar(x, y, decimals) })
}

// unwrapped replaces an equation by its right side if the other formula is not an equation. It replaces an inequality by the set of its solutions if
// the other formula is a set.
func unwrapped(gold, answer *Node) (a, b *Node) {
	if gold.assignment() && !answer.equation() {
		gold = gold.last().Args[1]
	}
	if answer.equation() && !gold.equation() {
		answer = answer.last().Args[1]
	}
	if gold.relational() && answer.setLike() {
		if set := gold.solutions(); set != nil {
			gold = set
		}
	}
	return gold, answer
}

func (n *Node) relational() bool { return n.Kind == Rel || n.Kind == And }

// setLike reports whether n is a kind of set; a tuple is not.
func (n *Node) setLike() bool {
	return n.Kind == Set || n.Kind == Interval || n.Kind == SetOp || n.Kind == Named
}

// last returns the last of several relations.
func (n *Node) last() *Node {
	if n.Kind == And {
		return n.Args[len(n.Args)-1]
	}
	return n
}

// equation reports whether n consists of equations.
func (n *Node) equation() bool {
	if n.Kind == And {
		return !slices.ContainsFunc(n.Args, func(a *Node) bool { return a.Name != "=" })
	}
	return n.Kind == Rel && n.Name == "="
}

// assignment reports whether n is an equation whose first left side consists of symbols.
func (n *Node) assignment() bool {
	if !n.equation() {
		return false
	}
	if n.Kind == And {
		n = n.Args[0]
	}
	return n.Args[0].onlySymbols()
}

// sameScalar compares values and symbols.
func sameScalar(a, b *Node, decimals int) bool {
	if sameValue(a, b) {
		return true
	}
	if a.Kind == Sym || b.Kind == Sym {
		return spells(a, b) || spells(b, a)
	}
	if a.decimal() || b.decimal() {
		x, okX := a.exact()
		y, okY := b.exact()
		if okX && okY {
			return x.FloatString(decimals) == y.FloatString(decimals)
		}
	}
	return false
}

// decimal reports whether n is a number with a decimal point, or a percentage.
func (n *Node) decimal() bool {
	if n.Kind == Mul && len(n.Args) == 2 && n.Args[1].Kind == Num && n.Args[1].Rat.Cmp(big.NewRat(1, 100)) == 0 {
		return n.Args[0].Kind == Num && n.Args[0].Float
	}
	return n.Kind == Num && n.Float
}

// spells reports whether adjacent letters spell a symbol, in any case: Evelyn equals \text{Evelyn}. A number spells the symbol of its digits: 5
// equals \text{5}. A decimal fraction does not, because the reference writes it with all its digits.
func spells(word, letters *Node) bool {
	if word.Kind != Sym {
		return false
	}
	if letters.Kind == Num {
		return !letters.Float && word.Name == letters.Rat.RatString()
	}
	parts := letters.Args
	if letters.Kind == Const {
		parts = []*Node{letters}
	} else if letters.Kind != Mul {
		return false
	}
	var text strings.Builder
	for _, p := range parts {
		if p.Kind != Sym && (p.Kind != Const || p.Name != euler) {
			return false
		}
		text.WriteString(p.Name)
	}
	return strings.EqualFold(word.Name, text.String())
}

// mirroredSigns is the sign of a relation when its sides are swapped.
var mirroredSigns = map[string]string{"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// sameRelation reports whether two relations are the same up to the order of their sides and terms.
func sameRelation(a, b *Node, decimals int) bool {
	if a.Kind == And || b.Kind == And {
		return a.Kind == b.Kind && matched(a.Args, b.Args, func(x, y *Node) bool { return sameRelation(x, y, decimals) })
	}
	sides := append(slices.Clone(a.Args), b.Args...)
	if !computable(sides...) || slices.ContainsFunc(sides, func(n *Node) bool { return n.Kind == Matrix }) {
		return a.Name == b.Name && Equal(a.Args[0], b.Args[0], decimals) && Equal(a.Args[1], b.Args[1], decimals)
	}
	left := minus(a.Args[0], a.Args[1])
	return a.Name == b.Name && sameValue(left, minus(b.Args[0], b.Args[1])) ||
		a.Name == mirroredSigns[b.Name] && sameValue(left, minus(b.Args[1], b.Args[0]))
}

// matched reports whether each element of one list has its own partner in the other.
func matched(a, b []*Node, same func(x, y *Node) bool) bool {
	if len(a) != len(b) {
		return false
	}
	rest := slices.Clone(b)
	for _, x := range a {
		i := slices.IndexFunc(rest, func(y *Node) bool { return same(x, y) })
		if i < 0 {
			return false
		}
		rest = slices.Delete(rest, i, i+1)
	}
	return true
}

// sameSet compares sets and tuples. Anything else counts as a set with one element; an open interval may be meant as a pair.
func sameSet(a, b *Node, decimals int) bool {
	a, b = asSet(a), asSet(b)
	if x, y := a.segments(), b.segments(); x != nil && y != nil {
		if slices.EqualFunc(x, y, func(u, v segment) bool { return u.same(v) }) {
			return true
		}
	}
	if a.Kind == Interval && b.Kind == Interval {
		return a.Name == b.Name && Equal(a.Args[0], b.Args[0], decimals) && Equal(a.Args[1], b.Args[1], decimals)
	}
	if x, y := a.pair(b), b.pair(a); x != nil && y != nil {
		a, b = x, y
	}
	if a.Kind != Set && a.Kind != Tuple || b.Kind != Set && b.Kind != Tuple {
		return false
	}
	same := func(x, y *Node) bool { return Equal(x, y, decimals) }
	if a.Kind == Set && b.Kind == Set {
		return matched(distinct(a.Args), distinct(b.Args), same)
	}
	return slices.EqualFunc(a.Args, b.Args, same) || b.Kind == Tuple && a.Kind == Set && matched(distinct(a.Args), b.Args, same)
}

func asSet(n *Node) *Node {
	if n.setLike() || n.Kind == Tuple {
		return n
	}
	return &Node{Kind: Set, Args: []*Node{n}}
}

// pair returns n as a pair of numbers if the other side is a pair; nil = not possible.
func (n *Node) pair(other *Node) *Node {
	switch {
	case n.Kind != Interval:
		return n
	case n.Name == "()" && (other.Kind == Set || other.Kind == Tuple) && len(other.Args) == 2:
		return &Node{Kind: Tuple, Args: n.Args}
	}
	return nil
}

// distinct removes duplicate elements.
func distinct(list []*Node) (out []*Node) {
	for _, n := range list {
		if !slices.ContainsFunc(out, func(o *Node) bool { return o.Key() == n.Key() || o.scalar() && n.scalar() && sameValue(o, n) }) {
			out = append(out, n)
		}
	}
	return out
}

// SameFormula reports whether two formulas have the same structure or value. Values without symbols may differ by tolerance or by a relative
// billionth. Sets are equal if they have the same elements in any order. An infinite value is close to no other.
func SameFormula(a, b *Node, tolerance float64) bool {
	if a.Key() == b.Key() {
		return true
	}
	switch {
	case a.relational() && b.relational():
		return sameRelation(a, b, 0)
	case a.setLike() && b.setLike():
		x, y := a.segments(), b.segments()
		return x != nil && y != nil && a.exactSet() == b.exactSet() && slices.EqualFunc(x, y, func(u, v segment) bool { return u.same(v) })
	case !a.scalar() || !b.scalar():
		return false
	case sameValue(a, b) || spells(a, b) || spells(b, a):
		return true
	}
	x, okX := a.realValue()
	y, okY := b.realValue()
	return okX && okY && !math.IsInf(x, 0) && !math.IsInf(y, 0) && math.Abs(x-y) <= math.Max(tolerance, 1e-9*math.Max(math.Abs(x), math.Abs(y)))
}
