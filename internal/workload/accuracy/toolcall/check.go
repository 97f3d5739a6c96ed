package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Beginnings of explanations.
const (
	Correct      = "correct"
	WrongTool    = "wrong_tool"
	WrongType    = "param_type_error"
	WrongValue   = "param_value_error"
	NoCallWanted = "should_not_have_called"
	CallWanted   = "should_have_called"
	Unparsed     = "unparsed"
	Unclassified = "unclassified"
)

// Gold is the expected answer.
type Gold struct {
	Category  string                      `json:"category"` // category of the problem, for example simple_java
	Functions []Function                  `json:"functions"`
	Answers   []map[string]map[string]any `json:"answers"` // one entry per call: function -> argument -> correct values; "" = may be omitted
}

// Function describes a callable function.
type Function struct {
	Name       string `json:"name"`
	Parameters struct {
		Properties map[string]Property `json:"properties"`
		Required   []string            `json:"required"`
	} `json:"parameters"`
}

// Property describes an argument.
type Property struct {
	Type  string    `json:"type"`
	Items *Property `json:"items"`
}

// ReadGold parses the expected answer.
func ReadGold(text string) (*Gold, error) {
	g := &Gold{}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(g); err != nil {
		return nil, fmt.Errorf("gold: %w", err)
	}
	return g, nil
}

// Expected returns the expected answer as JSON.
func (g *Gold) Expected() string {
	b, err := json.Marshal(g.Answers)
	if err != nil || g.Answers == nil {
		return "[]"
	}
	return string(b)
}

// language returns the language of the calls.
func (g *Gold) language() string {
	switch {
	case strings.HasSuffix(g.Category, "_java"):
		return "java"
	case strings.HasSuffix(g.Category, "_javascript"):
		return "javascript"
	}
	return "python"
}

// Parse parses the calls of an answer; the surrounding brackets may be missing.
func Parse(answer, language string) ([]Call, error) {
	text := strings.Trim(answer, "`\n ")
	if !strings.HasPrefix(text, "[") {
		text = "[" + text
	}
	if !strings.HasSuffix(text, "]") {
		text += "]"
	}
	if language == "python" {
		return parsePython(text)
	}
	return parseScript(text[1 : len(text)-1])
}

// Judge reports whether an answer is correct, and whether it could not be parsed. why gives the reason and begins with one of the constants.
func (g *Gold) Judge(answer string) (passed, unparsed bool, why string) {
	if relevance := strings.HasSuffix(g.Category, "relevance"); relevance {
		calls, err := Parse(answer, "python")
		called := err == nil && len(calls) > 0
		switch wanted := !strings.HasSuffix(g.Category, "irrelevance"); {
		case strings.TrimSpace(answer) == "":
			return !wanted, true, Unparsed + ": the answer is empty"
		case called == wanted:
			return true, false, Correct
		case wanted:
			return false, false, CallWanted + ": the answer has no call"
		}
		return false, false, NoCallWanted + ": no call was expected, but " + calls[0].Name + " is called"
	}
	calls, err := Parse(answer, g.language())
	if err != nil {
		return false, true, Unparsed + ": " + err.Error()
	}
	if len(calls) == 0 && len(g.Answers) > 0 {
		return false, false, CallWanted + ": the answer has no call"
	}
	if len(calls) != len(g.Answers) {
		return false, false, fmt.Sprintf("%s: %d calls, expected %d", WrongTool, len(calls), len(g.Answers))
	}
	if why := g.match(calls); why != "" {
		return false, false, why
	}
	return true, false, Correct
}

// match pairs calls with the expected ones, in any order; "" = each has a partner.
func (g *Gold) match(calls []Call) string {
	taken := make([]bool, len(calls))
	for _, answer := range g.Answers {
		why, found := WrongTool+": no call to "+strings.Join(names(answer), ", "), false
		for i, c := range calls {
			if taken[i] {
				continue
			}
			fault := g.check(c, answer)
			if fault == "" {
				taken[i], found = true, true
				break
			}
			if !strings.HasPrefix(fault, WrongTool) { // the closest expected call gives the best explanation
				why = fault
			}
		}
		if !found {
			return why
		}
	}
	return ""
}

