package jinja

import (
	"errors"
	"fmt"
)

// loop is the variable loop inside a for block.
type loop struct {
	list        []Value
	index       int
	depth       int64
	recurseBody func(r *run, v Value, depth int64) error // body of a recursive loop
	last        []Value                                  // last argument of changed()
	hasLast     bool
}

// attr returns an attribute of the loop variable.
func (l *loop) attr(name string) (Value, bool) {
	i, n := int64(l.index), int64(len(l.list))
	switch name {
	case "index":
		return i + 1, true
	case "index0":
		return i, true
	case "revindex":
		return n - i, true
	case "revindex0":
		return n - i - 1, true
	case "first":
		return i == 0, true
	case "last":
		return i == n-1, true
	case "length":
		return n, true
	case "depth":
		return l.depth + 1, true
	case "depth0":
		return l.depth, true
	case "previtem":
		if i == 0 {
			return Undefined{"there is no previous item"}, true
		}
		return l.list[i-1], true
	case "nextitem":
		if i == n-1 {
			return Undefined{"there is no next item"}, true
		}
		return l.list[i+1], true
	case "cycle":
		return Func(func(c *Call) (Value, error) {
			if len(c.Args) == 0 {
				return nil, errors.New("no items for cycling given")
			}
			return c.Args[l.index%len(c.Args)], nil
		}), true
	case "changed":
		return Func(func(c *Call) (Value, error) {
			if l.hasLast && equalAll(l.last, c.Args) {
				return false, nil
			}
			l.last, l.hasLast = c.Args, true
			return true, nil
		}), true
	}
	return nil, false
}

// recurse runs a recursive loop over another value.
func (l *loop) recurse(r *run, c *Call) (Value, error) {
	if l.recurseBody == nil {
		return nil, errors.New("the loop is not recursive")
	}
	if r.calls++; r.calls > maxCalls {
		return nil, fmt.Errorf("calls nested deeper than %d", maxCalls)
	}
	defer func() { r.calls-- }()
	return r.captured(func() error { return l.recurseBody(r, c.Arg(0, "", nil), l.depth+1) })
}

func (p *parser) forStmt(line int) (stmt, error) {
	target, err := p.target()
	if err != nil {
		return nil, err
	}
	if err := p.expect(tName, "in", "in"); err != nil {
		return nil, err
	}
	over, err := p.tuple(false)
	if err != nil {
		return nil, err
	}
	var test expr
	if p.take(tName, "if") {
		if test, err = p.expression(true); err != nil {
			return nil, err
		}
	}
	recursive := p.take(tName, "recursive")
	if err := p.end(); err != nil {
		return nil, err
	}
	p.loops++
	body, err := p.block("else", "endfor")
	p.loops--
	if err != nil {
		return nil, err
	}
	f := &forLoop{line: line, target: target, test: test, recursive: recursive, body: body}
	if p.endTag() == "else" {
		if f.otherwise, err = p.body("endfor"); err != nil {
			return nil, err
		}
	} else if err := p.end(); err != nil {
		return nil, err
	}
	return func(r *run) error {
		v, err := over(r)
		if err != nil {
			return err
		}
		return f.iterate(r, v, 0)
	}, nil
}

// forLoop is a parsed loop.
type forLoop struct {
	line      int
	target    func(*run, Value) error
	test      expr // nil = every item
	recursive bool
	body      stmt
	otherwise stmt // body for an empty list; nil = none
}

// iterate runs the loop over the items of v.
func (f *forLoop) iterate(r *run, v Value, depth int64) error {
	list, err := items(v)
	if err != nil {
		return r.wrap(f.line, err)
	}
	if f.test != nil {
		if list, err = selectItems(r, list, f.target, f.test); err != nil {
			return r.wrap(f.line, err)
		}
	}
	if len(list) == 0 && f.otherwise != nil {
		return f.otherwise(r)
	}
	l := &loop{list: list, depth: depth}
	if f.recursive {
		l.recurseBody = f.iterate
	}
	for i, x := range list {
		l.index = i
		err := r.within(r.scope, map[string]Value{"loop": l}, func() error {
			if err := r.step(); err != nil {
				return err
			}
			if err := f.target(r, x); err != nil {
				return err
			}
			return f.body(r)
		})
		if errors.Is(err, errBreak) {
			break
		}
		if err != nil && !errors.Is(err, errContinue) {
			return r.wrap(f.line, err)
		}
	}
	return nil
}

