package jinja

import (
	"fmt"
	"slices"
)

// postfix parses .name, [index], [a:b:c] and (arguments) after e.
func (p *parser) postfix(e expr) (expr, error) {
	for {
		t := p.peek()
		var err error
		switch {
		case p.take(tOp, "."):
			if p.peek().kind == tInt {
				n, perr := p.primary()
				if perr != nil {
					return nil, perr
				}
				e = at(t.line, subscript(e, n))
				continue
			}
			name, nerr := p.name()
			if nerr != nil {
				return nil, nerr
			}
			inner := e
			e = at(t.line, func(r *run) (Value, error) {
				v, err := inner(r)
				if err != nil {
					return nil, err
				}
				return r.attribute(v, name)
			})
		case p.take(tOp, "["):
			e, err = p.index(e, t.line)
		case p.take(tOp, "("):
			e, err = p.call(e, t.line)
		default:
			return e, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func subscript(e, index expr) expr {
	return func(r *run) (Value, error) {
		v, err := e(r)
		if err != nil {
			return nil, err
		}
		i, err := index(r)
		if err != nil {
			return nil, err
		}
		return r.item(v, i)
	}
}

// index parses the text after an opening square bracket.
func (p *parser) index(e expr, line int) (expr, error) {
	var parts [3]expr
	n := 0
	slice := false
	for !p.take(tOp, "]") {
		if p.take(tOp, ":") {
			slice = true
			if n++; n > 2 {
				return nil, p.fail("a closing bracket")
			}
			continue
		}
		x, err := p.tupleIndex()
		if err != nil {
			return nil, err
		}
		if parts[n] != nil {
			return nil, p.fail("a colon or a closing bracket")
		}
		parts[n] = x
	}
	if !slice {
		if parts[0] == nil {
			return nil, p.fail("an index")
		}
		return at(line, subscript(e, parts[0])), nil
	}
	return at(line, func(r *run) (Value, error) {
		v, err := e(r)
		if err != nil {
			return nil, err
		}
		var bounds [3]Value
		for i, x := range parts {
			if x == nil {
				continue
			}
			if bounds[i], err = x(r); err != nil {
				return nil, err
			}
		}
		return sliceOf(v, bounds)
	}), nil
}

func (p *parser) tupleIndex() (expr, error) { return p.expression(true) }

// arguments holds the arguments of a call.
type arguments struct {
	args  []expr
	names []string
	named []expr
	star  expr // *list
	stars expr // **dict
}

// arguments parses arguments up to the closing bracket.
func (p *parser) arguments() (*arguments, error) {
	a := &arguments{}
	for first := true; !p.take(tOp, ")"); first = false {
		if !first {
			if err := p.expect(tOp, ",", "a comma or a closing bracket"); err != nil {
				return nil, err
			}
			if p.take(tOp, ")") {
				break
			}
		}
		switch {
		case p.take(tOp, "*"):
			e, err := p.expression(true)
			if err != nil {
				return nil, err
			}
			a.star = e
			continue
		case p.take(tOp, "**"):
			e, err := p.expression(true)
			if err != nil {
				return nil, err
			}
			a.stars = e
			continue
		case p.peek().kind == tName && p.ahead().kind == tOp && p.ahead().text == "=":
			a.names = append(a.names, p.next().text)
			p.pos++
			e, err := p.expression(true)
			if err != nil {
				return nil, err
			}
			a.named = append(a.named, e)
			continue
		case len(a.names) > 0:
			return nil, p.fail("a keyword argument")
		}
		e, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		a.args = append(a.args, e)
	}
	return a, nil
}

// call evaluates the arguments.
func (a *arguments) call(r *run) (*Call, error) {
	c := &Call{run: r}
	if a == nil {
		return c, nil
	}
	var err error
	if c.Args, err = r.all(a.args); err != nil {
		return nil, err
	}
	if a.star != nil {
		v, err := a.star(r)
		if err != nil {
			return nil, err
		}
		list, err := items(v)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, list...)
	}
	for i, n := range a.names {
		v, err := a.named[i](r)
		if err != nil {
			return nil, err
		}
		c.name(n, v)
	}
	if a.stars != nil {
		v, err := a.stars(r)
		if err != nil {
			return nil, err
		}
		d, ok := v.(*Dict)
		if !ok {
			return nil, fmt.Errorf("the value after ** has the type %s, expected a dict", typeName(v))
		}
		for _, k := range d.keys {
			c.name(Str(k), d.values[key(k)])
		}
	}
	return c, nil
}

func (c *Call) name(n string, v Value) {
	if c.Named == nil {
		c.Named = map[string]Value{}
	}
	c.Names = append(c.Names, n)
	c.Named[n] = v
}

func (p *parser) call(e expr, line int) (expr, error) {
	a, err := p.arguments()
	return at(line, func(r *run) (Value, error) {
		v, err := e(r)
		if err != nil {
			return nil, err
		}
		c, err := a.call(r)
		if err != nil {
			return nil, err
		}
		return r.invoke(v, c)
	}), err
}

// filters parses | name(…) and is [not] name … after e.
func (p *parser) filters(e expr) (expr, error) {
	for {
		t := p.peek()
		var err error
		switch {
		case p.take(tOp, "|"):
			e, err = p.filter(e)
		case p.take(tName, "is"):
			e, err = p.test(e)
		case t.kind == tOp && t.text == "(":
			p.pos++
			e, err = p.call(e, t.line)
		default:
			return e, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// filter parses a filter's name and arguments; e is the input, nil for the body of a filter block.
func (p *parser) filter(e expr) (expr, error) {
	line := p.peek().line
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	for p.take(tOp, ".") {
		more, err := p.name()
		if err != nil {
			return nil, err
		}
		name += "." + more
	}
	f, ok := p.env.filter(name)
	if !ok { // an error only if it is executed
		f = func(Value, *Call) (Value, error) { return nil, fmt.Errorf("no filter named %q", name) }
	}
	var a *arguments
	if p.take(tOp, "(") {
		if a, err = p.arguments(); err != nil {
			return nil, err
		}
	}
	return at(line, func(r *run) (Value, error) {
		v, err := e(r)
		if err != nil {
			return nil, err
		}
		c, err := a.call(r)
		if err != nil {
			return nil, err
		}
		out, err := f(v, c)
		if err == nil {
			err = r.countMemory(out)
		}
		return out, err
	}), nil
}

// beginsArgument reports whether a token after the name of a test is the test's argument without brackets.
func beginsArgument(t token) bool {
	switch t.kind {
	case tString, tInt, tFloat:
		return true
	case tOp:
		return t.text == "[" || t.text == "{"
	case tName:
		return !slices.Contains([]string{"else", "or", "and", "if", "is", "in", "not", "recursive"}, t.text)
	}
	return false
}

// test parses the text after "is".
func (p *parser) test(e expr) (expr, error) {
	line := p.peek().line
	negate := p.take(tName, "not")
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	f, ok := p.env.test(name)
	if !ok {
		return nil, errorAt(line, "no test named %q", name)
	}
	var a *arguments
	switch t := p.peek(); {
	case p.take(tOp, "("):
		if a, err = p.arguments(); err != nil {
			return nil, err
		}
	case beginsArgument(t):
		arg, err := p.primary()
		if err != nil {
			return nil, err
		}
		if arg, err = p.postfix(arg); err != nil {
			return nil, err
		}
		a = &arguments{args: []expr{arg}}
	}
	return at(line, func(r *run) (Value, error) {
		v, err := e(r)
		if err != nil {
			return nil, err
		}
		c, err := a.call(r)
		if err != nil {
			return nil, err
		}
		ok, err := f(plain(v), c)
		return ok != negate, err
	}), nil
}
