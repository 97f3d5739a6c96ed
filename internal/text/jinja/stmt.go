package jinja

import (
	"errors"
	"fmt"
	"slices"
)

var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

// statements maps the name of a block tag to the parser of its rest.
var statements map[string]func(p *parser, line int) (stmt, error)

func init() { // in init, because the table and the parser refer to each other
	statements = map[string]func(p *parser, line int) (stmt, error){
		"if": (*parser).ifStmt, "for": (*parser).forStmt, "set": (*parser).setStmt, "macro": (*parser).macroStmt,
		"call": (*parser).callStmt, "filter": (*parser).filterStmt, "with": (*parser).withStmt, "generation": (*parser).generationStmt,
		"break": jump(errBreak), "continue": jump(errContinue), "do": (*parser).doStmt,
	}
}

// block parses text and tags up to a tag with one of the given names, which it does not consume, or the end.
func (p *parser) block(ends ...string) (stmt, error) {
	up, err := p.nest()
	if err != nil {
		return nil, err
	}
	defer up()
	var list []stmt
	for {
		t := p.peek()
		switch t.kind {
		case tEnd:
			if len(ends) > 0 {
				return nil, p.fail("{% " + ends[len(ends)-1] + " %}")
			}
			return sequence(list), nil
		case tText:
			p.pos++
			list = append(list, func(r *run) error { return r.write(t.text) })
			continue
		case tOpen:
			p.pos++
			e, err := p.tuple(true)
			if err != nil {
				return nil, err
			}
			if p.peek().kind != tClose {
				return nil, p.fail("an operator or }}")
			}
			p.pos++
			list = append(list, func(r *run) error {
				if err := r.step(); err != nil {
					return r.wrap(t.line, err)
				}
				v, err := e(r)
				if err != nil {
					return err
				}
				if u, ok := v.(Undefined); ok && r.env.Strict {
					return r.wrap(t.line, fmt.Errorf("%s is undefined", u.what))
				}
				return r.write(r.env.printed(v))
			})
			continue
		}
		name := p.ahead()
		if slices.Contains(ends, name.text) && name.kind == tName {
			p.pos += 2
			return sequence(list), nil
		}
		p.pos++
		parse := statements[name.text]
		if parse == nil || name.kind != tName {
			return nil, p.fail("a known statement (if, for, set, macro, call, filter, with, break, continue)")
		}
		p.pos++
		s, err := parse(p, t.line)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
}

func sequence(list []stmt) stmt {
	return func(r *run) error {
		for _, s := range list {
			if err := s(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// end skips the end of a block tag.
func (p *parser) end() error {
	if p.peek().kind != tBlockEnd {
		return p.fail("%}")
	}
	p.pos++
	return nil
}

// endTag returns the name of the tag that ended the last block.
func (p *parser) endTag() string { return p.toks[p.pos-1].text }

// body parses %}, a block, and the tag that ends it.
func (p *parser) body(end string) (stmt, error) {
	if err := p.end(); err != nil {
		return nil, err
	}
	b, err := p.block(end)
	if err != nil {
		return nil, err
	}
	return b, p.end()
}

func (p *parser) ifStmt(int) (stmt, error) {
	type branch struct {
		test expr
		body stmt
	}
	var list []branch
	for {
		test, err := p.tuple(false)
		if err != nil {
			return nil, err
		}
		if err := p.end(); err != nil {
			return nil, err
		}
		b, err := p.block("elif", "else", "endif")
		if err != nil {
			return nil, err
		}
		list = append(list, branch{test, b})
		if p.endTag() != "elif" {
			break
		}
	}
	otherwise := stmt(func(*run) error { return nil })
	if p.endTag() == "else" {
		var err error
		if otherwise, err = p.body("endif"); err != nil {
			return nil, err
		}
	} else if err := p.end(); err != nil {
		return nil, err
	}
	return func(r *run) error {
		for _, b := range list {
			v, err := b.test(r)
			if err != nil {
				return err
			}
			if truth(v) {
				return b.body(r)
			}
		}
		return otherwise(r)
	}, nil
}

// target parses the targets of an assignment: one name, several separated by commas, or ns.attr.
func (p *parser) target() (func(r *run, v Value) error, error) {
	var parts []func(r *run, v Value) error
	many := false
	for {
		if p.take(tOp, "(") {
			t, err := p.target()
			if err != nil {
				return nil, err
			}
			if err := p.expect(tOp, ")", "a closing bracket"); err != nil {
				return nil, err
			}
			parts = append(parts, t)
		} else {
			t, err := p.oneTarget()
			if err != nil {
				return nil, err
			}
			parts = append(parts, t)
		}
		if !p.take(tOp, ",") {
			break
		}
		many = true
		if p.peek().kind != tName {
			break
		}
	}
	if !many {
		return parts[0], nil
	}
	return func(r *run, v Value) error {
		list, err := items(v)
		if err != nil {
			return err
		}
		if len(list) != len(parts) {
			return fmt.Errorf("%d values for %d names", len(list), len(parts))
		}
		for i, t := range parts {
			if err := t(r, list[i]); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (p *parser) oneTarget() (func(r *run, v Value) error, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	if _, ok := constants[name]; ok {
		return nil, p.fail("a name that can be assigned to, instead of " + name)
	}
	if !p.take(tOp, ".") {
		return func(r *run, v Value) error { r.set(name, v); return nil }, nil
	}
	attr, err := p.name()
	return func(r *run, v Value) error {
		n, ok := r.lookup(name).(*Namespace)
		if !ok {
			return errors.New("cannot assign attribute on non-namespace object")
		}
		n.Set(attr, v)
		return nil
	}, err
}

func (p *parser) setStmt(line int) (stmt, error) {
	target, err := p.target()
	if err != nil {
		return nil, err
	}
	if p.take(tOp, "=") {
		e, err := p.tuple(true)
		if err != nil {
			return nil, err
		}
		return func(r *run) error {
			v, err := e(r)
			if err == nil {
				err = target(r, v)
			}
			if err != nil {
				return r.wrap(line, err)
			}
			return nil
		}, p.end()
	}
	var wrap func(r *run, v Value) (Value, error)
	if p.is(tOp, "|") {
		if wrap, err = p.filterChain(); err != nil {
			return nil, err
		}
	}
	body, err := p.body("endset")
	return func(r *run) error {
		v, err := r.captured(func() error { return r.within(r.scope, map[string]Value{}, func() error { return body(r) }) })
		if err == nil && wrap != nil {
			v, err = wrap(r, v)
		}
		if err != nil {
			return r.wrap(line, err)
		}
		return target(r, v)
	}, err
}

// filterChain parses | a | b for a block's text.
func (p *parser) filterChain() (func(r *run, v Value) (Value, error), error) {
	const name = " text" // templates cannot use a name with a blank
	e := expr(func(r *run) (Value, error) { return r.lookup(name), nil })
	e, err := p.filters(e)
	return func(r *run, v Value) (out Value, err error) {
		err = r.within(r.scope, map[string]Value{name: v}, func() error { out, err = e(r); return err })
		return out, err
	}, err
}

func (p *parser) filterStmt(line int) (stmt, error) {
	p.pos-- // the chain expects a bar, so the name of the statement takes its place
	saved := p.toks[p.pos]
	p.toks[p.pos] = token{tOp, "|", saved.line}
	wrap, err := p.filterChain()
	if err != nil {
		return nil, err
	}
	body, err := p.body("endfilter")
	return func(r *run) error {
		v, err := r.captured(func() error { return r.within(r.scope, map[string]Value{}, func() error { return body(r) }) })
		if err != nil {
			return err
		}
		v, err = wrap(r, v)
		if err != nil {
			return r.wrap(line, err)
		}
		return r.write(r.env.printed(v))
	}, err
}

func (p *parser) withStmt(int) (stmt, error) {
	var targets []func(r *run, v Value) error
	var values []expr
	for p.peek().kind != tBlockEnd {
		if len(targets) > 0 {
			if err := p.expect(tOp, ",", "a comma or %}"); err != nil {
				return nil, err
			}
		}
		t, err := p.oneTarget()
		if err != nil {
			return nil, err
		}
		if err := p.expect(tOp, "=", "="); err != nil {
			return nil, err
		}
		e, err := p.expression(true)
		if err != nil {
			return nil, err
		}
		targets, values = append(targets, t), append(values, e)
	}
	body, err := p.body("endwith")
	return func(r *run) error {
		list, err := r.all(values)
		if err != nil {
			return err
		}
		return r.within(r.scope, map[string]Value{}, func() error {
			for i, t := range targets {
				if err := t(r, list[i]); err != nil {
					return err
				}
			}
			return body(r)
		})
	}, err
}

// generationStmt parses the block that marks the model's output; it renders its body.
func (p *parser) generationStmt(int) (stmt, error) { return p.body("endgeneration") }

// jump returns the parser of break or continue.
func jump(by error) func(p *parser, line int) (stmt, error) {
	return func(p *parser, line int) (stmt, error) {
		if p.loops == 0 {
			return nil, errorAt(line, "%v is outside of a loop", by)
		}
		return func(*run) error { return by }, p.end()
	}
}

func (p *parser) doStmt(line int) (stmt, error) {
	e, err := p.tuple(true)
	if err != nil {
		return nil, err
	}
	return func(r *run) error { _, err := e(r); return err }, p.end()
}
