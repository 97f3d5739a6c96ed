package jinja

import (
	"errors"
	"fmt"
	"html"
	"math"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text returns a filter that applies a function to a string.
func text(f func(string) string) Filter {
	return func(v Value, _ *Call) (Value, error) { return f(Str(v)), nil }
}

// generatorFilter returns a filter whose result is a generator. A false input gives an empty one.
func generatorFilter(f func(l []Value, c *Call) (Value, error)) Filter {
	return func(v Value, c *Call) (Value, error) {
		if !truth(v) {
			return &List{lazy: true}, nil
		}
		out, err := listFilter(f)(v, c)
		if l, ok := out.(*List); ok {
			l.lazy = true
		}
		return out, err
	}
}

// listFilter returns a filter that applies a function to a list.
func listFilter(f func(l []Value, c *Call) (Value, error)) Filter {
	return func(v Value, c *Call) (Value, error) {
		l, err := items(v)
		if err != nil {
			return nil, err
		}
		if err := c.run.chargeAll(l); err != nil {
			return nil, err
		}
		return f(l, c)
	}
}

// methodFilter returns a filter that calls a string method.
func methodFilter(name string) Filter {
	return func(v Value, c *Call) (Value, error) { return stringMethods[name](Str(v), c) }
}

// filters are the functions allowed after a bar; tojson belongs to the environment.
var filters map[string]Filter

func init() { // in init, because the table and the environment refer to each other
	f := map[string]Filter{
		"upper": text(strings.ToUpper), "lower": text(strings.ToLower), "capitalize": text(capitalize), "title": text(title),
		"string": text(func(s string) string { return s }), "safe": func(v Value, _ *Call) (Value, error) { return v, nil },
		"escape": bounded(5, escapeHTML), "forceescape": bounded(5, escapeHTML), "urlencode": urlEncode,
		"trim": methodFilter("strip"), "replace": methodFilter("replace"), "center": func(v Value, c *Call) (Value, error) {
			if len(c.Args) == 0 {
				c.Args = []Value{c.Arg(0, "width", int64(80))}
			}
			return stringMethods["center"](Str(v), c)
		},
		"length": length, "count": length, "first": end(true), "last": end(false),
		"list": listFilter(func(l []Value, _ *Call) (Value, error) { return &List{Items: append([]Value{}, l...)}, nil }),
		"join": listFilter(join), "sum": listFilter(sum), "sort": listFilter(sorted), "unique": generatorFilter(unique), "min": listFilter(extreme(-1)), "max": listFilter(extreme(1)),
		"batch": generatorFilter(batch), "groupby": listFilter(groupby), "map": generatorFilter(mapped),
		"select": generatorFilter(choose(false, true)), "reject": generatorFilter(choose(false, false)),
		"selectattr": generatorFilter(choose(true, true)), "rejectattr": generatorFilter(choose(true, false)),
		"reverse": reverse, "default": defaultFilter, "items": itemsOf, "dictsort": dictsort, "int": toInt, "float": toFloat, "abs": absolute,
		"round": round, "indent": indent, "wordcount": wordcount, "slice": listFilter(parts), "striptags": text(striptags), "filesizeformat": fileSize,
		"format": func(v Value, c *Call) (Value, error) {
			if len(c.Names) > 0 {
				d := NewDict()
				for _, n := range c.Names {
					d.Set(n, c.Named[n])
				}
				return printf(Str(v), d)
			}
			return printf(Str(v), Tuple(c.Args))
		},
		"attr":     func(v Value, c *Call) (Value, error) { return c.run.attribute(v, Str(c.Arg(0, "name", ""))) },
		"truncate": truncate, "pprint": func(v Value, _ *Call) (Value, error) { return repr(v), nil },
	}
	f["d"], f["e"] = f["default"], f["escape"]
	filters = f
}

// urlEncode writes a text for use in a URL, and a dict or a list of pairs as a query.
func urlEncode(v Value, c *Call) (Value, error) {
	switch x := v.(type) {
	case *Dict:
		pairs, err := itemsOf(x, c)
		if err != nil {
			return nil, err
		}
		return query(pairs.(*List).Items)
	case *List:
		return query(x.Items)
	}
	return bounded(3, func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), "%2F", "/")
	})(v, c)
}

