package mathtext

import (
	"math/big"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// thousands matches a number with commas between thousands; with a space after a comma it is a list.
var thousands = lazyregexp.New(`^\s*-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*$`)

// deepest is the maximum nesting depth of a formula.
const deepest = 150

// LaTeX parses a formula, list, set, interval, relation or matrix. The grammar is that of latex2sympy2-extended, which lighteval and math-verify use.
// Comments in the code mark the differences.
func LaTeX(s string) (*Node, error) {
	if thousands.MatchString(s) {
		return readNumber(strings.TrimSpace(strings.ReplaceAll(s, ",", "")))
	}
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &latex{tokens: tokens}
	n, err := p.whole()
	if err == nil && p.at < len(tokens) {
		err = errSyntax
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

// latex is the parser; it reads tokens from left to right.
type latex struct {
	tokens []token
	at     int
	depth  int
	bars   int // number of open absolute values
}

func (p *latex) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{}
}

func (p *latex) is(kinds ...string) bool { return slices.Contains(kinds, p.peek().kind) }

// take consumes a token of this kind, if it is next.
func (p *latex) take(kind string) bool {
	if kind != "" && p.is(kind) {
		p.at++
		return true
	}
	return false
}

func (p *latex) expect(kind string) error {
	if !p.take(kind) {
		return errSyntax
	}
	return nil
}

// list parses elements separated by commas and semicolons: groups of elements.
func (p *latex) list() (groups [][]*Node, err error) {
	if p.depth++; p.depth > deepest {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	groups = [][]*Node{nil}
	for {
		n, err := p.relation()
		if err != nil {
			return nil, err
		}
		last := len(groups) - 1
		if n.Kind == Set && n.Name == plusMinus {
			groups[last] = append(groups[last], n.Args...)
		} else {
			groups[last] = append(groups[last], n)
		}
		switch {
		case p.take(";"):
			groups = append(groups, nil)
		case !p.take(","):
			return groups, nil
		}
	}
}

// plusMinus marks the two values of a ± b until their list includes them.
const plusMinus = "±"

// whole parses a complete answer.
func (p *latex) whole() (*Node, error) {
	groups, err := p.list()
	if err != nil {
		return nil, err
	}
	// x = 1, 2 gives x both values; x = 1, y = 2 are two equations.
	head := groups[0][0]
	if head.Kind == Rel && head.Name == "=" && (len(groups) > 1 || len(groups[0]) > 1) && assignable(head.Args[0]) {
		rest := groups
		rest[0] = append([]*Node{head.Args[1]}, groups[0][1:]...)
		if !slices.ContainsFunc(slices.Concat(rest...), func(n *Node) bool { return n.Kind == Rel || n.Kind == And }) {
			return &Node{Kind: Rel, Name: "=", Args: []*Node{head.Args[0], collect(rest)}}, nil
		}
		rest[0][0] = head
	}
	return collect(groups), nil
}

// assignable reports whether n can be assigned values.
func assignable(n *Node) bool {
	return n.Kind == Sym || n.Kind == Tuple && !slices.ContainsFunc(n.Args, func(a *Node) bool { return a.Kind != Sym })
}

// collect combines groups of elements: the only element, a set, or a set of tuples.
func collect(groups [][]*Node) *Node {
	if len(groups) == 1 {
		if len(groups[0]) == 1 {
			return groups[0][0]
		}
		return &Node{Kind: Set, Args: groups[0]}
	}
	set := &Node{Kind: Set}
	single := !slices.ContainsFunc(groups, func(g []*Node) bool { return len(g) != 1 })
	for _, g := range groups {
		if single {
			set.Args = append(set.Args, g[0])
		} else {
			set.Args = append(set.Args, &Node{Kind: Tuple, Args: g})
		}
	}
	return set
}

// relation parses expressions separated by relation signs.
func (p *latex) relation() (*Node, error) {
	left, err := p.sets()
	if err != nil {
		return nil, err
	}
	for {
		sign := p.peek().kind
		switch sign {
		case "=", "!=", "<", "<=", ">", ">=":
		case `\approx`, `\in`, `\notin`, `\subset`, `\subseteq`, `\supset`, `\supseteq`, `\sim`, `\cong`:
		default:
			return left, nil
		}
		p.at++
		right, err := p.sets()
		if err != nil {
			return nil, err
		}
		if left, err = related(sign, left, right); err != nil {
			return nil, err
		}
	}
}

// related makes a relation of two sides. If left is a relation, the new one applies to its right side.
func related(sign string, left, right *Node) (*Node, error) {
	switch sign {
	case `\approx`:
		if left.onlySymbols() {
			return right, nil
		}
		return left, nil // the value that is not an approximation
	case `\in`:
		sign = "="
		if right.scalar() {
			return nil, errSyntax
		}
	case `\notin`:
		sign = "!="
	case "=", "!=", "<", "<=", ">", ">=":
	default:
		return &Node{Kind: Opaque, Name: sign, Args: []*Node{left, right}}, nil
	}
	if right.Kind == Set && right.Name == plusMinus {
		right = &Node{Kind: Set, Args: right.Args}
	}
	last := left
	if left.Kind == And {
		last = left.Args[len(left.Args)-1]
	}
	if last.Kind != Rel {
		return &Node{Kind: Rel, Name: sign, Args: []*Node{left, right}}, nil
	}
	next := &Node{Kind: Rel, Name: sign, Args: []*Node{last.Args[1], right}}
	if left.Kind == And {
		return &Node{Kind: And, Args: append(slices.Clone(left.Args), next)}, nil
	}
	return &Node{Kind: And, Args: []*Node{left, next}}, nil
}

// setOperators are ordered from the lowest to the highest precedence.
var setOperators = []struct{ sign, name string }{{`\setminus`, "minus"}, {`\cup`, "union"}, {`\cap`, "intersection"}}

// sets parses sums with set operators between them.
func (p *latex) sets() (*Node, error) { return p.setLevel(0) }

func (p *latex) setLevel(level int) (*Node, error) {
	if level == len(setOperators) {
		return p.sum()
	}
	left, err := p.setLevel(level + 1)
	for err == nil && p.take(setOperators[level].sign) {
		var right *Node
		if right, err = p.setLevel(level + 1); err == nil {
			left, err = setOperation(setOperators[level].name, left, right)
		}
	}
	return left, err
}

func setOperation(name string, left, right *Node) (*Node, error) {
	for _, side := range []**Node{&left, &right} {
		switch n := *side; {
		case n.Kind == Tuple:
			*side = &Node{Kind: Set, Args: n.Args}
		case n.scalar() || n.Kind == Matrix || n.Kind == Rel || n.Kind == And:
			return nil, errSyntax
		}
	}
	return &Node{Kind: SetOp, Name: name, Args: []*Node{left, right}}, nil
}

// sum parses terms separated by plus and minus signs.
func (p *latex) sum() (*Node, error) {
	if p.depth++; p.depth > deepest {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	left, err := p.product(true)
	for err == nil {
		sign := p.peek().kind
		switch sign {
		case "+", "-", `\pm`, `\mp`:
		default:
			return left, nil
		}
		p.at++
		var right *Node
		if right, err = p.product(true); err != nil {
			return nil, err
		}
		switch {
		case !computable(left, right):
			return nil, errSyntax
		case sign == "+":
			left = add(left, right)
		case sign == "-":
			left = minus(left, right)
		default:
			return &Node{Kind: Set, Name: plusMinus, Args: []*Node{add(left, right), minus(left, right)}}, nil
		}
	}
	return nil, err
}

// computable reports whether sums and products of the parts are defined.
func computable(parts ...*Node) bool {
	return !slices.ContainsFunc(parts, func(n *Node) bool { return !n.scalar() && n.Kind != Matrix })
}

// product parses factors separated by multiplication and division signs. Without functions it ends before one, because it is then the argument of a
// function without parentheses.
func (p *latex) product(functions bool) (*Node, error) {
	left, err := p.signed(functions)
	for err == nil {
		sign := p.peek().kind
		switch sign {
		case "*", "/", ":", `\mod`, `\bmod`:
		default:
			return left, nil
		}
		p.at++
		var right *Node
		if right, err = p.signed(functions); err != nil {
			return nil, err
		}
		switch {
		case !computable(left, right):
			return nil, errSyntax
		case sign == "*":
			left = mul(left, right)
		case sign == "/" || sign == ":":
			left = quotient(left, right)
		default:
			left = fn("mod", left, right)
		}
	}
	return nil, err
}

// signed parses signs and the adjacent factors after them.
func (p *latex) signed(functions bool) (*Node, error) {
	switch {
	case p.take("+"):
		return p.signed(functions)
	case p.take("-"):
		n, err := p.signed(functions)
		if err != nil || !computable(n) {
			return nil, failure(err)
		}
		return negative(n), nil
	}
	left, err := p.postfix()
	for err == nil && p.begins(functions) {
		at := p.at
		var right *Node
		if right, err = p.postfix(); err != nil {
			return nil, err
		}
		if !computable(left, right) {
			return nil, errSyntax
		}
		left = p.adjacent(left, right, at)
	}
	return left, err
}

// failure returns err, or a general parse error.
func failure(err error) error {
	if err == nil {
		return errSyntax
	}
	return err
}

// adjacent returns the product of two adjacent factors; a whole number before a fraction is a mixed number. Two adjacent plain numbers are neither:
// releases of the reference add or multiply them, which makes 235 or 234 of 1\,234. Here they have no numeric value and equal only the same pair.
func (p *latex) adjacent(left, right *Node, at int) *Node {
	switch p.tokens[at].kind {
	case "num", "pct":
		if left.Kind == Num || left.Kind == Opaque && left.Name == numbersBeside {
			return &Node{Kind: Opaque, Name: numbersBeside, Args: []*Node{left, right}}
		}
	case `\frac`:
		if left.Kind == Num && left.Rat.IsInt() && !left.Float && right.Kind == Num && right.Rat.Sign() > 0 {
			sum := new(big.Rat).Add(new(big.Rat).Abs(left.Rat), right.Rat)
			if left.Rat.Sign() < 0 {
				sum.Neg(sum)
			}
			return number(sum)
		}
	}
	return mul(left, right)
}

// numbersBeside is the name of two adjacent numbers.
const numbersBeside = "numbers side by side"

// begins reports whether a factor may begin here.
func (p *latex) begins(functions bool) bool {
	t := p.peek()
	switch t.kind {
	case "num", "pct", "letter", "accent", "diff", "(", "{", `\lfloor`, `\lceil`, `\frac`, `\binom`, `\sqrt`, `\infty`, `\begin`, `\boxed`, `\phantom`:
		return true
	case "[":
		return false // an interval is not a factor
	case "|":
		return p.bars == 0
	}
	if _, ok := functionNames[t.kind]; ok || bigOperators[t.kind] || t.kind == `\operatorname` {
		return functions
	}
	_, ok := symbolNames[t.kind]
	return ok
}

// postfix parses a power and what follows it: factorials, a transposition.
func (p *latex) postfix() (*Node, error) {
	n, err := p.power()
	for err == nil {
		switch {
		case p.take("!"):
			if !n.scalar() {
				return nil, errSyntax
			}
			n = fn("factorial", n)
		case p.take("^T"):
			if n.Kind == Matrix {
				n = transposed(n)
			}
		default:
			return n, nil
		}
	}
	return nil, err
}

// power parses a base and its exponents.
func (p *latex) power() (*Node, error) {
	base, err := p.atom()
	for err == nil && p.is("^") {
		p.at++
		if !computable(base) {
			return nil, errSyntax
		}
		var exp *Node
		if exp, err = p.exponent(); err == nil {
			base = pow(base, exp)
		}
	}
	return base, err
}

// exponent parses one atom or the content of braces. An exponent that is a symbol has its own exponent: x^y^z.
func (p *latex) exponent() (*Node, error) {
	t := p.peek()
	n, err := p.atom()
	switch {
	case err != nil:
		return nil, err
	case !computable(n):
		return nil, errSyntax
	case t.kind == "letter" && p.take("^"):
		exp, err := p.exponent()
		if err != nil {
			return nil, err
		}
		return pow(n, exp), nil
	}
	return n, nil
}
