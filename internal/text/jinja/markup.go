package jinja

// Markup is text that is printed unescaped if everything else is escaped (Environment.AutoEscape): the results of tojson, safe and escape, and the
// output of blocks and macros. Escaping follows Python's markupsafe.
type Markup string

// plain converts Markup to a string.
func plain(v Value) Value {
	if m, ok := v.(Markup); ok {
		return string(m)
	}
	return v
}

// printed returns the text of a value in the output.
func (e *Environment) printed(v Value) string {
	if m, ok := v.(Markup); ok {
		return string(m)
	}
	if e.AutoEscape {
		return escapeHTML(Str(v))
	}
	return Str(v)
}

// safeFilters are the filters whose result needs no escaping.
var safeFilters = map[string]bool{"tojson": true, "safe": true, "escape": true, "e": true, "forceescape": true}

// markupFilter returns a filter that handles Markup: filters in marking return Markup, all others keep the type of their input.
func markupFilter(name string, f Filter) Filter {
	return func(v Value, c *Call) (Value, error) {
		m, was := v.(Markup)
		if was && (name == "escape" || name == "e" || name == "safe") {
			return m, nil
		}
		for i, a := range c.Args {
			c.Args[i] = plain(a)
		}
		out, err := f(plain(v), c)
		switch s, text := out.(string); {
		case err != nil:
			return nil, err
		case name == "safe":
			return Markup(Str(out)), nil
		case text && (was || safeFilters[name]):
			return Markup(s), nil
		}
		return out, nil
	}
}

// markupMethod returns a method of Markup that returns Markup and escapes the text that it inserts.
func markupMethod(name string, f Func) Func {
	escaped := func(v Value) Value {
		if s, ok := v.(string); ok {
			return escapeHTML(s)
		}
		return plain(v)
	}
	return func(c *Call) (Value, error) {
		for i, a := range c.Args {
			list, isList := a.(*List)
			switch {
			case name == "join" && isList:
				all := make([]Value, len(list.Items))
				for k, v := range list.Items {
					all[k] = escaped(v)
				}
				c.Args[i] = &List{Items: all}
			case name == "replace" && i == 1:
				c.Args[i] = escaped(a)
			default:
				c.Args[i] = plain(a)
			}
		}
		return toMarkup(f(c))
	}
}

// toMarkup converts a part of Markup, a text or a list of texts, back to Markup.
func toMarkup(v Value, err error) (Value, error) {
	mark := func(list []Value) {
		for i, one := range list {
			if s, ok := one.(string); ok {
				list[i] = Markup(s)
			}
		}
	}
	switch x := v.(type) {
	case string:
		return Markup(x), err
	case *List:
		mark(x.Items)
	case Tuple:
		mark(x)
	}
	return v, err
}

// captured returns the output of f as a value.
func (r *run) captured(f func() error) (Value, error) {
	s, err := r.capture(f)
	if r.env.AutoEscape {
		return Markup(s), err
	}
	return s, err
}

// operate applies an operator. Text joined with Markup is escaped.
func (e *Environment) operate(op string, f func(a, b Value) (Value, error), a, b Value) (Value, error) {
	if !e.AutoEscape {
		return f(a, b)
	}
	_, left := a.(Markup)
	_, right := b.(Markup)
	_, alsoText := plain(b).(string)
	if _, ok := plain(a).(string); (left || right) && (op == "~" || op == "+" && ok && alsoText) {
		return Markup(e.printed(a) + e.printed(b)), nil
	}
	return f(plain(a), plain(b))
}
