// Package jinja renders Jinja2 templates with Python values, as far as chat templates and request payloads need it. It returns the same text as
// Python's jinja2, or an error that names the line.
package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/jsontext"
)

// Value is a Python value: nil (None), bool, int64, float64, string, *List, Tuple, *Dict, *Namespace, Undefined, Func.
type Value any

// List is a Python list. A lazy one represents a generator, the result of filters such as map: it is always true and has no length.
type List struct {
	Items []Value
	lazy  bool
}

// Tuple is a Python tuple.
type Tuple []Value

// Dict is a Python dict, which keeps the order of its keys.
type Dict struct {
	keys   []Value
	values map[Value]Value
}

// NewDict returns an empty dict.
func NewDict() *Dict { return &Dict{values: map[Value]Value{}} }

// key returns the lookup key of a value. Equal numbers have equal keys.
func key(v Value) Value {
	v = plain(v)
	switch x := v.(type) {
	case bool:
		if x {
			return int64(1)
		}
		return int64(0)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<62 {
			return int64(x)
		}
	case Tuple:
		return repr(x)
	}
	return v
}

// Set adds or replaces an entry. Lists and dicts are not valid keys; they are looked up by identity.
func (d *Dict) Set(k, v Value) {
	h := key(k)
	if _, ok := d.values[h]; !ok {
		d.keys = append(d.keys, k)
	}
	d.values[h] = v
}

// Get returns an entry.
func (d *Dict) Get(k Value) (Value, bool) {
	v, ok := d.values[key(k)]
	return v, ok
}

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.keys) }

// Keys returns the keys in order.
func (d *Dict) Keys() []Value { return d.keys }

// Namespace is the result of namespace(): an object with attributes that can be assigned.
type Namespace struct{ Dict }

// Undefined is a missing name or key. It prints as an empty text.
type Undefined struct{ what string }

// Func is a callable value.
type Func func(c *Call) (Value, error)

// Call holds the arguments of a call.
type Call struct {
	Args  []Value
	Names []string // names of keyword arguments, in order
	Named map[string]Value
	run   *run
}

// Arg returns argument i, or the one with that name, or otherwise.
func (c *Call) Arg(i int, name string, otherwise Value) Value {
	if i < len(c.Args) {
		return c.Args[i]
	}
	if v, ok := c.Named[name]; ok {
		return v
	}
	return otherwise
}

// truth returns bool(v).
func truth(v Value) bool {
	switch x := plain(v).(type) {
	case nil, Undefined:
		return false
	case bool:
		return x
	case int64:
		return x != 0
	case float64:
		return x != 0
	case string:
		return x != ""
	case *List:
		return x.lazy || len(x.Items) > 0
	case Tuple:
		return len(x) > 0
	case *Dict:
		return x.Len() > 0
	}
	return true
}

// typeName returns the name of v's type in error messages.
func typeName(v Value) string {
	switch x := plain(v).(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		if x.lazy {
			return "generator"
		}
		return "list"
	case Tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *Namespace:
		return "Namespace"
	case Undefined:
		return "Undefined"
	case Func:
		return "function"
	}
	return fmt.Sprintf("%T", v)
}

// Str returns str(v), the output of {{ v }}.
func Str(v Value) string {
	switch x := plain(v).(type) {
	case string:
		return x
	case Undefined:
		return ""
	}
	return repr(v)
}

// repr returns repr(v).
func repr(v Value) string {
	var b strings.Builder
	writeRepr(&b, v, 0)
	return b.String()
}

// maxDepth limits the nesting of values.
const maxDepth = 200

