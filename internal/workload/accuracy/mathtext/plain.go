package mathtext

import (
	"math/big"
	"slices"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// Plain parses an expression in Python syntax, plus n!. ^ between whole numbers is "exclusive or". Syntax that is only LaTeX, for example 2x or
// (a)(b), is an error.
func Plain(s string) (*Node, error) {
	if len(s) > longestFormula {
		return nil, errSyntax
	}
	p := &plain{}
	for rest := s; ; {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			break
		}
		word := plainToken.FindString(rest)
		if word == "" {
			return nil, errSyntax
		}
		p.words = append(p.words, word)
		rest = rest[len(word):]
	}
	n, err := p.listed("")
	if err == nil && p.at < len(p.words) {
		err = errSyntax
	}
	if err != nil {
		return nil, err
	}
	return n, nil
}

var (
	plainToken  = lazyregexp.New(`^(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[\pL_][\pL\pN_]*|\*\*|//|<=|>=|==|!=|[-+*/%^()\[\]{},<>!])`)
	leadingZero = lazyregexp.New(`^0+[1-9]\d*$`)
	plainName   = lazyregexp.New(`^[\pL_]`)
)

// keywords are the reserved words of Python, which cannot be names.
var keywords = strings.Fields("and or not in is if else for while lambda None True False def class return import from as with pass del global yield")

type plain struct {
	words []string
	at    int
	depth int
}

func (p *plain) peek() string {
	if p.at < len(p.words) {
		return p.words[p.at]
	}
	return ""
}

func (p *plain) take(words ...string) string {
	if w := p.peek(); w != "" && slices.Contains(words, w) {
		p.at++
		return w
	}
	return ""
}

// listed parses one value, or several separated by commas: a set in braces, otherwise a tuple, whose Name is the surrounding bracket.
func (p *plain) listed(bracket string) (*Node, error) {
	n, err := p.comparison()
	if err != nil || p.peek() != "," && (bracket == "" || bracket == "(") {
		return n, err
	}
	list := &Node{Kind: Tuple, Name: bracket, Args: []*Node{n}}
	if bracket == "{" {
		list = &Node{Kind: Set, Args: []*Node{n}}
	}
	for p.take(",") != "" {
		if w := p.peek(); w == "" || w == ")" || w == "]" || w == "}" {
			break
		}
		if n, err = p.comparison(); err != nil {
			return nil, err
		}
		list.Args = append(list.Args, n)
	}
	return list, nil
}

func (p *plain) comparison() (*Node, error) {
	left, err := p.exclusive()
	for err == nil {
		sign := p.take("<", "<=", ">", ">=", "==", "!=")
		if sign == "" {
			return left, nil
		}
		var right *Node
		if right, err = p.exclusive(); err == nil {
			if sign == "==" {
				sign = "="
			}
			left, err = related(sign, left, right)
		}
	}
	return nil, err
}

// exclusive parses sums separated by ^.
func (p *plain) exclusive() (*Node, error) {
	left, err := p.sum()
	for err == nil && p.take("^") != "" {
		var right *Node
		if right, err = p.sum(); err != nil {
			return nil, err
		}
		x, okX := wholeNumber(left)
		y, okY := wholeNumber(right)
		if !okX || !okY {
			return nil, errSyntax
		}
		left = number(new(big.Rat).SetInt(new(big.Int).Xor(x, y)))
	}
	return left, err
}

// wholeNumber returns the value of n if it is whole.
func wholeNumber(n *Node) (*big.Int, bool) {
	if v, ok := n.exact(); ok && v.IsInt() {
		return v.Num(), true
	}
	return nil, false
}

func (p *plain) sum() (*Node, error) {
	left, err := p.product()
	for err == nil {
		sign := p.take("+", "-")
		if sign == "" {
			return left, nil
		}
		var right *Node
		if right, err = p.product(); err == nil {
			if !computable(left, right) {
				return nil, errSyntax
			}
			if sign == "-" {
				right = negative(right)
			}
			left = add(left, right)
		}
	}
	return nil, err
}

