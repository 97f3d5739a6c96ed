package jinja

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"

	"aiperf/internal/base/jsontext"
)

// FromJSON converts a JSON text to values. Objects keep the order of their keys, numbers without point or exponent are ints.
func FromJSON(raw []byte) (Value, error) {
	if err := jsontext.Check(raw); err != nil {
		return nil, err
	}
	return decode(&jsontext.Scanner{Doc: raw}, 0)
}

// decode reads the next value of a valid document.
func decode(s *jsontext.Scanner, depth int) (Value, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("JSON nested deeper than %d", maxDepth)
	}
	switch s.Kind() {
	case '"':
		return s.Text().String(), nil
	case '[':
		l := &List{Items: []Value{}}
		s.Open('[')
		for first := true; s.Next(']', first); first = false {
			v, err := decode(s, depth+1)
			if err != nil {
				return nil, err
			}
			l.Items = append(l.Items, v)
		}
		return l, nil
	case '{':
		o := NewDict()
		s.Open('{')
		for first := true; s.Next('}', first); first = false {
			k := string(jsontext.AppendUTF8(nil, s.Key()))
			v, err := decode(s, depth+1)
			if err != nil {
				return nil, err
			}
			o.Set(k, v)
		}
		return o, nil
	}
	switch x := string(s.Raw()); x {
	case "null":
		return nil, nil
	case "true", "false":
		return x == "true", nil
	default:
		if n, err := strconv.ParseInt(x, 10, 64); err == nil {
			return n, nil
		}
		return strconv.ParseFloat(x, 64)
	}
}

// layout holds the options of Python's json.dumps that package jsontext does not support: blanks after separators, ASCII escapes, sorted keys, NaN
// and Infinity.
type layout struct {
	indent     string // "" = one line
	pretty     bool
	item, pair string // separators
	ascii      bool   // other characters as \u escapes
	sorted     bool   // sort keys
}

// tojson is the filter of that name: Python's json.dumps. By default it sorts keys and escapes HTML characters; in chat templates it does not.
func (e *Environment) tojson(v Value, c *Call) (Value, error) {
	l := layout{item: ", ", pair: ": ", ascii: !e.PlainJSON, sorted: !e.PlainJSON}
	indentAt := 0
	if e.PlainJSON { // tojson(x, ensure_ascii, indent, separators, sort_keys)
		l.ascii = truth(c.Arg(0, "ensure_ascii", false))
		l.sorted = truth(c.Arg(3, "sort_keys", false))
		indentAt = 1
	}
	switch w := c.Arg(indentAt, "indent", nil).(type) {
	case int64:
		l.pretty, l.indent, l.item = true, strings.Repeat(" ", int(max(0, min(w, 100)))), ","
	case string:
		l.pretty, l.indent, l.item = true, w, ","
	}
	if e.PlainJSON {
		if s, ok := c.Arg(2, "separators", nil).(Tuple); ok && len(s) == 2 {
			l.item, l.pair = Str(s[0]), Str(s[1])
		} else if s, ok := c.Arg(2, "separators", nil).(*List); ok && len(s.Items) == 2 {
			l.item, l.pair = Str(s.Items[0]), Str(s.Items[1])
		}
	}
	var b strings.Builder
	if err := l.write(&b, v, 0); err != nil {
		return nil, err
	}
	if e.PlainJSON {
		return b.String(), nil
	}
	return bounded(6, strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace)(b.String(), nil)
}

func (l layout) write(b *strings.Builder, v Value, depth int) error {
	if b.Len() > maxString {
		return errString
	}
	if depth > maxDepth {
		return fmt.Errorf("values nested deeper than %d", maxDepth)
	}
	switch x := plain(v).(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(x))
	case float64:
		switch {
		case math.IsInf(x, 1):
			b.WriteString("Infinity")
		case math.IsInf(x, -1):
			b.WriteString("-Infinity")
		case math.IsNaN(x):
			b.WriteString("NaN")
		default:
			b.WriteString(floatRepr(x))
		}
	case int64:
		b.WriteString(strconv.FormatInt(x, 10))
	case string:
		l.quote(b, x)
	case *List:
		if x.lazy {
			return fmt.Errorf("Object of type generator is not JSON serializable")
		}
		return l.list(b, "[", "]", len(x.Items), depth, func(i int) error { return l.write(b, x.Items[i], depth+1) })
	case Tuple:
		return l.list(b, "[", "]", len(x), depth, func(i int) error { return l.write(b, x[i], depth+1) })
	case *Dict:
		keys := append([]Value{}, x.keys...)
		if l.sorted {
			sort.SliceStable(keys, func(i, j int) bool { return jsonKey(keys[i]) < jsonKey(keys[j]) })
		}
		return l.list(b, "{", "}", len(keys), depth, func(i int) error {
			l.quote(b, jsonKey(keys[i]))
			b.WriteString(l.pair)
			return l.write(b, x.values[key(keys[i])], depth+1)
		})
	case Undefined:
		return fmt.Errorf("Object of type Undefined is not JSON serializable (%s is undefined)", x.what)
	default:
		return fmt.Errorf("Object of type %s is not JSON serializable", typeName(v))
	}
	return nil
}

func (l layout) list(b *strings.Builder, open, end string, n, depth int, item func(i int) error) error {
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteString(l.item)
		}
		l.newline(b, depth+1)
		if err := item(i); err != nil {
			return err
		}
	}
	if n > 0 {
		l.newline(b, depth)
	}
	b.WriteString(end)
	return nil
}

func (l layout) newline(b *strings.Builder, depth int) {
	if l.pretty {
		b.WriteByte('\n')
		for range depth {
			if b.WriteString(l.indent); b.Len() > maxString {
				panic(limitError{errString})
			}
		}
	}
}

// jsonKey converts a key to text.
func jsonKey(v Value) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	}
	return Str(v)
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (l layout) quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		if b.Len() > maxString {
			panic(limitError{errString})
		}
		if r >= ' ' && r <= '~' && r != '"' && r != '\\' {
			b.WriteByte(byte(r))
			continue
		}
		e, ok := jsonEscapes[r]
		switch {
		case ok:
			b.WriteString(e)
		case r < ' ' || l.ascii && r > 0x7F && r <= 0xFFFF:
			fmt.Fprintf(b, `\u%04x`, r)
		case l.ascii && r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
