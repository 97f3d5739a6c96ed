package toolcall

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"aiperf/internal/base/lazyregexp"
)

// parseScript parses the single call of an answer in Java or JavaScript. Its arguments are assignments, whose values stay text.
func parseScript(text string) ([]Call, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	open := strings.IndexByte(text, '(')
	if open < 0 || !strings.HasSuffix(text, ")") || !scriptName.MatchString(strings.TrimSpace(text[:open])) {
		return nil, errors.New("not a call of the form name(argument=value, …)")
	}
	parts, err := split(text[open+1 : len(text)-1])
	if err != nil {
		return nil, err
	}
	c := Call{Name: strings.TrimPrefix(strings.TrimSpace(text[:open]), "new ")}
	for _, part := range parts {
		name, value, ok := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); !ok || !scriptName.MatchString(name) {
			name, value = "", part
		}
		if _, twice := c.Args.get(name); twice {
			return nil, errors.New("an argument is given twice")
		}
		c.Args = append(c.Args, pair{name, unquoted(strings.TrimSpace(value))})
	}
	return []Call{c}, nil
}

var scriptName = lazyregexp.New(`^(new\s+)?[\w$]+(\.[\w$]+)*$`)

// unquoted removes the quotes of a string literal.
func unquoted(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] && closing(s) == n-1 {
		return s[1 : n-1]
	}
	return s
}

// closing returns the end of the string literal at the start of s; len(s) = it does not end.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i
		}
	}
	return len(s)
}

// generic matches the type arguments of a Java constructor call, whose commas are not separators.
var generic = lazyregexp.New(`\bnew\s+[\w.]+\s*<[^()]*?>`)

// split splits a list at its commas outside of string literals, brackets and type arguments.
func split(list string) (parts []string, err error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	types := generic.FindAllStringIndex(list, -1)
	depth, from := 0, 0
	for i := 0; i < len(list); i++ {
		if len(types) > 0 && i == types[0][0] {
			i, types = types[0][1]-1, types[1:]
			continue
		}
		switch list[i] {
		case '"', '\'', '`':
			if i += closing(list[i:]); i >= len(list) {
				return nil, errors.New("a string is not closed")
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return nil, errors.New("a closing bracket without an opening one")
			}
		case ',':
			if depth == 0 {
				parts, from = append(parts, list[from:i]), i+1
			}
		}
	}
	if depth != 0 {
		return nil, errors.New("a bracket is not closed")
	}
	return append(parts, list[from:]), nil
}

// form is the notation of a type in a language: the pattern of its values, and the suffix letters of numbers.
type form struct {
	pattern *lazyregexp.Regexp
	suffix  string
	whole   bool
}

var (
	wholeNumber = lazyregexp.New(`^-?\d+$`)
	decimal     = lazyregexp.New(`^-?\d+(\.\d+)?([eE][+-]?\d+)?$`)
	plainPoint  = lazyregexp.New(`^-?\d+(\.\d+)?$`)
)

// forms are the notations of numbers, by language and type.
var forms = map[string]map[string]form{
	"java": {
		"byte": {wholeNumber, "", true}, "short": {wholeNumber, "", true}, "integer": {wholeNumber, "", true},
		"long": {lazyregexp.New(`^-?\d+[lL]$`), "lL", true}, "float": {lazyregexp.New(`^-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$`), "fF", false}, "double": {decimal, "", false},
	},
	"javascript": {"integer": {wholeNumber, "", true}, "float": {plainPoint, "", false}, "Bigint": {lazyregexp.New(`^-?\d+n$`), "n", true}},
}

// scriptValue parses the text of a value as a type of a language. A value that does not match stays text, which then has the wrong type.
func scriptValue(language, text, kind, nested string) any {
	if f, ok := forms[language][kind]; ok {
		if !f.pattern.MatchString(text) {
			return text
		}
		text = strings.TrimRight(text, f.suffix)
		if n, ok := new(big.Int).SetString(text, 10); ok && f.whole {
			return n
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return text
		}
		return v
	}
	switch kind {
	case "boolean", "Boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	case "String":
		return unquoted(text)
	case "Array", "ArrayList", "array":
		return listValue(language, text, nested)
	case "HashMap", "dict":
		return mapValue(language, text)
	}
	return text
}

