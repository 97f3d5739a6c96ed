package mathtext

import (
	"math/big"
	"strings"
	"unicode"
)

// atom parses a number, a symbol, a bracketed expression or a function.
func (p *latex) atom() (*Node, error) {
	if p.depth++; p.depth > deepest {
		return nil, errSyntax
	}
	defer func() { p.depth-- }()
	t := p.peek()
	p.at++
	switch t.kind {
	case "num", "pct":
		return p.number(t)
	case "diff":
		return symbol("d" + t.text[len(t.text)-1:]), nil
	case "letter":
		return p.letter(t.text)
	case "accent":
		return p.accented(t)
	case "(", "[":
		return p.bracket(t.kind)
	case "{":
		return p.braces()
	case `\{`:
		return p.set()
	case "|":
		return p.absolute()
	case `\lfloor`:
		return p.closed("floor", `\rfloor`)
	case `\lceil`:
		return p.closed("ceiling", `\rceil`)
	case `\infty`:
		return constant(infinity), nil
	case `\emptyset`:
		return &Node{Kind: Named, Name: "empty"}, nil
	case `\boxed`, `\phantom`:
		if err := p.expect("{"); err != nil {
			return nil, err
		}
		return p.braces()
	case `\begin`:
		return p.environment()
	}
	if name, ok := symbolNames[t.kind]; ok {
		return p.symbolRest(name)
	}
	return p.function(t)
}

// number parses a number, with an optional percent sign. It ignores the base of a numeral system after it.
func (p *latex) number(t token) (*Node, error) {
	if p.is("_") {
		if _, err := p.subscript(); err != nil {
			return nil, err
		}
	}
	n, err := readNumber(t.text)
	if err == nil && t.kind == "pct" {
		n = mul(n, number(big.NewRat(1, 100)))
	}
	return n, err
}

// letter parses a one-letter symbol. e is Euler's number, I the imaginary unit.
func (p *latex) letter(text string) (*Node, error) {
	switch text {
	case "e":
		return constant(euler), nil
	case "I":
		return constant(imaginary), nil
	}
	if name, ok := greekLetters[text]; ok {
		text = name
	}
	return p.symbolRest(text)
}

// symbolRest parses the rest of a symbol: its subscript, and its arguments if they are plain, as in f(x) but not in a(b+c).
func (p *latex) symbolRest(name string) (*Node, error) {
	if name == circle && !p.is("_") {
		return constant(circle), nil
	}
	if p.is("_") {
		sub, err := p.subscript()
		if err != nil {
			return nil, err
		}
		name += sub
	}
	var exp *Node
	at := p.at
	if p.take("^") {
		var err error
		if exp, err = p.exponent(); err != nil {
			return nil, err
		}
		if p.is("_") { // a^{b}_c is the power of a_c
			sub, err := p.subscript()
			if err != nil {
				return nil, err
			}
			return pow(symbol(name+sub), exp), nil
		}
	}
	if args := p.plainArguments(); args != nil {
		n := fn(name, args...)
		if exp != nil {
			n = pow(n, exp)
		}
		return n, nil
	}
	if exp != nil {
		p.at = at // the caller parses the power
	}
	return symbol(name), nil
}

// plainArguments parses single symbols and numbers in parentheses; nil = something else, and nothing was consumed.
func (p *latex) plainArguments() (args []*Node) {
	at := p.at
	if !p.take("(") {
		return nil
	}
	for {
		t := p.peek()
		if t.kind != "num" && t.kind != "letter" {
			break
		}
		p.at++
		n, err := readNumber(t.text)
		if t.kind == "letter" {
			n, err = symbol(t.text), nil
			if p.is("_") {
				var sub string
				if sub, err = p.subscript(); err == nil {
					n = symbol(t.text + sub)
				}
			}
		}
		if err != nil {
			break
		}
		args = append(args, n)
		if p.take(")") {
			return args
		}
		if !p.take(",") {
			break
		}
	}
	p.at = at
	return nil
}

// subscript parses _ and what follows it, as a text: "_1", "_{12}".
func (p *latex) subscript() (string, error) {
	p.at++ // skip _
	var text string
	if p.take("{") {
		for depth := 1; ; p.at++ {
			t := p.peek()
			if t.kind == "" {
				return "", errSyntax
			}
			if t.kind == "{" {
				depth++
			}
			if t.kind == "}" {
				if depth--; depth == 0 {
					p.at++
					break
				}
			}
			text += t.text + t.body
		}
	} else {
		t := p.peek()
		if t.kind != "num" && t.kind != "letter" && t.kind != "accent" && symbolNames[t.kind] == "" {
			return "", errSyntax
		}
		p.at++
		text = t.text + t.body
	}
	if len(text) > 1 {
		return "_{" + text + "}", nil
	}
	return "_" + text, nil
}

// numberSets are the number sets by their blackboard letter.
var numberSets = map[string]bool{"N": true, "Z": true, "Q": true, "R": true, "C": true}