func names(answer map[string]map[string]any) (list []string) {
	for name := range answer {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// check compares one call with one expected call; "" = correct.
func (g *Gold) check(c Call, answer map[string]map[string]any) string {
	wanted := names(answer)
	if len(wanted) != 1 {
		return Unclassified + ": the expected answer names no function"
	}
	at := slices.IndexFunc(g.Functions, func(f Function) bool { return f.Name == wanted[0] })
	if at < 0 {
		return Unclassified + ": the expected answer names an undescribed function"
	}
	f, allowed := &g.Functions[at], answer[wanted[0]]
	if c.Name != f.Name {
		return fmt.Sprintf("%s: %s is called, expected %s", WrongTool, c.Name, f.Name)
	}
	for _, name := range f.Parameters.Required {
		if _, ok := c.Args.get(name); !ok {
			return fmt.Sprintf("%s: %s is missing", WrongValue, name)
		}
	}
	for _, arg := range c.Args {
		name, _ := arg.key.(string)
		p, described := f.Parameters.Properties[name]
		values, ok := allowed[name]
		if !ok || !described {
			return fmt.Sprintf("%s: %q is not an argument", WrongValue, name)
		}
		list, _ := fromJSON(values).([]any)
		if why := g.value(name, arg.value, &p, list); why != "" {
			return why
		}
	}
	for _, name := range sorted(allowed) {
		values, _ := allowed[name].([]any)
		if _, given := c.Args.get(name); !given && !slices.Contains(values, any("")) {
			return fmt.Sprintf("%s: %s is missing", WrongValue, name)
		}
	}
	return ""
}

func sorted(m map[string]any) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// kinds maps the types in descriptions to those of Python.
var kinds = map[string]string{
	"string": "str", "integer": "int", "float": "float", "boolean": "bool", "array": "list", "tuple": "list", "dict": "dict", "any": "str",
	"byte": "int", "short": "int", "double": "float", "long": "int", "char": "str", "Array": "list", "ArrayList": "list", "Set": "set", "HashMap": "dict",
	"Hashtable": "dict", "Queue": "list", "Stack": "list", "String": "str", "Bigint": "int", "Boolean": "bool",
}

// value checks one argument against the correct values; "" = correct.
func (g *Gold) value(name string, v any, p *Property, allowed []any) string {
	nested := ""
	if p.Items != nil && (p.Type == "array" || p.Type == "tuple" || p.Type == "Array" || p.Type == "ArrayList") {
		nested = p.Items.Type
	}
	if language := g.language(); language != "python" {
		text, ok := v.(string)
		if !ok {
			return fmt.Sprintf("%s: %s is not a text", WrongType, name)
		}
		v = scriptValue(language, text, p.Type, nested)
	} else if n := numeric(v); p.Type == "float" && kind(v) == "int" {
		f, _ := n.Float64()
		v = f
	}
	if t, ok := v.(tuple); ok && p.Type == "tuple" {
		v = []any(t)
	}
	wanted := kinds[p.Type]
	variable, ok := typed(v, wanted, kinds[nested], allowed)
	if !ok {
		return fmt.Sprintf("%s: %s has the type %s, expected %s", WrongType, name, kind(v), p.Type)
	}
	if matchesAny(v, wanted, kinds[nested], allowed, variable) {
		return ""
	}
	return fmt.Sprintf("%s: %s is %s, which is not an accepted value", WrongValue, name, show(v))
}

// typed reports whether a value has the described type. A variable in its place may have the type of the correct values.
func typed(v any, wanted, nested string, allowed []any) (variable, ok bool) {
	first := ""
	for _, a := range allowed {
		if a != any("") {
			first = kind(a)
			break
		}
	}
	variable = first != "" && first != wanted
	if kind(v) == wanted {
		list, isList := v.([]any)
		if nested == "" || !isList {
			return variable, true
		}
		for _, a := range allowed {
			possible, isList := a.([]any)
			if !isList || !slices.ContainsFunc(list, func(e any) bool { _, ok := typed(e, nested, "", possible); return !ok }) {
				return variable, true
			}
		}
		return false, false
	}
	if first != "" && kind(v) == first {
		return true, true
	}
	return false, false
}

// matchesAny reports whether a value is among the correct ones.
func matchesAny(v any, wanted, nested string, allowed []any, variable bool) bool {
	if !variable {
		switch d := v.(type) {
		case dict:
			return slices.ContainsFunc(allowed, func(a any) bool { return a != any("") && sameDict(d, a) })
		case []any:
			if nested == "dict" {
				return slices.ContainsFunc(allowed, func(a any) bool { return sameDicts(d, a) })
			}
			return in(stripIgnored(d), stripIgnoredAll(allowed))
		case string:
			if wanted == "str" {
				return in(stripIgnored(d), stripIgnoredAll(allowed))
			}
		}
	}
	return in(v, allowed)
}

// sameDict compares a dictionary with one whose values are lists of correct values.
func sameDict(d dict, a any) bool {
	possible, ok := a.(dict)
	if !ok {
		return false
	}
	for _, p := range d {
		key, _ := p.key.(string)
		values, ok := possible.get(key)
		list, _ := values.([]any)
		if !ok || !in(stripIgnored(p.value), stripIgnoredAll(list)) {
			return false
		}
	}
	for _, p := range possible {
		key, _ := p.key.(string)
		list, _ := p.value.([]any)
		if _, given := d.get(key); !given && !in("", list) {
			return false
		}
	}
	return true
}

func sameDicts(list []any, a any) bool {
	possible, ok := a.([]any)
	if !ok || len(possible) != len(list) {
		return false
	}
	for i := range list {
		d, ok := list[i].(dict)
		if !ok || !sameDict(d, possible[i]) {
			return false
		}
	}
	return true
}

// unimportant removes the characters that are ignored in comparisons.
var unimportant = strings.NewReplacer(" ", "", ",", "", ".", "", "/", "", "-", "", "_", "", "*", "", "^", "", "'", "\"")

// stripIgnored returns a text, or a list of texts, without the characters that are ignored in comparisons.
func stripIgnored(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ToLower(unimportant.Replace(v))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			if out[i] = v[i]; kind(v[i]) == "str" {
				out[i] = stripIgnored(v[i])
			}
		}
		return out
	}
	return v
}

func stripIgnoredAll(list []any) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = stripIgnored(list[i])
	}
	return out
}

func show(v any) string {
	s := []rune(fmt.Sprint(v))
	if len(s) > 80 {
		return string(s[:80]) + "…"
	}
	return string(s)
}