// query writes pairs of names and values as the query of a URL.
func query(pairs []Value) (Value, error) {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		pair, ok := p.(Tuple)
		if !ok || len(pair) != 2 {
			return nil, fmt.Errorf("%s is not a pair of a name and a value", repr(p))
		}
		parts[i] = url.QueryEscape(Str(pair[0])) + "=" + url.QueryEscape(Str(pair[1]))
	}
	return joinWithin(parts, "&")
}

func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}

// wordcount counts the runs of letters, digits and underscores.
func wordcount(v Value, _ *Call) (Value, error) {
	words, inside := int64(0), false
	for _, r := range Str(v) {
		letter := r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r)
		if letter && !inside {
			words++
		}
		inside = letter
	}
	return words, nil
}

// striptags removes comments and tags, joins blanks, and then replaces HTML entities by their characters.
func striptags(s string) string {
	for _, mark := range [][2]string{{"<!--", "-->"}, {"<", ">"}} {
		var kept strings.Builder
		for {
			before, rest, ok := strings.Cut(s, mark[0])
			_, after, ended := strings.Cut(rest, mark[1])
			if !ok || !ended {
				break
			}
			kept.WriteString(before)
			s = after
		}
		s = kept.String() + s
	}
	return html.UnescapeString(strings.Join(strings.FieldsFunc(s, pySpace), " "))
}

// fileSize writes a number of bytes for people: 13 kB, or 13 KiB if binary is true.
func fileSize(v Value, c *Call) (Value, error) {
	size, err := toFloat(v, &Call{})
	bytes, ok := size.(float64)
	if err != nil || !ok {
		return nil, fmt.Errorf("a value of type %s is not a number of bytes", typeName(v))
	}
	base, ending := 1000.0, "B"
	if truth(c.Arg(0, "binary", false)) {
		base, ending = 1024, "iB"
	}
	switch {
	case bytes == 1:
		return "1 Byte", nil
	case bytes < base:
		return fmt.Sprintf("%d Bytes", int64(bytes)), nil
	}
	prefixes := "kMGTPEZY"
	if base == 1024 {
		prefixes = "KMGTPEZY"
	}
	at, unit := 0, base*base
	for ; bytes >= unit && at < len(prefixes)-1; at++ {
		unit *= base
	}
	return fmt.Sprintf("%.1f %c%s", base*bytes/unit, prefixes[at], ending), nil
}

func length(v Value, _ *Call) (Value, error) {
	if s, ok := v.(string); ok {
		return int64(utf8.RuneCountInString(s)), nil
	}
	l, err := items(v)
	if g, ok := v.(*List); err != nil || ok && g.lazy {
		return nil, fmt.Errorf("object of type '%s' has no len()", typeName(v))
	}
	return int64(len(l)), nil
}

func reverse(v Value, _ *Call) (Value, error) {
	l, err := items(v)
	if err != nil {
		return nil, err
	}
	out := make([]Value, 0, len(l))
	for i := len(l) - 1; i >= 0; i-- {
		out = append(out, l[i])
	}
	if _, ok := v.(string); ok {
		return joinStrings("", &Call{Args: []Value{&List{Items: out}}})
	}
	return &List{Items: out}, nil
}

func defaultFilter(v Value, c *Call) (Value, error) {
	if isType[Undefined](v) || truth(c.Arg(1, "boolean", false)) && !truth(v) {
		return c.Arg(0, "default_value", ""), nil
	}
	return v, nil
}

func itemsOf(v Value, _ *Call) (Value, error) {
	switch d := v.(type) {
	case Undefined:
		return &List{}, nil
	case *Dict:
		return dictMethods["items"](nil, d, nil)
	}
	return nil, errors.New("Can only get item pairs from a mapping.")
}