func (p *plain) product() (*Node, error) {
	left, err := p.unary()
	for err == nil {
		sign := p.take("*", "/", "//", "%")
		if sign == "" {
			return left, nil
		}
		var right *Node
		if right, err = p.unary(); err != nil {
			return nil, err
		}
		if !computable(left, right) {
			return nil, errSyntax
		}
		switch sign {
		case "*":
			left = mul(left, right)
		case "/":
			left = quotient(left, right)
		case "//":
			left = fn("floor", quotient(left, right))
		default:
			left = fn("mod", left, right)
		}
	}
	return nil, err
}

func (p *plain) unary() (*Node, error) {
	if p.depth++; p.depth > deepest {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	switch sign := p.take("+", "-"); sign {
	case "+", "-":
		n, err := p.unary()
		if err == nil && !computable(n) {
			err = errSyntax
		}
		if err == nil && sign == "-" {
			n = negative(n)
		}
		return n, err
	}
	base, err := p.atom()
	for err == nil && p.take("!") != "" {
		base = fn("factorial", base)
	}
	if err == nil && p.take("**") != "" {
		var exp *Node
		if exp, err = p.unary(); err == nil {
			base = pow(base, exp)
		}
	}
	return base, err
}

var closings = map[string]string{"(": ")", "[": "]", "{": "}"}

func (p *plain) atom() (*Node, error) {
	w := p.peek()
	p.at++
	switch {
	case w == "":
		return nil, errSyntax
	case w == "(" || w == "[" || w == "{":
		n, err := p.listed(w)
		if err == nil && p.take(closings[w]) == "" || p.peek() == "(" {
			err = errSyntax
		}
		return n, err
	case plainName.MatchString(w):
		return p.name(w)
	case w[0] >= '0' && w[0] <= '9' || w[0] == '.':
		if leadingZero.MatchString(w) || p.peek() == "(" || p.peek() != "" && plainName.MatchString(p.peek()) {
			return nil, errSyntax
		}
		return plainNumber(w)
	}
	return nil, errSyntax
}

// largestExponent is the maximum decimal exponent of a number, in either direction.
const largestExponent = 400

func plainNumber(w string) (*Node, error) {
	if i := strings.IndexAny(w, "eE"); i >= 0 && len(strings.TrimLeft(w[i+1:], "+-0")) > 3 {
		return nil, errSyntax
	}
	r, ok := new(big.Rat).SetString(strings.TrimSuffix(w, "."))
	if !ok || r.Num().BitLen() > 4*largestExponent*10 || r.Denom().BitLen() > 4*largestExponent*10 {
		return nil, errSyntax
	}
	return &Node{Kind: Num, Rat: r, Float: strings.ContainsAny(w, ".eE")}, nil
}

// plainConstants are names with a value.
var plainConstants = map[string]string{"pi": circle, "E": euler, "I": imaginary, "oo": infinity, "zoo": undefined}

// plainFunctions maps the names of functions in programs to ours where they differ.
var plainFunctions = map[string]string{"Abs": "abs", "ln": "log", "Max": "max", "Min": "min", "Mod": "mod"}

func (p *plain) name(w string) (*Node, error) {
	if slices.Contains(keywords, w) || p.peek() != "" && plainName.MatchString(p.peek()) {
		return nil, errSyntax
	}
	if p.peek() != "(" {
		if c, ok := plainConstants[w]; ok {
			return constant(c), nil
		}
		return symbol(w), nil
	}
	p.at++
	list, err := p.listed("(")
	if err == nil && p.take(")") == "" {
		err = errSyntax
	}
	if err != nil {
		return nil, err
	}
	args := []*Node{list}
	if list.Kind == Tuple && list.Name == "(" {
		args = list.Args
	}
	return applied(w, args)
}

// applied returns a function by its name in a program.
func applied(w string, args []*Node) (*Node, error) {
	if known, ok := plainFunctions[w]; ok {
		w = known
	}
	switch {
	case w == "log" && len(args) == 1:
		args = append(args, constant(euler))
	case w == "exp" && len(args) == 1:
		return pow(constant(euler), args[0]), nil
	case w == "sqrt" && len(args) == 1:
		return pow(args[0], number(big.NewRat(1, 2))), nil
	}
	if _, ok := functions[w]; ok && (len(args) != 1 || !args[0].scalar()) {
		return nil, errSyntax
	}
	return fn(w, args...), nil
}