// selectItems returns the items for which the condition of a loop is true.
func selectItems(r *run, list []Value, target func(*run, Value) error, test expr) (out []Value, err error) {
	for _, x := range list {
		err := r.within(r.scope, map[string]Value{}, func() error {
			if err := target(r, x); err != nil {
				return err
			}
			v, err := test(r)
			if err == nil {
				err = r.step()
			}
			if err == nil && truth(v) {
				out = append(out, x)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// signature holds the parameters of a macro or call block.
type signature struct {
	names    []string
	defaults []expr        // for the last names
	takes    signatureRest // arguments without a parameter
}

// signatureRest says which arguments without a parameter a macro takes: those whose names its body uses.
type signatureRest struct{ varargs, kwargs bool }

// note records that a body uses a name.
func (s *signatureRest) note(name string) {
	s.varargs = s.varargs || name == "varargs"
	s.kwargs = s.kwargs || name == "kwargs"
}

// macroBody parses the body of a macro or call block, and which arguments it takes.
func (p *parser) macroBody(s *signature, end string) (stmt, error) {
	before := p.uses
	p.uses = signatureRest{}
	body, err := p.body(end)
	s.takes = p.uses
	p.uses = signatureRest{before.varargs || s.takes.varargs, before.kwargs || s.takes.kwargs}
	return body, err
}

// check returns an error if a call has arguments that the macro does not take.
func (s *signature) check(name string, c *Call, unknown []Value) error {
	if len(c.Args) > len(s.names) && !s.takes.varargs {
		return fmt.Errorf("macro '%s' takes not more than %d argument(s)", name, len(s.names))
	}
	if len(unknown) > 0 && !s.takes.kwargs {
		return fmt.Errorf("macro '%s' takes no keyword argument %s", name, repr(unknown[0]))
	}
	return nil
}

func (p *parser) signature() (signature, error) {
	var s signature
	if err := p.expect(tOp, "(", "an opening bracket"); err != nil {
		return s, err
	}
	for !p.take(tOp, ")") {
		if len(s.names) > 0 {
			if err := p.expect(tOp, ",", "a comma or a closing bracket"); err != nil {
				return s, err
			}
		}
		name, err := p.name()
		if err != nil {
			return s, err
		}
		s.names = append(s.names, name)
		if p.take(tOp, "=") {
			e, err := p.expression(true)
			if err != nil {
				return s, err
			}
			s.defaults = append(s.defaults, e)
		} else if len(s.defaults) > 0 {
			return s, p.fail("a default value, because the parameter before has one")
		}
	}
	return s, nil
}

// function returns a callable for a body.
func (s signature) function(r *run, name string, body stmt) Func {
	home := r.scope
	return func(c *Call) (Value, error) {
		vars := map[string]Value{}
		var rest Tuple
		if len(c.Args) > len(s.names) {
			rest = append(rest, c.Args[len(s.names):]...)
		}
		more := NewDict()
		known := map[string]bool{}
		for i, n := range s.names {
			known[n] = true
			if i < len(c.Args) {
				vars[n] = c.Args[i]
			}
		}
		for _, n := range c.Names {
			switch {
			case known[n], n == "caller":
				vars[n] = c.Named[n]
			default:
				more.Set(n, c.Named[n])
			}
		}
		if err := s.check(name, c, more.Keys()); err != nil {
			return nil, err
		}
		vars["varargs"], vars["kwargs"] = rest, more
		return r.captured(func() error {
			return r.within(home, vars, func() error {
				for i, n := range s.names {
					if _, ok := vars[n]; ok {
						continue
					}
					if k := i - (len(s.names) - len(s.defaults)); k >= 0 {
						v, err := s.defaults[k](r)
						if err != nil {
							return err
						}
						vars[n] = v
					} else {
						vars[n] = Undefined{fmt.Sprintf("parameter '%s' of macro '%s'", n, name)}
					}
				}
				return body(r)
			})
		})
	}
}

func (p *parser) macroStmt(int) (stmt, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	s, err := p.signature()
	if err != nil {
		return nil, err
	}
	loops := p.loops
	p.loops = 0
	body, err := p.macroBody(&s, "endmacro")
	p.loops = loops
	return func(r *run) error { r.set(name, s.function(r, name, body)); return nil }, err
}

func (p *parser) callStmt(line int) (stmt, error) {
	var s signature
	var err error
	if p.is(tOp, "(") {
		if s, err = p.signature(); err != nil {
			return nil, err
		}
	}
	callee, err := p.primary()
	if err != nil {
		return nil, err
	}
	for p.take(tOp, ".") { // a.b.c
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		inner := callee
		callee = func(r *run) (Value, error) {
			v, err := inner(r)
			if err != nil {
				return nil, err
			}
			return r.attribute(v, name)
		}
	}
	if err := p.expect(tOp, "(", "a call"); err != nil {
		return nil, err
	}
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	body, err := p.macroBody(&s, "endcall")
	return func(r *run) error {
		f, err := callee(r)
		if err != nil {
			return r.wrap(line, err)
		}
		c, err := args.call(r)
		if err != nil {
			return r.wrap(line, err)
		}
		c.name("caller", s.function(r, "caller", body))
		v, err := r.invoke(f, c)
		if err != nil {
			return r.wrap(line, err)
		}
		return r.write(Str(v))
	}, err
}
