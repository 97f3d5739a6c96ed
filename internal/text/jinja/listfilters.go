package jinja

import (
	"errors"
	"fmt"
	"strings"
)

// end returns the filter first or last.
func end(front bool) Filter {
	return listFilter(func(l []Value, _ *Call) (Value, error) {
		switch {
		case len(l) == 0:
			return Undefined{"No item, sequence was empty."}, nil
		case front:
			return l[0], nil
		}
		return l[len(l)-1], nil
	})
}

func join(l []Value, c *Call) (Value, error) {
	by := path(c.run, c.Arg(1, "attribute", nil), nil)
	parts := make([]string, len(l))
	size := 0
	for i, v := range l {
		x, err := by(v)
		if err != nil {
			return nil, err
		}
		parts[i] = Str(x)
		if size += len(parts[i]); size > maxString {
			return nil, errString
		}
	}
	return joinWithin(parts, Str(c.Arg(0, "d", "")))
}

func sum(l []Value, c *Call) (Value, error) {
	by := path(c.run, c.Arg(0, "attribute", nil), nil)
	total := c.Arg(1, "start", int64(0))
	for _, v := range l {
		x, err := by(v)
		if err == nil {
			total, err = add(total, x)
		}
		if err == nil {
			err = c.run.countMemory(total)
		}
		if err != nil {
			return nil, err
		}
	}
	return total, nil
}

// foldCase returns a function that converts v for comparison in sort, unique and min: it ignores case in strings unless requested otherwise.
func foldCase(c *Call, i int) func(Value) Value {
	if truth(c.Arg(i, "case_sensitive", false)) {
		return func(v Value) Value { return v }
	}
	return func(v Value) Value {
		if s, ok := v.(string); ok {
			return strings.ToLower(s)
		}
		return v
	}
}

func sorted(l []Value, c *Call) (Value, error) {
	by, fold := path(c.run, c.Arg(2, "attribute", nil), nil), foldCase(c, 1)
	out, err := sortValues(l, func(v Value) (Value, error) { x, err := by(v); return fold(x), err }, truth(c.Arg(0, "reverse", false)))
	return &List{Items: out}, err
}

func unique(l []Value, c *Call) (Value, error) {
	by, fold := path(c.run, c.Arg(1, "attribute", nil), nil), foldCase(c, 0)
	seen, out := NewDict(), []Value{}
	for _, v := range l {
		x, err := by(v)
		if err != nil {
			return nil, err
		}
		if _, ok := seen.Get(fold(x)); !ok {
			seen.Set(fold(x), true)
			out = append(out, v)
		}
	}
	return &List{Items: out}, nil
}

// extreme returns the filter min or max.
func extreme(want int) func(l []Value, c *Call) (Value, error) {
	return func(l []Value, c *Call) (Value, error) {
		if len(l) == 0 {
			return Undefined{"No aggregated item, sequence was empty."}, nil
		}
		by, fold := path(c.run, c.Arg(1, "attribute", nil), nil), foldCase(c, 0)
		var best, key Value
		for i, v := range l {
			x, err := by(v)
			if err != nil {
				return nil, err
			}
			x = fold(x)
			if i > 0 {
				o, err := compare(x, key)
				if err != nil {
					return nil, err
				}
				if o != want {
					continue
				}
			}
			best, key = v, x
		}
		return best, nil
	}
}

func batch(l []Value, c *Call) (Value, error) {
	n, err := intArg(c, 0, "linecount", 1)
	if err != nil || n < 1 {
		return nil, errors.New("batch needs a positive number of items")
	}
	out := []Value{}
	for len(l) > 0 {
		k := min(int(min(n, maxRange)), len(l))
		part := append([]Value{}, l[:k]...)
		if fill := c.Arg(1, "fill_with", nil); fill != nil {
			for len(part) < int(min(n, maxRange)) {
				part = append(part, fill)
			}
		}
		out = append(out, &List{Items: part})
		l = l[k:]
	}
	return &List{Items: out}, nil
}

// parts divides a list into a number of lists, the first of which have one item more if it cannot be divided evenly.
func parts(l []Value, c *Call) (Value, error) {
	n, err := intArg(c, 0, "slices", 0)
	if err != nil || n < 1 || n > maxRange {
		return nil, fmt.Errorf("slice needs a number of parts from 1 to %d", maxRange)
	}
	each, longer := len(l)/int(n), len(l)%int(n)
	fill := c.Arg(1, "fill_with", nil)
	out := make([]Value, 0, n)
	for i := range int(n) {
		size := each
		if i < longer {
			size++
		}
		part := append([]Value{}, l[:size]...)
		if l = l[size:]; fill != nil && i >= longer {
			part = append(part, fill)
		}
		out = append(out, &List{Items: part})
	}
	return &List{Items: out, lazy: true}, nil
}

func groupby(l []Value, c *Call) (Value, error) {
	by := path(c.run, c.Arg(0, "attribute", nil), c.Arg(1, "default", nil))
	order, err := sortValues(l, by, false)
	if err != nil {
		return nil, err
	}
	out := []Value{}
	for _, v := range order {
		k, _ := by(v)
		if n := len(out); n > 0 && equal(out[n-1].(Tuple)[0], k) {
			g := out[n-1].(Tuple)[1].(*List)
			g.Items = append(g.Items, v)
			continue
		}
		out = append(out, Tuple{k, &List{Items: []Value{v}}})
	}
	return &List{Items: out}, nil
}

// mapped implements map(attribute=…) and map('filter', …).
func mapped(l []Value, c *Call) (Value, error) {
	var err error
	var f func(Value) (Value, error)
	if attr, ok := c.Named["attribute"]; ok && len(c.Args) == 0 {
		f = path(c.run, attr, c.Named["default"])
	} else if len(c.Args) == 0 {
		return nil, errors.New("map requires a filter argument")
	} else {
		name := Str(c.Args[0])
		filter, ok := c.run.env.filter(name)
		if !ok {
			return nil, fmt.Errorf("no filter named %q", name)
		}
		rest := &Call{Args: c.Args[1:], Names: c.Names, Named: c.Named, run: c.run}
		f = func(v Value) (Value, error) { return filter(v, rest) }
	}
	out := make([]Value, len(l))
	for i, x := range l {
		if out[i], err = f(x); err == nil {
			err = c.run.countMemory(out[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return &List{Items: out}, nil
}

// choose returns the filters select, reject, selectattr and rejectattr.
func choose(attr, want bool) func(l []Value, c *Call) (Value, error) {
	return func(l []Value, c *Call) (Value, error) {
		by := func(v Value) (Value, error) { return v, nil }
		args := c.Args
		if attr {
			if len(args) == 0 {
				return nil, errors.New("missing parameter for attribute name")
			}
			by, args = path(c.run, args[0], nil), args[1:]
		}
		test := Test(func(v Value, _ *Call) (bool, error) { return truth(v), nil })
		rest := &Call{run: c.run}
		if len(args) > 0 {
			name := Str(args[0])
			if alias, ok := map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}[name]; ok {
				name = alias
			}
			var ok bool
			if test, ok = c.run.env.test(name); !ok {
				return nil, fmt.Errorf("no test named %q", name)
			}
			rest.Args = args[1:]
		}
		out := []Value{}
		for _, v := range l {
			x, err := by(v)
			if err != nil {
				return nil, err
			}
			ok, err := test(x, rest)
			if err != nil {
				return nil, err
			}
			if ok == want {
				out = append(out, v)
			}
		}
		return &List{Items: out}, nil
	}
}
