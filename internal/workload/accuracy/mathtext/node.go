// Package mathtext parses mathematical answers, LaTeX or plain, and decides whether two of them are equal.
//
// It contains no computer algebra. Rational values are compared exactly, other values numerically, and formulas at sample points. Two formulas that
// these points do not distinguish count as equal.
package mathtext

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kind is the kind of a node.
type Kind int

// The kinds. Args holds the parts of a node in their order.
const (
	Num      Kind = iota // value in Rat; Float if it was written with a decimal point
	Sym                  // Name
	Const                // Name: pi, e, I, oo, zoo
	Add                  // sum
	Mul                  // product
	Pow                  // Args[0] to the power of Args[1]
	Func                 // Name of Args: sin, abs, log (argument, base), or a function defined in the text
	Rel                  // Args[0] Name Args[1]: one of = != < <= > >=
	And                  // all relations hold
	Set                  // finite set
	Tuple                // ordered tuple
	Interval             // from Args[0] to Args[1]; Name = "(" or "[" followed by ")" or "]"
	SetOp                // Name: union, intersection, minus
	Named                // Name: R, N, Z, Q, C, empty
	Matrix               // Args row by row, Cols columns
	Opaque               // Name of Args: not evaluated, for example integrals
)

// Node is a node of a formula's syntax tree.
type Node struct {
	Kind  Kind
	Name  string
	Rat   *big.Rat
	Float bool
	Cols  int
	Args  []*Node
}

func number(r *big.Rat) *Node             { return &Node{Kind: Num, Rat: r} }
func integer(n int64) *Node               { return number(big.NewRat(n, 1)) }
func symbol(name string) *Node            { return &Node{Kind: Sym, Name: name} }
func constant(name string) *Node          { return &Node{Kind: Const, Name: name} }
func fn(name string, args ...*Node) *Node { return &Node{Kind: Func, Name: name, Args: args} }
func pow(base, exp *Node) *Node           { return &Node{Kind: Pow, Args: []*Node{base, exp}} }

// add returns a flattened sum.
func add(args ...*Node) *Node { return flat(Add, args) }

// mul returns a flattened product.
func mul(args ...*Node) *Node { return flat(Mul, args) }

func flat(kind Kind, args []*Node) *Node {
	n := &Node{Kind: kind}
	for _, a := range args {
		if a.Kind == kind {
			n.Args = append(n.Args, a.Args...)
		} else {
			n.Args = append(n.Args, a)
		}
	}
	if len(n.Args) == 1 {
		return n.Args[0]
	}
	return n
}

// negative returns -n.
func negative(n *Node) *Node {
	switch {
	case n.Kind == Num:
		return &Node{Kind: Num, Rat: new(big.Rat).Neg(n.Rat), Float: n.Float}
	case n.Kind == Const && n.Name == infinity:
		return constant(minusInfinity)
	case n.Kind == Const && n.Name == minusInfinity:
		return constant(infinity)
	}
	return mul(integer(-1), n)
}

// minus returns a - b.
func minus(a, b *Node) *Node { return add(a, negative(b)) }

// quotient returns a / b.
func quotient(a, b *Node) *Node {
	if a.Kind == Num && b.Kind == Num && !a.Float && !b.Float && a.Rat.IsInt() && b.Rat.IsInt() {
		if b.Rat.Sign() == 0 {
			return constant(undefined)
		}
		return number(new(big.Rat).Quo(a.Rat, b.Rat))
	}
	return mul(a, pow(b, integer(-1)))
}

// Names of constants.
const (
	infinity      = "oo"
	minusInfinity = "-oo"
	undefined     = "zoo"
	euler         = "e"
	circle        = "pi"
	imaginary     = "I"
)

// scalar reports whether a node can have a number as its value.
func (n *Node) scalar() bool {
	switch n.Kind {
	case Num, Sym, Const, Add, Mul, Pow, Func, Opaque:
		return true
	}
	return false
}

// Key returns a text that is the same for equal structures: sums, products and sets are sorted.
func (n *Node) Key() string {
	switch n.Kind {
	case Num:
		if n.Float {
			return "~" + n.Rat.RatString()
		}
		return n.Rat.RatString()
	case Sym, Const, Named:
		return strconv.Itoa(int(n.Kind)) + ":" + n.Name
	}
	keys := make([]string, len(n.Args))
	for i, a := range n.Args {
		keys[i] = a.Key()
	}
	switch n.Kind {
	case Add, Mul, And:
		slices.Sort(keys)
	case Set:
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	return strconv.Itoa(int(n.Kind)) + n.Name + strconv.Itoa(n.Cols) + "(" + strings.Join(keys, ",") + ")"
}

// symbols adds the names of the symbols in n to found.
func (n *Node) symbols(found map[string]bool) {
	if n.Kind == Sym {
		found[n.Name] = true
	}
	for _, a := range n.Args {
		a.symbols(found)
	}
}

// onlySymbols reports whether n consists only of symbols, like the left side of an assignment: x, AB, A/B, f(x).
func (n *Node) onlySymbols() bool {
	switch {
	case n.Kind == Sym:
		return true
	case n.Kind == Pow && n.Args[1].Kind == Num && n.Args[1].Rat.Cmp(big.NewRat(-1, 1)) == 0:
		return n.Args[0].onlySymbols()
	case len(n.Args) == 0:
		return false
	}
	return !slices.ContainsFunc(n.Args, func(a *Node) bool { return !a.onlySymbols() })
}

// Decimal parses digits with an optional decimal point and sign; nil = not such a number.
func Decimal(text string) *Node {
	n, err := readNumber(text)
	if err != nil {
		return nil
	}
	return n
}

// Percent returns n/100; nil = n has no value.
func Percent(n *Node) *Node {
	if !n.scalar() {
		return nil
	}
	return mul(n, number(big.NewRat(1, 100)))
}

// SetOf returns the set of the values; values that are sets contribute their elements.
func SetOf(values ...*Node) *Node {
	set := &Node{Kind: Set}
	for _, v := range values {
		if v.Kind == Set {
			set.Args = append(set.Args, v.Args...)
		} else {
			set.Args = append(set.Args, v)
		}
	}
	return set
}

// Symbol returns a symbol by its name.
func Symbol(name string) *Node { return symbol(name) }

// ASCIIDigits replaces the digits of other scripts by 0 to 9.
func ASCIIDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0x7f && unicode.IsDigit(r) {
			return '0' + digitValue(r)
		}
		return r
	}, text)
}

// digitValue returns the ASCII digit of a decimal digit; the digits of each script are consecutive.
func digitValue(r rune) rune {
	for _, row := range unicode.Nd.R16 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return (r - rune(row.Lo)) % 10
		}
	}
	for _, row := range unicode.Nd.R32 {
		if rune(row.Lo) <= r && r <= rune(row.Hi) {
			return (r - rune(row.Lo)) % 10
		}
	}
	return 0
}
