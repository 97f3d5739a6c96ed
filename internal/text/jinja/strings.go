package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func atoi(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

// strArg returns a string argument.
func strArg(c *Call, i int, name, otherwise string) (string, error) {
	switch v := c.Arg(i, name, otherwise).(type) {
	case string:
		return v, nil
	case nil:
		return otherwise, nil
	default:
		return "", fmt.Errorf("argument %d is of type %s, want a string", i+1, typeName(v))
	}
}

func intArg(c *Call, i int, name string, otherwise int64) (int64, error) {
	v := c.Arg(i, name, otherwise)
	n, ok := integer(v)
	if !ok {
		return 0, fmt.Errorf("argument %d is of type %s, want an integer", i+1, typeName(v))
	}
	return n, nil
}

func pySpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }

type stringMethod func(s string, c *Call) (Value, error)

// mapMethod returns a method that applies a function to a string.
func mapMethod(f func(string) string) stringMethod {
	return func(s string, _ *Call) (Value, error) { return f(s), nil }
}

// stripper returns strip, lstrip or rstrip.
func stripper(cut func(string, func(rune) bool) string) stringMethod {
	return func(s string, c *Call) (Value, error) {
		set, err := strArg(c, 0, "chars", "")
		if c.Arg(0, "chars", nil) == nil {
			return cut(s, pySpace), err
		}
		return cut(s, func(r rune) bool { return strings.ContainsRune(set, r) }), err
	}
}

// affixMethod returns startswith or endswith, which take a string or a tuple of strings.
func affixMethod(has func(s, affix string) bool) stringMethod {
	return func(s string, c *Call) (Value, error) {
		switch x := c.Arg(0, "prefix", nil).(type) {
		case string:
			return has(s, x), nil
		case Tuple:
			for _, v := range x {
				if has(s, Str(v)) {
					return true, nil
				}
			}
			return false, nil
		default:
			return nil, fmt.Errorf("first arg must be a string or a tuple of strings, not %s", typeName(x))
		}
	}
}

// finder returns find, rfind, index or rindex. Positions count characters.
func finder(index func(s, sub string) int, must bool) stringMethod {
	return func(s string, c *Call) (Value, error) {
		sub, err := strArg(c, 0, "sub", "")
		if err != nil {
			return nil, err
		}
		from := 0
		if n, ok := integer(c.Arg(1, "start", nil)); ok {
			for ; n > 0 && from < len(s); n-- {
				_, w := utf8.DecodeRuneInString(s[from:])
				from += w
			}
		}
		k := index(s[from:], sub)
		if k < 0 {
			if must {
				return nil, fmt.Errorf("substring not found")
			}
			return int64(-1), nil
		}
		return int64(utf8.RuneCountInString(s[:from+k])), nil
	}
}

// testMethod returns isdigit and similar methods.
func testMethod(test func(rune) bool) stringMethod {
	return func(s string, _ *Call) (Value, error) {
		for _, r := range s {
			if !test(r) {
				return false, nil
			}
		}
		return s != "", nil
	}
}

// caseMethod returns isupper or islower.
func caseMethod(want, other func(rune) bool) stringMethod {
	return func(s string, _ *Call) (Value, error) {
		found := false
		for _, r := range s {
			if other(r) {
				return false, nil
			}
			found = found || want(r)
		}
		return found, nil
	}
}

// justify returns ljust, rjust or center.
func justify(left, right bool) stringMethod {
	return func(s string, c *Call) (Value, error) {
		width, err := intArg(c, 0, "width", 0)
		if err != nil {
			return nil, err
		}
		fill, err := strArg(c, 1, "fillchar", " ")
		switch {
		case err == nil && utf8.RuneCountInString(fill) != 1:
			err = errors.New("the fill character must be exactly one character long")
		case width > maxString:
			err = errString
		}
		n := int(min(width, maxString)) - utf8.RuneCountInString(s)
		if err != nil || n <= 0 {
			return s, err
		}
		l, r := 0, 0
		switch {
		case left && right:
			l = n/2 + n&int(width)&1
			r = n - l
		case left:
			l = n
		case right:
			r = n
		}
		return strings.Repeat(fill, l) + s + strings.Repeat(fill, r), nil
	}
}

var stringMethods map[string]stringMethod