func dictsort(v Value, c *Call) (Value, error) {
	pairs, err := itemsOf(v, nil)
	if err != nil {
		return nil, err
	}
	at, fold := 0, foldCase(c, 0)
	if Str(c.Arg(1, "by", "key")) == "value" {
		at = 1
	}
	out, err := sortValues(pairs.(*List).Items, func(v Value) (Value, error) { return fold(v.(Tuple)[at]), nil }, truth(c.Arg(2, "reverse", false)))
	return &List{Items: out}, err
}

func toInt(v Value, c *Call) (Value, error) {
	switch x := v.(type) {
	case string:
		s := strings.TrimSpace(x)
		base, err := intArg(c, 1, "base", 10)
		if err != nil {
			return nil, err
		}
		if n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), int(base), 64); err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return int64(f), nil
		}
	case float64:
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			return int64(x), nil
		}
	default:
		if n, ok := integer(v); ok {
			return n, nil
		}
	}
	return c.Arg(0, "default", int64(0)), nil
}

func toFloat(v Value, c *Call) (Value, error) {
	if x, ok := number(v); ok {
		return x, nil
	}
	if s, ok := v.(string); ok {
		if x, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			return x, nil
		}
	}
	return c.Arg(0, "default", 0.0), nil
}

func absolute(v Value, _ *Call) (Value, error) {
	if n, ok := integer(v); ok {
		return max(n, -n), nil
	}
	x, ok := number(v)
	if !ok {
		return nil, fmt.Errorf("bad operand type for abs(): '%s'", typeName(v))
	}
	return math.Abs(x), nil
}

// round is exact: the decimal digits of the stored number decide, half to even.
func round(v Value, c *Call) (Value, error) {
	x, ok := number(v)
	digits, err := intArg(c, 0, "precision", 0)
	if !ok || err != nil || digits < -300 || digits > 300 {
		return nil, fmt.Errorf("round wants a number and a precision, found %s", typeName(v))
	}
	scale := math.Pow(10, float64(digits))
	switch method := Str(c.Arg(1, "method", "common")); method {
	case "ceil":
		return math.Ceil(x*scale) / scale, nil
	case "floor":
		return math.Floor(x*scale) / scale, nil
	case "common":
		if n, ok := integer(v); ok && digits >= 0 {
			return n, nil
		}
	default:
		return nil, fmt.Errorf("method must be common, ceil or floor, found %q", method)
	}
	if digits < 0 {
		return math.RoundToEven(x*scale) / scale, nil
	}
	out, err := strconv.ParseFloat(new(big.Float).SetFloat64(x).Text('f', int(digits)), 64)
	return out, err
}

func indent(v Value, c *Call) (Value, error) {
	by := "    "
	switch w := c.Arg(0, "width", int64(4)).(type) {
	case int64:
		by = strings.Repeat(" ", int(max(0, min(w, 1000))))
	case string:
		by = w
	}
	s := Str(v)
	n := strings.Count(s, "\n") + 1
	if n > maxItems || len(by) > (maxString-min(len(s), maxString))/n {
		return nil, errString
	}
	lines := strings.Split(s, "\n")
	for i, s := range lines {
		if i == 0 && !truth(c.Arg(1, "first", false)) || s == "" && !truth(c.Arg(2, "blank", false)) {
			continue
		}
		lines[i] = by + s
	}
	return strings.Join(lines, "\n"), nil
}

func truncate(v Value, c *Call) (Value, error) {
	n, err := intArg(c, 0, "length", 255)
	leeway, err2 := intArg(c, 3, "leeway", 5)
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	if l, err := items(v); err == nil && !isType[string](v) && int64(len(l)) <= n+leeway {
		return v, nil
	}
	whole, tail := Str(v), Str(c.Arg(2, "end", "..."))
	switch length := int64(utf8.RuneCountInString(whole)); {
	case length <= n+leeway:
		return whole, nil
	case len(whole) > maxString/4 || len(tail) > maxString/4:
		return nil, errString
	}
	s := []rune(whole)
	cut := string(s[:max(0, n-int64(utf8.RuneCountInString(tail)))])
	if !truth(c.Arg(1, "killwords", false)) {
		if k := strings.LastIndexByte(cut, ' '); k >= 0 {
			cut = cut[:k]
		}
	}
	return cut + tail, nil
}
