package jinja

import (
	"fmt"
	"strconv"
	"strings"
)

// printf evaluates format % args.
func printf(format string, args Value) (string, error) {
	list, many := args.(Tuple)
	dict, _ := args.(*Dict)
	if !many {
		list = Tuple{args}
	}
	var b strings.Builder
	used := 0
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		i++
		v, named, name, err := namedValue(format[i:], dict)
		if err != nil {
			return "", err
		}
		i += name
		begin := i
		for i < len(format) && strings.IndexByte("-+ #0123456789.", format[i]) >= 0 {
			i++
		}
		if i >= len(format) {
			return "", fmt.Errorf("incomplete format")
		}
		spec, verb := format[begin:i], format[i]
		if verb == '%' {
			b.WriteByte('%')
			continue
		}
		if len(spec) > 8 {
			return "", fmt.Errorf("format %%%s is too wide", spec)
		}
		if !named {
			if used >= len(list) {
				return "", fmt.Errorf("not enough arguments for format string")
			}
			v = list[used]
			used++
		}
		s, err := directive(spec, verb, v)
		if err != nil {
			return "", err
		}
		if b.Len()+len(s) > maxString {
			return "", errString
		}
		b.WriteString(s)
	}
	if used < len(list) && (many || !keyed(args)) {
		return "", fmt.Errorf("not all arguments converted during string formatting")
	}
	return b.String(), nil
}

// directive formats one value.
func directive(spec string, verb byte, v Value) (string, error) {
	switch verb {
	case 's':
		if spec == "" {
			return Str(v), nil
		}
		return fmt.Sprintf("%"+spec+"s", Str(v)), nil
	case 'r':
		return fmt.Sprintf("%"+spec+"s", repr(v)), nil
	case 'd', 'i', 'u', 'x', 'X', 'o', 'c':
		x, ok := number(v)
		if s, isString := v.(string); isString && verb == 'c' {
			return fmt.Sprintf("%"+spec+"s", s), nil
		}
		if !ok {
			return "", fmt.Errorf("%%%c format: a number is required, not %s", verb, typeName(v))
		}
		if verb == 'i' || verb == 'u' {
			verb = 'd'
		}
		if n, ok := integer(v); ok {
			return fmt.Sprintf("%"+spec+string(verb), n), nil
		}
		return fmt.Sprintf("%"+spec+string(verb), int64(x)), nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		x, ok := number(v)
		if !ok {
			return "", fmt.Errorf("%%%c format: a number is required, not %s", verb, typeName(v))
		}
		if verb == 'g' && !strings.Contains(spec, ".") {
			return pad(spec, strconv.FormatFloat(x, 'g', 6, 64)), nil
		}
		if (verb == 'e' || verb == 'E') && !strings.Contains(spec, ".") {
			spec += ".6"
		}
		return fmt.Sprintf("%"+spec+string(verb), x), nil
	}
	return "", fmt.Errorf("unsupported format character %q", verb)
}

func pad(spec, s string) string { return fmt.Sprintf("%"+strings.Trim(spec, "+# ")+"s", s) }

// namedValue returns the value that a directive names in parentheses, and the length of that name; named is false if there is no name.
func namedValue(directive string, dict *Dict) (v Value, named bool, length int, err error) {
	if !strings.HasPrefix(directive, "(") {
		return nil, false, 0, nil
	}
	end := strings.IndexByte(directive, ')')
	if end < 0 || dict == nil {
		return nil, false, 0, fmt.Errorf("format requires a mapping")
	}
	v, ok := dict.Get(directive[1:end])
	if !ok {
		return nil, false, 0, fmt.Errorf("the format uses %q, which is not given", directive[1:end])
	}
	return v, true, end + 1, nil
}

// keyed reports whether a format may leave the value out: Python does not ask for it if its items have keys or positions.
func keyed(v Value) bool {
	switch v.(type) {
	case *Dict, *List, Undefined:
		return true
	}
	return false
}