// accented parses words in text commands, and symbols under an accent.
func (p *latex) accented(t token) (*Node, error) {
	body := strings.ReplaceAll(t.body, " ", "")
	switch name := t.text; {
	case strings.HasPrefix(name, "text"), name == "mbox":
		body = strings.NewReplacer("(", "", ")", "").Replace(body)
	case name == "mathbb" && numberSets[body]:
		return &Node{Kind: Named, Name: body}, nil
	case strings.HasPrefix(name, "math"):
		body = "math{" + body + "}"
	case name == "overline":
		body = "bar{" + body + "}"
	case name == "overrightarrow":
		body = "vec{" + body + "}"
	case name == "widetilde":
		body = "tilde{" + body + "}"
	default:
		body = name + "{" + body + "}"
	}
	return p.symbolRest(body)
}

// bracket parses a group, an interval or a tuple after its opening bracket.
func (p *latex) bracket(open string) (*Node, error) {
	bars := p.bars
	p.bars = 0
	groups, err := p.list()
	p.bars = bars
	if err != nil {
		return nil, err
	}
	closing := p.peek().kind
	if closing != ")" && closing != "]" {
		return nil, errSyntax
	}
	p.at++
	var all []*Node
	for _, g := range groups {
		all = append(all, g...)
	}
	switch {
	case len(all) == 1 && (open == "(") == (closing == ")"):
		return all[0], nil
	case len(all) == 2 && len(groups) == 1 && all[0].scalar() && all[1].scalar():
		return interval(open, closing, all[0], all[1]), nil
	case (open == "(") == (closing == ")"):
		return &Node{Kind: Tuple, Args: all}, nil
	}
	return nil, errSyntax
}

// interval returns an interval, or a pair if the numbers cannot form an interval.
func interval(open, closing string, from, to *Node) *Node {
	order, known := compare(from, to)
	openBoth, closedBoth := open == "(" && closing == ")", open == "[" && closing == "]"
	switch {
	case known && (openBoth && order >= 0 || closedBoth && order > 0):
		return &Node{Kind: Tuple, Args: []*Node{from, to}}
	case known && closedBoth && order == 0:
		return &Node{Kind: Set, Args: []*Node{from}}
	case known && order >= 0:
		return &Node{Kind: Named, Name: "empty"}
	}
	if to.Kind == Const && to.Name == infinity {
		closing = ")"
	}
	if from.Kind == Const && from.Name == minusInfinity {
		open = "("
	}
	return &Node{Kind: Interval, Name: open + closing, Args: []*Node{from, to}}
}

// braces parses the content of {…}: one formula, or a set.
func (p *latex) braces() (*Node, error) {
	if p.take("}") {
		return &Node{Kind: Named, Name: "empty"}, nil
	}
	bars := p.bars
	p.bars = 0
	groups, err := p.list()
	p.bars = bars
	if err != nil {
		return nil, err
	}
	return collect(groups), p.expect("}")
}

// set parses the content between \{ and \}.
func (p *latex) set() (*Node, error) {
	if p.take(`\}`) {
		return &Node{Kind: Named, Name: "empty"}, nil
	}
	groups, err := p.list()
	if err != nil {
		return nil, err
	}
	set := &Node{Kind: Set}
	for _, g := range groups {
		set.Args = append(set.Args, g...)
	}
	return set, p.expect(`\}`)
}

// absolute parses the content between bars.
func (p *latex) absolute() (*Node, error) {
	p.bars++
	n, err := p.sum()
	p.bars--
	if err != nil {
		return nil, err
	}
	if n.Kind == Matrix || !n.scalar() {
		return nil, errSyntax
	}
	return fn("abs", n), p.expect("|")
}

// closed parses the argument of a function that is written as a pair of brackets.
func (p *latex) closed(name, closing string) (*Node, error) {
	n, err := p.sum()
	if err != nil || !n.scalar() {
		return nil, failure(err)
	}
	return fn(name, n), p.expect(closing)
}

// greekLetters maps Greek letters to their names.
var greekLetters = map[string]string{
	"α": "alpha", "β": "beta", "γ": "gamma", "Γ": "Gamma", "δ": "delta", "Δ": "Delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "Θ": "Theta",
	"ι": "iota", "κ": "kappa", "λ": "lambda", "Λ": "Lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "Ξ": "Xi", "Π": "Pi", "ρ": "rho", "σ": "sigma", "Σ": "Sigma",
	"τ": "tau", "υ": "upsilon", "φ": "phi", "Φ": "Phi", "χ": "chi", "ψ": "psi", "Ψ": "Psi", "ω": "omega", "Ω": "Omega",
}

// symbolNames are the commands that are symbols, with their names.
var symbolNames = names(`alpha beta gamma Gamma delta Delta epsilon varepsilon zeta eta theta Theta vartheta iota kappa lambda Lambda mu nu xi Xi pi Pi
	varpi rho varrho sigma Sigma varsigma tau upsilon Upsilon phi Phi varphi chi psi Psi omega Omega angle triangle ell square prime clubsuit
	blacksquare Re Im hbar nabla varnothing imath jmath`)

func names(list string) map[string]string {
	m := map[string]string{}
	for _, name := range strings.FieldsFunc(list, unicode.IsSpace) {
		m[`\`+name] = name
	}
	return m
}
