package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"aiperf/internal/base/budget"
)

// Environment holds the settings of templates. The zero value is Jinja2's default; Chat is the environment of chat templates. It must not be changed
// after templates were parsed with it.
type Environment struct {
	TrimBlocks          bool // drop the first line break after a block tag
	LstripBlocks        bool // drop blanks before a block tag
	KeepTrailingNewline bool
	Frozen              bool // methods cannot change lists and dicts
	AutoEscape          bool // escape &<>"' in output as HTML entities, except in Markup
	Strict              bool // printing an undefined value is an error
	PlainJSON           bool // tojson keeps order, non-ASCII and <>&' unchanged, as chat templates expect

	MaxSteps int // work limit of one rendering, 0 = 10 million steps; an operation or 256 bytes of a string are one step

	Globals map[string]Value
	Filters map[string]Filter // in addition to the built-in ones
}

// Filter is a function after a bar: it converts v to another value.
type Filter func(v Value, c *Call) (Value, error)

// Test is a function after "is".
type Test func(v Value, c *Call) (bool, error)

// Chat returns the environment of chat templates.
func Chat() *Environment {
	return &Environment{TrimBlocks: true, LstripBlocks: true, Frozen: true, PlainJSON: true, Globals: map[string]Value{
		"raise_exception": Func(func(c *Call) (Value, error) { return nil, errors.New(Str(c.Arg(0, "message", ""))) }),
	}}
}

func (e *Environment) filter(name string) (Filter, bool) {
	f, ok := e.plainFilter(name)
	if ok && e.AutoEscape {
		f = markupFilter(name, f)
	}
	return f, ok
}

func (e *Environment) plainFilter(name string) (Filter, bool) {
	if f, ok := e.Filters[name]; ok {
		return f, true
	}
	if name == "tojson" {
		return e.tojson, true
	}
	f, ok := filters[name]
	return f, ok
}

func (e *Environment) test(name string) (Test, bool) {
	switch name {
	case "filter":
		return func(v Value, _ *Call) (bool, error) { _, ok := e.filter(Str(v)); return ok, nil }, true
	case "test":
		return func(v Value, _ *Call) (bool, error) { _, ok := e.test(Str(v)); return ok, nil }, true
	}
	t, ok := tests()[name]
	return t, ok
}

// Template is a parsed template, safe for concurrent use.
type Template struct {
	env  *Environment
	body stmt
}

// Parse compiles a template.
func (e *Environment) Parse(src string) (*Template, error) {
	if len(src) > maxSource {
		return nil, fmt.Errorf("the template has %d bytes; at most %d are allowed", len(src), maxSource)
	}
	toks, err := e.lex(src)
	if err != nil {
		return nil, err
	}
	p := &parser{env: e, toks: toks}
	body, err := p.block()
	if err != nil {
		return nil, err
	}
	if p.peek().kind != tEnd {
		p.pos++
		return nil, p.fail("the start of a block before its end")
	}
	return &Template{e, body}, nil
}

// Render runs the template with variables.
func (t *Template) Render(vars map[string]Value) (text string, err error) {
	defer recoverLimit(&err)
	r := &run{env: t.env, out: &strings.Builder{}, scope: &scope{vars: map[string]Value{}}}
	r.budget = budget.New(budget.Limits{Steps: int64(cmp.Or(t.env.MaxSteps, maxSteps)), Bytes: maxBytes, Time: maxTime})
	for k, v := range vars {
		r.scope.vars[k] = v
	}
	r.globals = &scope{vars: r.scope.vars}
	if err := t.body(r); err != nil {
		return "", err
	}
	return r.out.String(), nil
}

// scope holds the variables of one block.
type scope struct {
	vars   map[string]Value
	parent *scope
}

// run is the state of one rendering.
type run struct {
	env     *Environment
	out     *strings.Builder
	scope   *scope
	globals *scope
	budget  *budget.Budget
	calls   int
}

// wrap adds a line number to err unless it has one.
func (r *run) wrap(line int, err error) error {
	var e *Error
	if errors.As(err, &e) || errors.Is(err, errBreak) || errors.Is(err, errContinue) {
		return err
	}
	return &Error{line, err}
}

