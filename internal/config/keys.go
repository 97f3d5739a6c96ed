package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/suggest"
)

// misfits lists the parts of a tree that do not fit a type, each with its line and path: unknown keys, values of other types, and fractions instead
// of integers, which the YAML library would truncate. It converts quoted numbers and booleans.
func misfits(n *yaml.Node, t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[yaml.Node]() || n.ShortTag() == "!!null" {
		return nil
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return decodeErrors(n, t, path)
	}
	var wrong []string
	switch {
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			wrong = append(wrong, misfits(c, t.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
		return wrong
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		return wrongMembers(n, t, path)
	}
	unquote(n, t.Kind())
	if fractional(n) && (t.Kind() == reflect.Int || t.Kind() == reflect.Int64) {
		return []string{fmt.Sprintf("line %d: %s: %s is not an integer", n.Line, path, n.Value)}
	}
	return decodeErrors(n, t, path)
}

// wrongMembers returns the misfits of a mapping.
func wrongMembers(n *yaml.Node, t reflect.Type, path string) (wrong []string) {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key != "-" && key != "" {
			fields[key] = t.Field(i).Type
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if f, ok := fields[key.Value]; ok {
			wrong = append(wrong, misfits(n.Content[i+1], f, at)...)
		} else {
			wrong = append(wrong, unknownKey(key, at, fields))
		}
	}
	return wrong
}

// decodeErrors returns the errors of decoding a node into a type, with the path after the line. It serves types that decode themselves and plain types
// alike.
func decodeErrors(n *yaml.Node, t reflect.Type, path string) (wrong []string) {
	err := n.Decode(reflect.New(t).Interface())
	if err == nil {
		return nil
	}
	for said := range strings.SplitSeq(plainYAMLError(err).Error(), "; ") {
		line, rest := fmt.Sprintf("line %d", n.Line), said
		if at, what, ok := strings.Cut(said, ": "); ok && strings.HasPrefix(at, "line ") {
			line, rest = at, what
		}
		rest = strings.TrimPrefix(rest, path+": ")
		wrong = append(wrong, fmt.Sprintf("%s: %s: %s", line, path, rest))
	}
	return wrong
}

// unquote converts a quoted number or boolean if the wanted type is one.
func unquote(n *yaml.Node, wanted reflect.Kind) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return
	}
	word := strings.TrimSpace(n.Value)
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: word, Line: n.Line, Column: n.Column}
	switch tag := plain.ShortTag(); {
	case wanted == reflect.Bool && tag == "!!bool",
		(wanted == reflect.Int || wanted == reflect.Int64 || wanted == reflect.Float64) && (tag == "!!int" || tag == "!!float"):
		*n = plain
		n.Tag = tag
	}
}

// unknownKey returns the error for a key that is not among the fields. It suggests the nearest field, or lists all if none is near.
func unknownKey(key *yaml.Node, at string, fields map[string]reflect.Type) string {
	var known []string
	for k := range fields {
		known = append(known, k)
	}
	slices.Sort(known)
	hint := "known here are " + strings.Join(known, ", ")
	if near := suggest.Name(key.Value, known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Sprintf("line %d: unknown key %s; %s", key.Line, at, hint)
}

// fractional reports whether a node is a number but not an integer.
func fractional(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!float" {
		return false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	return err == nil && f != math.Trunc(f)
}
