package jinja

import (
	"fmt"
	"sort"
	"strings"
)

// attribute evaluates v.name: a method or field, otherwise the entry with that name.
func (r *run) attribute(v Value, name string) (Value, error) {
	_, marked := v.(Markup)
	v = plain(v)
	if m, ok := r.member(v, name); ok {
		if f, calls := m.(Func); marked && calls {
			return markupMethod(name, f), nil
		}
		return m, nil
	}
	switch x := v.(type) {
	case *Dict:
		if e, ok := x.Get(name); ok {
			return e, nil
		}
	case Undefined:
		return nil, fmt.Errorf("%s is undefined", x.what)
	}
	return Undefined{fmt.Sprintf("'%s object' has no attribute '%s'", typeName(v), name)}, nil
}

// item evaluates v[i]: the entry, otherwise the attribute with that name.
func (r *run) item(v, i Value) (Value, error) {
	_, marked := v.(Markup)
	v, i = plain(v), plain(i)
	switch x := v.(type) {
	case *Dict:
		switch i.(type) {
		case *List, *Dict:
			return nil, fmt.Errorf("unhashable type: %s", typeName(i))
		}
		if e, ok := x.Get(i); ok {
			return e, nil
		}
	case *List:
		if e, ok := itemAt(x.Items, i); ok {
			return e, nil
		}
	case Tuple:
		if e, ok := itemAt(x, i); ok {
			return e, nil
		}
	case string:
		if n, ok := integer(i); ok {
			chars, _ := items(x)
			if e, ok := itemAt(chars, n); ok {
				if marked {
					return toMarkup(e, nil)
				}
				return e, nil
			}
		}
	case Undefined:
		return nil, fmt.Errorf("%s is undefined", x.what)
	}
	if name, ok := i.(string); ok {
		if m, ok := r.member(v, name); ok {
			return m, nil
		}
	}
	return Undefined{fmt.Sprintf("'%s object' has no element %s", typeName(v), repr(i))}, nil
}

// itemAt evaluates list[i] with Python's negative indices.
func itemAt(list []Value, i Value) (Value, bool) {
	n, ok := integer(i)
	if n < 0 {
		n += int64(len(list))
	}
	if !ok || n < 0 || n >= int64(len(list)) {
		return nil, false
	}
	return list[n], true
}

// method is the code of a bound method.
type method[T any] func(r *run, self T, c *Call) (Value, error)

// member returns a method or field of v.
func (r *run) member(v Value, name string) (Value, bool) {
	switch x := v.(type) {
	case string:
		if m, ok := stringMethods[name]; ok {
			return Func(func(c *Call) (Value, error) { return m(x, c) }), true
		}
	case *Dict:
		return bind(r, dictMethods, x, name)
	case *List:
		return bind(r, listMethods, x, name)
	case Tuple:
		if name == "index" || name == "count" {
			return bind(r, listMethods, &List{Items: x}, name)
		}
	case *Namespace:
		return x.Get(name)
	case *loop:
		return x.attr(name)
	}
	return nil, false
}

func bind[T any](r *run, table map[string]method[T], self T, name string) (Value, bool) {
	m, ok := table[name]
	if !ok {
		return nil, false
	}
	return Func(func(c *Call) (Value, error) { return m(r, self, c) }), true
}

var dictMethods = map[string]method[*Dict]{
	"items": func(_ *run, d *Dict, _ *Call) (Value, error) {
		out := make([]Value, 0, d.Len())
		for _, k := range d.keys {
			out = append(out, Tuple{k, d.values[key(k)]})
		}
		return &List{Items: out}, nil
	},
	"keys": func(_ *run, d *Dict, _ *Call) (Value, error) { return &List{Items: append([]Value{}, d.keys...)}, nil },
	"values": func(_ *run, d *Dict, _ *Call) (Value, error) {
		out := make([]Value, 0, d.Len())
		for _, k := range d.keys {
			out = append(out, d.values[key(k)])
		}
		return &List{Items: out}, nil
	},
	"get": func(_ *run, d *Dict, c *Call) (Value, error) {
		if v, ok := d.Get(c.Arg(0, "key", nil)); ok {
			return v, nil
		}
		return c.Arg(1, "default", nil), nil
	},
	"copy": func(_ *run, d *Dict, _ *Call) (Value, error) {
		out := NewDict()
		for _, k := range d.keys {
			out.Set(k, d.values[key(k)])
		}
		return out, nil
	},
	"update": func(r *run, d *Dict, c *Call) (Value, error) {
		if err := r.checkFrozen("update"); err != nil {
			return nil, err
		}
		if src, ok := c.Arg(0, "", nil).(*Dict); ok {
			for _, k := range src.keys {
				d.Set(k, src.values[key(k)])
			}
		}
		for _, n := range c.Names {
			d.Set(n, c.Named[n])
		}
		return nil, nil
	},
	"pop": func(r *run, d *Dict, c *Call) (Value, error) {
		if err := r.checkFrozen("pop"); err != nil {
			return nil, err
		}
		k := c.Arg(0, "", nil)
		v, ok := d.Get(k)
		if !ok {
			if len(c.Args) < 2 {
				return nil, fmt.Errorf("KeyError: %s", repr(k))
			}
			return c.Args[1], nil
		}
		delete(d.values, key(k))
		for i, x := range d.keys {
			if equal(x, k) {
				d.keys = append(d.keys[:i:i], d.keys[i+1:]...)
				break
			}
		}
		return v, nil
	},
}

