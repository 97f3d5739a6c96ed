package mathtext

import (
	"math/big"
	"strings"
)

// functionNames maps the commands of functions with one argument to the names of the functions.
var functionNames = map[string]string{
	`\sin`: "sin", `\cos`: "cos", `\tan`: "tan", `\csc`: "csc", `\sec`: "sec", `\cot`: "cot", `\arcsin`: "asin", `\arccos`: "acos", `\arctan`: "atan",
	`\sinh`: "sinh", `\cosh`: "cosh", `\tanh`: "tanh", `\arcsinh`: "asinh", `\arsinh`: "asinh", `\arccosh`: "acosh", `\arcosh`: "acosh",
	`\arctanh`: "atanh", `\artanh`: "atanh", `\arccsc`: "acsc", `\arcsec`: "asec", `\arccot`: "acot", `\exp`: "exp", `\log`: "log", `\ln`: "ln",
	`\floor`: "floor", `\ceil`: "ceiling", `\det`: "det", `\gcd`: "gcd", `\lcm`: "lcm", `\max`: "max", `\min`: "min",
}

// severalArguments are the functions that take a list.
var severalArguments = map[string]bool{"gcd": true, "lcm": true, "max": true, "min": true}

// bigOperators are commands with bounds.
var bigOperators = map[string]bool{`\sum`: true, `\prod`: true, `\int`: true, `\lim`: true}

// function parses a function after the command that names it.
func (p *latex) function(t token) (*Node, error) {
	switch {
	case t.kind == `\frac`:
		return p.fraction()
	case t.kind == `\binom`:
		above, err := p.exponent()
		if err != nil {
			return nil, err
		}
		below, err := p.exponent()
		if err != nil {
			return nil, err
		}
		return fn("binomial", above, below), nil
	case t.kind == `\sqrt`:
		return p.root()
	case bigOperators[t.kind]:
		return p.bounded(t.kind[1:])
	case t.kind == `\operatorname`:
		return p.operator()
	}
	name, ok := functionNames[t.kind]
	if !ok {
		return nil, errSyntax
	}
	return p.applied(name)
}

// fraction parses both parts of a fraction; derivatives are not evaluated.
func (p *latex) fraction() (*Node, error) {
	at := p.at
	above, err := p.exponent()
	if err != nil {
		return nil, err
	}
	middle := p.at
	below, err := p.exponent()
	if err != nil {
		return nil, err
	}
	if inner := p.tokens[middle:p.at]; len(inner) == 3 && inner[1].kind == "diff" {
		text := ""
		for _, t := range p.tokens[at:p.at] {
			text += t.text
		}
		return &Node{Kind: Opaque, Name: `\frac` + text}, nil
	}
	return quotient(above, below), nil
}

// root parses \sqrt with or without a degree.
func (p *latex) root() (*Node, error) {
	degree := integer(2)
	if p.take("[") {
		var err error
		if degree, err = p.sum(); err == nil {
			err = p.expect("]")
		}
		if err != nil {
			return nil, err
		}
	}
	n, err := p.exponent()
	if err != nil {
		return nil, err
	}
	return pow(n, quotient(integer(1), degree)), nil
}

// operator parses \operatorname{name} and its argument.
func (p *latex) operator() (*Node, error) {
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	name := ""
	for !p.take("}") {
		t := p.peek()
		if t.kind == "" {
			return nil, errSyntax
		}
		name += strings.TrimSpace(t.text)
		p.at++
	}
	if known, ok := functionNames[`\`+name]; ok {
		name = known
	}
	return p.applied(name)
}

// applied parses base, exponent and argument of a function.
func (p *latex) applied(name string) (*Node, error) {
	var base, exp *Node
	var err error
	for p.is("_", "^") && err == nil {
		if p.take("_") {
			base, err = p.exponent()
		} else {
			p.at++
			exp, err = p.exponent()
		}
	}
	if err != nil {
		return nil, err
	}
	args, err := p.arguments(name)
	if err != nil {
		return nil, err
	}
	n := fn(name, args...)
	switch name {
	case "ln":
		n = fn("log", args[0], constant(euler))
	case "log":
		if base == nil {
			base = integer(10)
		}
		n = fn("log", args[0], base)
	case "exp":
		n = pow(constant(euler), args[0])
	case "det":
		if args[0].Kind != Matrix {
			return nil, errSyntax
		}
		return determinant(args[0])
	}
	if exp == nil {
		return n, nil
	}
	if _, ok := functions["a"+name]; ok && exp.Kind == Num && exp.Rat.Cmp(big.NewRat(-1, 1)) == 0 {
		return fn("a"+name, args...), nil
	}
	return pow(n, exp), nil
}

// arguments parses the arguments of a function: a list in parentheses, or factors up to the next function.
func (p *latex) arguments(name string) ([]*Node, error) {
	if !p.is("(") {
		n, err := p.product(false)
		if err != nil || !n.scalar() && n.Kind != Matrix {
			return nil, failure(err)
		}
		return []*Node{n}, nil
	}
	p.at++
	groups, err := p.list()
	if err == nil {
		err = p.expect(")")
	}
	if err != nil {
		return nil, err
	}
	args := groups[0]
	if len(groups) > 1 || len(args) != 1 && !severalArguments[name] || !computable(args...) {
		return nil, errSyntax
	}
	return args, nil
}

// bounded parses a sum, a product, an integral or a limit with its bounds. Only sums and products are evaluated.
func (p *latex) bounded(name string) (*Node, error) {
	parts := map[string]*Node{}
	for p.is("_", "^") {
		sign := p.peek().kind
		p.at++
		var err error
		if p.take("{") {
			parts[sign], err = p.bound()
		} else {
			parts[sign], err = p.exponent()
		}
		if err != nil {
			return nil, err
		}
	}
	read := p.product
	if name == "int" {
		read = func(bool) (*Node, error) { return p.sum() }
	}
	body, err := read(true)
	if err != nil || !computable(body) {
		return nil, failure(err)
	}
	from, to := parts["_"], parts["^"]
	if from != nil && to != nil && from.Kind == Rel && from.Name == "=" && from.Args[0].Kind == Sym && (name == "sum" || name == "prod") {
		return fn(name, body, from.Args[0], from.Args[1], to), nil
	}
	n := &Node{Kind: Opaque, Name: name, Args: []*Node{body}}
	for _, b := range []*Node{from, to} {
		if b != nil {
			n.Args = append(n.Args, b)
		}
	}
	return n, nil
}

// bound parses the content of the braces of a bound: a formula, an equation, or the target of a limit.
func (p *latex) bound() (*Node, error) {
	n, err := p.relation()
	if err != nil {
		return nil, err
	}
	if p.take(`\to`) || p.take(`\rightarrow`) {
		to, err := p.relation()
		if err != nil {
			return nil, err
		}
		n = &Node{Kind: Opaque, Name: "to", Args: []*Node{n, to}}
	}
	return n, p.expect("}")
}