func writeRepr(b *strings.Builder, v Value, depth int) {
	if b.Len() > maxString {
		panic(limitError{errString})
	}
	if depth > maxDepth {
		b.WriteString("...")
		return
	}
	list := func(open string, items []Value, end string) {
		b.WriteString(open)
		for i, x := range items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeRepr(b, x, depth+1)
		}
		b.WriteString(end)
	}
	switch x := plain(v).(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if x {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case int64:
		b.WriteString(strconv.FormatInt(x, 10))
	case float64:
		b.WriteString(floatRepr(x))
	case string:
		quoted(b, x)
	case *List:
		list("[", x.Items, "]")
	case Tuple:
		if len(x) == 1 {
			list("(", x, ",)")
		} else {
			list("(", x, ")")
		}
	case *Namespace:
		b.WriteString("<Namespace ")
		writeRepr(b, &x.Dict, depth+1)
		b.WriteString(">")
	case *Dict:
		b.WriteByte('{')
		for i, k := range x.keys {
			if i > 0 {
				b.WriteString(", ")
			}
			writeRepr(b, k, depth+1)
			b.WriteString(": ")
			writeRepr(b, x.values[key(k)], depth+1)
		}
		b.WriteByte('}')
	case Undefined:
		b.WriteString("Undefined")
	default:
		b.WriteString("<" + typeName(v) + ">")
	}
}

// floatRepr returns repr of a float: the shortest digits that read back, with an exponent only outside 1e-4 … 1e16.
func floatRepr(x float64) string { return string(jsontext.AppendFloat(nil, x)) }

// quoted writes repr of a string: in single quotes unless it contains single but no double quotes.
func quoted(b *strings.Builder, s string) {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b.WriteByte(q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7F:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < utf8.RuneSelf || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xFF:
			fmt.Fprintf(b, `\x%02x`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteByte(q)
}

// equal returns a == b.
func equal(a, b Value) bool {
	left := maxEqual
	return equalWithin(a, b, &left)
}

// equalWithin is equal for at most left values. Lists that contain each other many times need little memory but endless time.
func equalWithin(a, b Value, left *int) bool {
	if *left--; *left < 0 {
		panic(errEqual)
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	switch x := a.(type) {
	case *List:
		y, ok := b.(*List)
		return ok && equalEach(x.Items, y.Items, left)
	case Tuple:
		y, ok := b.(Tuple)
		return ok && equalEach(x, y, left)
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for k, v := range x.values {
			if w, ok := y.values[k]; !ok || !equalWithin(v, w, left) {
				return false
			}
		}
		return true
	case Undefined:
		_, ok := b.(Undefined)
		return ok
	case Func:
		return false
	}
	if _, ok := b.(Func); ok {
		return false
	}
	if _, ok := b.(Tuple); ok {
		return false
	}
	return a == b
}

func equalAll(a, b []Value) bool {
	left := maxEqual
	return equalEach(a, b, &left)
}

func equalEach(a, b []Value, left *int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equalWithin(a[i], b[i], left) {
			return false
		}
	}
	return true
}

// number converts a bool, int or float to a float.
func number(v Value) (float64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// integer converts a bool or int to an int.
func integer(v Value) (int64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int64:
		return x, true
	}
	return 0, false
}

// compare returns the order of a and b: -1, 0, 1.
func compare(a, b Value) (int, error) {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return sign(x < y, x > y), nil
		}
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return sign(x < y, x > y), nil
		}
	}
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	case *List:
		if y, ok := b.(*List); ok {
			return compareAll(x.Items, y.Items)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return compareAll(x, y)
		}
	}
	return 0, fmt.Errorf("values of type %s and %s cannot be ordered", typeName(a), typeName(b))
}

func sign(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

func compareAll(a, b []Value) (int, error) {
	for i := range min(len(a), len(b)) {
		if !equal(a[i], b[i]) {
			return compare(a[i], b[i])
		}
	}
	return sign(len(a) < len(b), len(a) > len(b)), nil
}

// items returns the items of an iteration over v.
func items(v Value) ([]Value, error) {
	switch x := plain(v).(type) {
	case *List:
		return x.Items, nil
	case Tuple:
		return x, nil
	case *Dict:
		return x.keys, nil
	case Undefined:
		return nil, nil
	case string:
		n := utf8.RuneCountInString(x)
		if n > maxItems {
			return nil, errItems
		}
		out := make([]Value, 0, n)
		for _, r := range x {
			out = append(out, string(r))
		}
		return out, nil
	}
	return nil, fmt.Errorf("a value of type %s cannot be iterated over", typeName(v))
}