// listForms are the notations of a list; the elements are the first group that matched.
var listForms = map[string][]*lazyregexp.Regexp{
	"java": {
		lazyregexp.New(`(?s)^new\s+[\w.]+\s*\[\]\s*\{(.*)\}$`),
		lazyregexp.New(`(?s)^new\s+ArrayList\s*<.*?>\s*\(\s*(?:Arrays\.asList|List\.of)\((.*)\)\s*\)$`),
		lazyregexp.New(`(?s)^(?:Arrays\.asList|List\.of)\((.*)\)$`),
		lazyregexp.New(`(?s)^new\s+ArrayList\s*<.*?>\s*\((\s*)\)$`),
	},
	"javascript": {lazyregexp.New(`(?s)^\[(.*)\]$`), lazyregexp.New(`(?s)^new\s+Array\((.*)\)$`)},
}

// added matches the elements of a list that is filled in braces after its creation.
var (
	mapPut = lazyregexp.New(`(?s)^new\s+ArrayList\s*<.*?>\s*\(\s*\)\s*\{\s*\{(.*)\}\s*\}$`)
	added  = lazyregexp.New(`(?s)^add\((.*)\)$`)
)

func listValue(language, text, nested string) any {
	text = strings.TrimSpace(text)
	element := func(e string) any {
		if e = strings.TrimSpace(e); nested == "" || nested == "any" || nested == "array" || nested == "dict" {
			return anyValue(language, e)
		}
		return scriptValue(language, unquoted(e), nested, "")
	}
	out := []any{}
	for _, f := range listForms[language] {
		if m := f.FindStringSubmatch(text); m != nil {
			parts, err := split(m[1])
			if err != nil {
				return text
			}
			for _, e := range parts {
				if strings.TrimSpace(e) != "" {
					out = append(out, element(e))
				}
			}
			return out
		}
	}
	if m := mapPut.FindStringSubmatch(text); m != nil && language == "java" {
		for _, line := range strings.Split(m[1], ";") {
			if a := added.FindStringSubmatch(strings.TrimSpace(line)); a != nil {
				out = append(out, element(a[1]))
			}
		}
		return out
	}
	return text
}

var (
	javaMap  = lazyregexp.New(`(?s)^new\s+HashMap\s*<.*?>\s*\(\s*\)\s*(?:\{\s*(?:\{(.*)\})?\s*\})?$`)
	mapEntry = lazyregexp.New(`(?s)^put\((.*)\)$`)
)

func mapValue(language, text string) any {
	text = strings.TrimSpace(text)
	d := dict{}
	if language == "java" {
		m := javaMap.FindStringSubmatch(text)
		if m == nil {
			return text
		}
		for _, line := range strings.Split(m[1], ";") {
			put := mapEntry.FindStringSubmatch(strings.TrimSpace(line))
			if put == nil {
				continue
			}
			if parts, err := split(put[1]); err == nil && len(parts) == 2 {
				d = append(d, pair{unquoted(strings.TrimSpace(parts[0])), anyValue(language, strings.TrimSpace(parts[1]))})
			}
		}
		return d
	}
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return text
	}
	parts, err := split(text[1 : len(text)-1])
	if err != nil {
		return text
	}
	for _, part := range parts {
		if strings.TrimSpace(part) == "" {
			continue
		}
		at := 0
		if q := strings.TrimLeft(part, " \t\n"); q != "" && (q[0] == '"' || q[0] == '\'') {
			at = len(part) - len(q) + closing(q)
		}
		i := strings.IndexByte(part[min(at, len(part)):], ':')
		if i < 0 {
			return text
		}
		d = append(d, pair{unquoted(strings.TrimSpace(part[:at+i])), anyValue(language, strings.TrimSpace(part[at+i+1:]))})
	}
	return d
}

// anyValue parses a value of an unspecified type.
func anyValue(language, text string) any {
	switch {
	case text == "true" || text == "false":
		return text == "true"
	case len(text) > 0 && (text[0] == '"' || text[0] == '\''):
		return unquoted(text)
	case language == "javascript" && strings.HasPrefix(text, "["):
		return listValue(language, text, "")
	case language == "javascript" && strings.HasPrefix(text, "{"):
		return mapValue(language, text)
	}
	if n, ok := new(big.Int).SetString(strings.TrimRight(text, "lLn"), 10); ok {
		return n
	}
	if f, err := strconv.ParseFloat(strings.TrimRight(text, "fF"), 64); err == nil && decimal.MatchString(strings.TrimRight(text, "fF")) {
		return f
	}
	return text
}