func (r *run) lookup(name string) Value {
	for s := r.scope; s != nil; s = s.parent {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	if v, ok := r.env.Globals[name]; ok {
		return v
	}
	if v, ok := globals[name]; ok {
		return v
	}
	return Undefined{"'" + name + "'"}
}

func (r *run) set(name string, v Value) { r.scope.vars[name] = v }

// within runs f in a new scope.
func (r *run) within(parent *scope, vars map[string]Value, f func() error) error {
	old := r.scope
	r.scope = &scope{vars, parent}
	err := f()
	r.scope = old
	return err
}

// capture returns the output of f.
func (r *run) capture(f func() error) (string, error) {
	old := r.out
	r.out = &strings.Builder{}
	err := f()
	s := r.out.String()
	r.out = old
	return s, err
}

// all evaluates a list of expressions.
func (r *run) all(list []expr) ([]Value, error) {
	out := make([]Value, 0, len(list))
	for _, e := range list {
		v, err := e(r)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// invoke calls a value.
func (r *run) invoke(v Value, c *Call) (Value, error) {
	if err := r.step(); err != nil {
		return nil, err
	}
	switch f := v.(type) {
	case Func:
		if r.calls++; r.calls > maxCalls {
			return nil, fmt.Errorf("calls nested deeper than %d", maxCalls)
		}
		defer func() { r.calls-- }()
		out, err := f(c)
		if err == nil {
			err = r.countMemory(out)
		}
		return out, err
	case *loop:
		return f.recurse(r, c)
	case Undefined:
		return nil, fmt.Errorf("%s is undefined", f.what)
	}
	return nil, fmt.Errorf("a value of type %s cannot be called", typeName(v))
}

// globals are the functions available in every template.
var globals = map[string]Value{
	"range": Func(rangeOf),
	"dict": Func(func(c *Call) (Value, error) {
		d := NewDict()
		if src, ok := c.Arg(0, "", nil).(*Dict); ok {
			for _, k := range src.keys {
				d.Set(k, src.values[key(k)])
			}
		}
		for _, n := range c.Names {
			d.Set(n, c.Named[n])
		}
		return d, nil
	}),
	"namespace": Func(func(c *Call) (Value, error) {
		n := &Namespace{*NewDict()}
		if src, ok := c.Arg(0, "", nil).(*Dict); ok {
			for _, k := range src.keys {
				n.Set(k, src.values[key(k)])
			}
		}
		for _, name := range c.Names {
			n.Set(name, c.Named[name])
		}
		return n, nil
	}),
	"cycler": Func(func(c *Call) (Value, error) {
		n, i := &Namespace{*NewDict()}, 0
		if len(c.Args) == 0 {
			return nil, errors.New("cycler needs at least one item")
		}
		n.Set("next", Func(func(*Call) (Value, error) { v := c.Args[i%len(c.Args)]; i++; return v, nil }))
		return n, nil
	}),
	"joiner": Func(func(c *Call) (Value, error) {
		used := false
		return Func(func(*Call) (Value, error) {
			if !used {
				used = true
				return "", nil
			}
			return c.Arg(0, "sep", ", "), nil
		}), nil
	}),
}

// maxRange is the maximum length of a range, as in the sandbox of chat templates.
const maxRange = 100_000

func rangeOf(c *Call) (Value, error) {
	var n [3]int64
	for i, v := range c.Args {
		x, ok := integer(v)
		if !ok || i > 2 {
			return nil, fmt.Errorf("range wants one to three integers, found %s", typeName(v))
		}
		n[i] = x
	}
	lo, hi, step := n[0], n[1], n[2]
	switch len(c.Args) {
	case 0:
		return nil, errors.New("range wants one to three integers")
	case 1:
		lo, hi, step = 0, n[0], 1
	case 2:
		step = 1
	}
	if step == 0 {
		return nil, errors.New("range step must not be zero")
	}
	out := []Value{}
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		if len(out) >= maxRange {
			return nil, fmt.Errorf("range of more than %d items", maxRange)
		}
		out = append(out, i)
	}
	return &List{Items: out}, nil
}