func init() {
	stringMethods = map[string]stringMethod{
		"strip": stripper(strings.TrimFunc), "lstrip": stripper(strings.TrimLeftFunc), "rstrip": stripper(strings.TrimRightFunc),
		"startswith": affixMethod(strings.HasPrefix), "endswith": affixMethod(strings.HasSuffix),
		"upper": mapMethod(strings.ToUpper), "lower": mapMethod(strings.ToLower), "title": mapMethod(title), "capitalize": mapMethod(capitalize),
		"casefold": mapMethod(strings.ToLower), "swapcase": mapMethod(swapcase),
		"find": finder(strings.Index, false), "rfind": finder(strings.LastIndex, false),
		"index": finder(strings.Index, true), "rindex": finder(strings.LastIndex, true),
		"isdigit": testMethod(unicode.IsDigit), "isnumeric": testMethod(unicode.IsNumber), "isdecimal": testMethod(unicode.IsDigit), "isalpha": testMethod(unicode.IsLetter),
		"isalnum": testMethod(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }), "isspace": testMethod(pySpace),
		"isupper": caseMethod(unicode.IsUpper, unicode.IsLower), "islower": caseMethod(unicode.IsLower, unicode.IsUpper),
		"ljust": justify(false, true), "rjust": justify(true, false), "center": justify(true, true),
		"split": split, "rsplit": rsplit, "splitlines": splitlines, "join": joinStrings, "replace": replaceString, "count": countString,
		"format": formatString, "zfill": zfill, "partition": partition(strings.Index, false), "rpartition": partition(strings.LastIndex, true),
		"removeprefix": func(s string, c *Call) (Value, error) {
			x, err := strArg(c, 0, "prefix", "")
			return strings.TrimPrefix(s, x), err
		},
		"removesuffix": func(s string, c *Call) (Value, error) {
			x, err := strArg(c, 0, "suffix", "")
			return strings.TrimSuffix(s, x), err
		},
		"expandtabs": expandTabs, "istitle": isTitle,
		"encode": func(s string, _ *Call) (Value, error) { return s, nil },
	}
}

// expandTabs replaces tabs by blanks up to the next column that is a multiple of tabsize.
func expandTabs(s string, c *Call) (Value, error) {
	size, err := intArg(c, 0, "tabsize", 8)
	if err != nil {
		return nil, err
	}
	if size > 0 && int64(strings.Count(s, "\t")) > maxString/size {
		return nil, errString
	}
	var b strings.Builder
	column := int64(0)
	for _, r := range s {
		switch {
		case r == '\t' && size > 0:
			n := size - column%size
			b.WriteString(strings.Repeat(" ", int(n)))
			column += n
		case r == '\t':
		default:
			b.WriteRune(r)
			if column++; r == '\n' || r == '\r' {
				column = 0
			}
		}
	}
	return b.String(), nil
}

// isTitle reports whether every word begins with a capital letter and continues with small ones.
func isTitle(s string, _ *Call) (Value, error) {
	found, inside := false, false
	for _, r := range s {
		upper := unicode.IsUpper(r) || unicode.IsTitle(r)
		switch lower := unicode.IsLower(r); {
		case upper && inside, lower && !inside:
			return false, nil
		case upper:
			found, inside = true, true
		case !lower:
			inside = false
		}
	}
	return found, nil
}

func partition(index func(s, sep string) int, last bool) stringMethod {
	return func(s string, c *Call) (Value, error) {
		sep, err := strArg(c, 0, "sep", "")
		if err != nil || sep == "" {
			return nil, fmt.Errorf("empty separator")
		}
		k := index(s, sep)
		switch {
		case k >= 0:
			return Tuple{s[:k], sep, s[k+len(sep):]}, nil
		case last:
			return Tuple{"", "", s}, nil
		}
		return Tuple{s, "", ""}, nil
	}
}

func zfill(s string, c *Call) (Value, error) {
	width, err := intArg(c, 0, "width", 0)
	if width > maxString {
		return nil, errString
	}
	n := int(min(width, maxString)) - utf8.RuneCountInString(s)
	if err != nil || n <= 0 {
		return s, err
	}
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1] + strings.Repeat("0", n) + s[1:], nil
	}
	return strings.Repeat("0", n) + s, nil
}

func texts(parts []string) *List {
	l := &List{Items: make([]Value, 0, len(parts))}
	for _, p := range parts {
		l.Items = append(l.Items, p)
	}
	return l
}

