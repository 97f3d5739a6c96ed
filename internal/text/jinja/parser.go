package jinja

import (
	"strconv"
	"strings"
)

// expr computes a value; stmt performs an action. Templates are compiled to these.
type (
	expr func(r *run) (Value, error)
	stmt func(r *run) error
)

type parser struct {
	env   *Environment
	toks  []token
	pos   int
	depth int
	loops int
	uses  signatureRest // what was used so far of a macro's arguments without names
}

// maxNesting limits the nesting of expressions and blocks.
const maxNesting = 200

func (p *parser) peek() token { return p.toks[p.pos] }

// ahead returns the token after the next one.
func (p *parser) ahead() token { return p.toks[min(p.pos+1, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.toks[p.pos]
	if t.kind != tEnd {
		p.pos++
	}
	return t
}

func (p *parser) is(k kind, text string) bool { return p.peek().kind == k && p.peek().text == text }

func (p *parser) take(k kind, text string) bool {
	if p.is(k, text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) fail(want string) error {
	t := p.peek()
	found := strconv.Quote(t.text)
	switch t.kind {
	case tEnd:
		found = "the end of the template"
	case tClose, tBlockEnd:
		found = "the end of the tag"
	}
	return errorAt(t.line, "found %s, want %s", found, want)
}

func (p *parser) expect(k kind, text, want string) error {
	if p.take(k, text) {
		return nil
	}
	return p.fail(want)
}

func (p *parser) name() (string, error) {
	if p.peek().kind != tName {
		return "", p.fail("a name")
	}
	return p.next().text, nil
}

// at adds the line to errors of e.
func at(line int, e expr) expr {
	return func(r *run) (Value, error) {
		v, err := e(r)
		if err != nil {
			return nil, r.wrap(line, err)
		}
		if err := r.charge(v); err != nil {
			return nil, r.wrap(line, err)
		}
		return v, nil
	}
}

// nest limits nesting. Call its result at the end of the level.
func (p *parser) nest() (func(), error) {
	if p.depth++; p.depth > maxNesting {
		return nil, errorAt(p.peek().line, "nested deeper than %d", maxNesting)
	}
	return func() { p.depth-- }, nil
}

// tuple parses one or more expressions separated by commas. Several, or a trailing comma, make a tuple.
func (p *parser) tuple(cond bool) (expr, error) {
	line := p.peek().line
	var list []expr
	isTuple := false
	for {
		if len(list) > 0 && (p.peek().kind == tClose || p.peek().kind == tBlockEnd || p.is(tOp, ")") || p.is(tOp, "=") || p.is(tName, "in")) {
			break
		}
		e, err := p.expression(cond)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
		if !p.take(tOp, ",") {
			break
		}
		isTuple = true
	}
	if !isTuple {
		return list[0], nil
	}
	return at(line, func(r *run) (Value, error) {
		v, err := r.all(list)
		return Tuple(v), err
	}), nil
}

// expression parses a whole expression; without cond, it excludes a conditional ("a if b else c").
func (p *parser) expression(cond bool) (expr, error) {
	up, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer up()
	e, err := p.or()
	if err != nil || !cond {
		return e, err
	}
	for p.take(tName, "if") {
		test, err := p.or()
		if err != nil {
			return nil, err
		}
		then := e
		otherwise := expr(func(*run) (Value, error) { return Undefined{"the inline if-expression without else"}, nil })
		if p.take(tName, "else") {
			if otherwise, err = p.expression(true); err != nil {
				return nil, err
			}
		}
		e = func(r *run) (Value, error) {
			v, err := test(r)
			if err != nil {
				return nil, err
			}
			if truth(v) {
				return then(r)
			}
			return otherwise(r)
		}
	}
	return e, nil
}

func (p *parser) or() (expr, error) {
	left, err := p.and()
	for err == nil && p.take(tName, "or") {
		var right expr
		right, err = p.and()
		left = either(left, right, true)
	}
	return left, err
}

func (p *parser) and() (expr, error) {
	left, err := p.not()
	for err == nil && p.take(tName, "and") {
		var right expr
		right, err = p.not()
		left = either(left, right, false)
	}
	return left, err
}

// either returns "left or right" (stop at a true value) or "left and right".
func either(left, right expr, stop bool) expr {
	return func(r *run) (Value, error) {
		v, err := left(r)
		if err != nil || truth(v) == stop {
			return v, err
		}
		return right(r)
	}
}

func (p *parser) not() (expr, error) {
	if !p.take(tName, "not") {
		return p.compare()
	}
	up, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer up()
	e, err := p.not()
	return func(r *run) (Value, error) {
		v, err := e(r)
		return !truth(v), err
	}, err
}

// comparisons by operator.
var comparisons = map[string]func(a, b Value) (bool, error){
	"==":     func(a, b Value) (bool, error) { return equal(a, b), nil },
	"!=":     func(a, b Value) (bool, error) { return !equal(a, b), nil },
	"<":      func(a, b Value) (bool, error) { c, err := compare(a, b); return c < 0, err },
	"<=":     func(a, b Value) (bool, error) { c, err := compare(a, b); return c <= 0, err },
	">":      func(a, b Value) (bool, error) { c, err := compare(a, b); return c > 0, err },
	">=":     func(a, b Value) (bool, error) { c, err := compare(a, b); return c >= 0, err },
	"in":     contains,
	"not in": func(a, b Value) (bool, error) { in, err := contains(a, b); return !in, err },
}

func (p *parser) compare() (expr, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	type part struct {
		test func(a, b Value) (bool, error)
		e    expr
	}
	var chain []part
	line := p.peek().line
	for {
		t := p.peek()
		op := ""
		switch {
		case t.kind == tOp && comparisons[t.text] != nil:
			op = t.text
		case t.kind == tName && t.text == "in":
			op = "in"
		case t.kind == tName && t.text == "not" && p.ahead().kind == tName && p.ahead().text == "in":
			op = "not in"
			p.pos++
		}
		if op == "" {
			break
		}
		p.pos++
		e, err := p.sum()
		if err != nil {
			return nil, err
		}
		chain = append(chain, part{comparisons[op], e})
	}
	if len(chain) == 0 {
		return first, nil
	}
	return at(line, func(r *run) (Value, error) {
		left, err := first(r)
		if err != nil {
			return nil, err
		}
		for _, c := range chain {
			right, err := c.e(r)
			if err != nil {
				return nil, err
			}
			ok, err := c.test(plain(left), plain(right))
			if err != nil || !ok {
				return false, err
			}
			left = right
		}
		return true, nil
	}), nil
}

// binary parses operands of sub with left-associative operators of table.
func (p *parser) binary(sub func() (expr, error), table map[string]func(a, b Value) (Value, error)) (expr, error) {
	left, err := sub()
	for err == nil && p.peek().kind == tOp && table[p.peek().text] != nil {
		t := p.next()
		var right expr
		if right, err = sub(); err != nil {
			break
		}
		f, l := table[t.text], left
		left = at(t.line, func(r *run) (Value, error) {
			a, err := l(r)
			if err != nil {
				return nil, err
			}
			b, err := right(r)
			if err != nil {
				return nil, err
			}
			v, err := r.env.operate(t.text, f, a, b)
			if err == nil {
				err = r.countMemory(v)
			}
			return v, err
		})
	}
	return left, err
}

var (
	sums     = map[string]func(a, b Value) (Value, error){"+": add, "-": subtract}
	concats  = map[string]func(a, b Value) (Value, error){"~": func(a, b Value) (Value, error) { return add(Str(a), Str(b)) }}
	products = map[string]func(a, b Value) (Value, error){"*": multiply, "/": divide, "//": floorDivide, "%": modulo}
	powers   = map[string]func(a, b Value) (Value, error){"**": power}
)

func (p *parser) sum() (expr, error)     { return p.binary(p.concat, sums) }
func (p *parser) concat() (expr, error)  { return p.binary(p.product, concats) }
func (p *parser) product() (expr, error) { return p.binary(p.power, products) }
func (p *parser) power() (expr, error) {
	return p.binary(func() (expr, error) { return p.unary(true) }, powers)
}

func (p *parser) unary(filters bool) (expr, error) {
	up, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer up()
	t := p.peek()
	var e expr
	switch {
	case p.take(tOp, "-"):
		inner, err := p.unary(false)
		if err != nil {
			return nil, err
		}
		e = at(t.line, func(r *run) (Value, error) {
			v, err := inner(r)
			if err != nil {
				return nil, err
			}
			if x, ok := v.(float64); ok {
				return -x, nil
			}
			return subtract(int64(0), v)
		})
	case p.take(tOp, "+"):
		if e, err = p.unary(false); err != nil {
			return nil, err
		}
	default:
		if e, err = p.primary(); err != nil {
			return nil, err
		}
		if e, err = p.postfix(e); err != nil {
			return nil, err
		}
	}
	if filters {
		return p.filters(e)
	}
	return e, nil
}

// constants are the names that cannot be assigned.
var constants = map[string]Value{"true": true, "True": true, "false": false, "False": false, "none": nil, "None": nil}

func constant(v Value) expr { return func(*run) (Value, error) { return v, nil } }

func (p *parser) primary() (expr, error) {
	switch t := p.next(); {
	case t.kind == tName:
		if v, ok := constants[t.text]; ok {
			return constant(v), nil
		}
		p.uses.note(t.text)
		return at(t.line, func(r *run) (Value, error) { return r.lookup(t.text), nil }), nil
	case t.kind == tString:
		parts := []string{t.text}
		for p.peek().kind == tString {
			parts = append(parts, p.next().text)
		}
		return constant(strings.Join(parts, "")), nil
	case t.kind == tInt:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			return nil, errorAt(t.line, "the integer %s is too large", t.text)
		}
		return constant(n), nil
	case t.kind == tFloat:
		x, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, errorAt(t.line, "%s is not a number", t.text)
		}
		return constant(x), nil
	case t.kind == tOp && t.text == "(":
		if p.take(tOp, ")") {
			return constant(Tuple{}), nil
		}
		e, err := p.tuple(true)
		if err != nil {
			return nil, err
		}
		return e, p.expect(tOp, ")", "a closing bracket")
	case t.kind == tOp && t.text == "[":
		list, err := p.list("]")
		return func(r *run) (Value, error) {
			v, err := r.all(list)
			return &List{Items: v}, err
		}, err
	case t.kind == tOp && t.text == "{":
		return p.dict()
	}
	p.pos--
	return nil, p.fail("an expression")
}

// list parses expressions separated by commas up to end.
func (p *parser) list(end string) (list []expr, err error) {
	for !p.take(tOp, end) {
		if len(list) > 0 {
			if err := p.expect(tOp, ",", "a comma or "+end); err != nil {
				return nil, err
			}
			if p.take(tOp, end) {
				break
			}
		}
		e, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (p *parser) dict() (expr, error) {
	var keys, values []expr
	for !p.take(tOp, "}") {
		if len(keys) > 0 {
			if err := p.expect(tOp, ",", "a comma or }"); err != nil {
				return nil, err
			}
			if p.take(tOp, "}") {
				break
			}
		}
		k, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		if err := p.expect(tOp, ":", "a colon"); err != nil {
			return nil, err
		}
		v, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		keys, values = append(keys, k), append(values, v)
	}
	return func(r *run) (Value, error) {
		d := NewDict()
		for i := range keys {
			k, err := keys[i](r)
			if err != nil {
				return nil, err
			}
			v, err := values[i](r)
			if err != nil {
				return nil, err
			}
			d.Set(k, v)
		}
		return d, nil
	}, nil
}