// checkFrozen returns an error if the environment forbids changing values.
func (r *run) checkFrozen(what string) error {
	if r.env.Frozen {
		return fmt.Errorf("access to attribute '%s' is unsafe: values cannot be changed in this template", what)
	}
	return nil
}

var listMethods = map[string]method[*List]{
	"index": func(_ *run, l *List, c *Call) (Value, error) {
		for i, v := range l.Items {
			if equal(v, c.Arg(0, "", nil)) {
				return int64(i), nil
			}
		}
		return nil, fmt.Errorf("%s is not in list", repr(c.Arg(0, "", nil)))
	},
	"count": func(_ *run, l *List, c *Call) (Value, error) {
		n := int64(0)
		for _, v := range l.Items {
			if equal(v, c.Arg(0, "", nil)) {
				n++
			}
		}
		return n, nil
	},
	"copy": func(_ *run, l *List, _ *Call) (Value, error) { return &List{Items: append([]Value{}, l.Items...)}, nil },
	"append": func(r *run, l *List, c *Call) (Value, error) {
		if err := r.checkFrozen("append"); err != nil {
			return nil, err
		}
		l.Items = append(l.Items, c.Arg(0, "", nil))
		return nil, nil
	},
	"extend": func(r *run, l *List, c *Call) (Value, error) {
		if err := r.checkFrozen("extend"); err != nil {
			return nil, err
		}
		more, err := items(c.Arg(0, "", nil))
		l.Items = append(l.Items, more...)
		return nil, err
	},
	"insert": func(r *run, l *List, c *Call) (Value, error) {
		if err := r.checkFrozen("insert"); err != nil {
			return nil, err
		}
		i, _ := integer(c.Arg(0, "", int64(0)))
		if i < 0 {
			i = max(0, i+int64(len(l.Items)))
		}
		i = min(i, int64(len(l.Items)))
		l.Items = append(l.Items[:i:i], append([]Value{c.Arg(1, "", nil)}, l.Items[i:]...)...)
		return nil, nil
	},
	"pop": func(r *run, l *List, c *Call) (Value, error) {
		if err := r.checkFrozen("pop"); err != nil {
			return nil, err
		}
		i, _ := integer(c.Arg(0, "", int64(-1)))
		v, ok := itemAt(l.Items, i)
		if !ok {
			return nil, fmt.Errorf("pop index out of range")
		}
		if i < 0 {
			i += int64(len(l.Items))
		}
		l.Items = append(l.Items[:i:i], l.Items[i+1:]...)
		return v, nil
	},
	"reverse": func(r *run, l *List, _ *Call) (Value, error) {
		if err := r.checkFrozen("reverse"); err != nil {
			return nil, err
		}
		for i, j := 0, len(l.Items)-1; i < j; i, j = i+1, j-1 {
			l.Items[i], l.Items[j] = l.Items[j], l.Items[i]
		}
		return nil, nil
	},
	"sort": func(r *run, l *List, c *Call) (Value, error) {
		if err := r.checkFrozen("sort"); err != nil {
			return nil, err
		}
		sorted, err := sortValues(l.Items, func(v Value) (Value, error) { return v, nil }, truth(c.Arg(9, "reverse", false)))
		l.Items = sorted
		return nil, err
	},
}

// sortValues returns a copy of list, sorted by the results of by.
func sortValues(list []Value, by func(Value) (Value, error), reverse bool) ([]Value, error) {
	keys := make([]Value, len(list))
	order := make([]int, len(list))
	for i, v := range list {
		k, err := by(v)
		if err != nil {
			return nil, err
		}
		keys[i], order[i] = k, i
	}
	var failed error
	sort.SliceStable(order, func(i, j int) bool {
		if failed != nil {
			return false
		}
		a, b := keys[order[i]], keys[order[j]]
		if reverse {
			a, b = b, a
		}
		c, err := compare(a, b)
		if err != nil {
			failed = err
		}
		return c < 0
	})
	out := make([]Value, len(list))
	for i, k := range order {
		out[i] = list[k]
	}
	return out, failed
}

// path returns the function for an attribute argument such as "a.b.0". For a missing attribute it returns otherwise.
func path(r *run, attr Value, otherwise Value) func(Value) (Value, error) {
	if attr == nil {
		return func(v Value) (Value, error) { return v, nil }
	}
	var parts []Value
	if n, ok := integer(attr); ok {
		parts = []Value{n}
	} else {
		for _, s := range strings.Split(Str(attr), ".") {
			if n, err := atoi(s); err == nil {
				parts = append(parts, n)
			} else {
				parts = append(parts, s)
			}
		}
	}
	return func(v Value) (Value, error) {
		for _, p := range parts {
			var err error
			if v, err = r.item(v, p); err != nil {
				return nil, err
			}
			if _, ok := v.(Undefined); ok && otherwise != nil {
				v = otherwise
			}
		}
		return v, r.charge(v)
	}
}