func split(s string, c *Call) (Value, error) {
	limit, err := intArg(c, 1, "maxsplit", -1)
	if err != nil {
		return nil, err
	}
	if c.Arg(0, "sep", nil) == nil {
		var parts []string
		rest := strings.TrimLeftFunc(s, pySpace)
		for rest != "" {
			if len(parts) == maxItems {
				return nil, errItems
			}
			k := strings.IndexFunc(rest, pySpace)
			if k < 0 || limit >= 0 && int64(len(parts)) >= limit {
				parts = append(parts, strings.TrimRightFunc(rest, pySpace))
				break
			}
			parts = append(parts, rest[:k])
			rest = strings.TrimLeftFunc(rest[k:], pySpace)
		}
		return texts(parts), nil
	}
	sep, err := strArg(c, 0, "sep", "")
	if err != nil || sep == "" {
		return nil, fmt.Errorf("empty separator")
	}
	n := -1
	if limit >= 0 {
		n = int(min(limit, 1<<30)) + 1
	}
	if (n < 0 || n > maxItems) && strings.Count(s, sep) >= maxItems {
		return nil, errItems
	}
	return texts(strings.SplitN(s, sep, n)), nil
}

func rsplit(s string, c *Call) (Value, error) {
	limit, err := intArg(c, 1, "maxsplit", -1)
	if err != nil {
		return nil, err
	}
	if limit < 0 {
		return split(s, c)
	}
	sep, err := strArg(c, 0, "sep", "")
	if err != nil || sep == "" {
		return nil, fmt.Errorf("rsplit with a limit needs a separator")
	}
	var parts []string
	for ; limit > 0; limit-- {
		k := strings.LastIndex(s, sep)
		if k < 0 {
			break
		}
		if len(parts) == maxItems {
			return nil, errItems
		}
		parts = append(parts, s[k+len(sep):])
		s = s[:k]
	}
	parts = append(parts, s)
	slices.Reverse(parts)
	return texts(parts), nil
}

func splitlines(s string, c *Call) (Value, error) {
	keep := truth(c.Arg(0, "keepends", false))
	var parts []string
	for s != "" {
		if len(parts) == maxItems {
			return nil, errItems
		}
		k := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if k < 0 {
			parts = append(parts, s)
			break
		}
		_, w := utf8.DecodeRuneInString(s[k:])
		if strings.HasPrefix(s[k:], "\r\n") {
			w = 2
		}
		if keep {
			parts = append(parts, s[:k+w])
		} else {
			parts = append(parts, s[:k])
		}
		s = s[k+w:]
	}
	return texts(parts), nil
}

func joinStrings(s string, c *Call) (Value, error) {
	list, err := items(c.Arg(0, "iterable", nil))
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(list))
	for i, v := range list {
		x, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("sequence item %d: expected a string, %s found", i, typeName(v))
		}
		parts[i] = x
	}
	return joinWithin(parts, s)
}

func replaceString(s string, c *Call) (Value, error) {
	from, err := strArg(c, 0, "old", "")
	if err != nil {
		return nil, err
	}
	to, err := strArg(c, 1, "new", "")
	if err != nil {
		return nil, err
	}
	n, err := intArg(c, 2, "count", -1)
	if err != nil {
		return nil, err
	}
	return replaceWithin(s, from, to, int(n))
}

func countString(s string, c *Call) (Value, error) {
	x, err := strArg(c, 0, "sub", "")
	return int64(strings.Count(s, x)), err
}

// formatString implements str.format with plain fields: {}, {0}, {name}.
func formatString(s string, c *Call) (Value, error) {
	var b strings.Builder
	next := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "}}"):
			b.WriteByte(s[i])
			i++
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return nil, fmt.Errorf("expected '}' before end of string")
			}
			field := s[i+1 : i+end]
			i += end
			var v Value
			n, err := atoi(field)
			if field == "" {
				n, err = int64(next), nil
				next++
			}
			named, ok := c.Named[field]
			switch {
			case err == nil && n >= 0 && n < int64(len(c.Args)):
				v = c.Args[n]
			case err != nil && ok:
				v = named
			default:
				return nil, fmt.Errorf("unsupported format field %q; allowed are {}, {0} and {name} of an argument", field)
			}
			text := Str(v)
			if b.Len()+len(text) > maxString {
				return nil, errString
			}
			b.WriteString(text)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// title implements str.title: every run of letters begins with a capital.
func title(s string) string {
	in := false
	return strings.Map(func(r rune) rune {
		letter := unicode.IsLetter(r)
		defer func() { in = letter }()
		switch {
		case letter && !in:
			return unicode.ToTitle(r)
		case letter:
			return unicode.ToLower(r)
		}
		return r
	}, s)
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[n:])
}

func swapcase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}
