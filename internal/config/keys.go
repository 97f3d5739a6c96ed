package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/suggest"
)

// misfits lists what of a tree a type has no place for, each with its line and path: unknown keys, and fractions where it has integers,
// which the YAML library would cut. Types that read themselves check their own keys.
func misfits(n *yaml.Node, t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[yaml.Node]() || reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return nil
	}
	var wrong []string
	switch {
	case (t.Kind() == reflect.Int || t.Kind() == reflect.Int64) && fractional(n):
		wrong = append(wrong, fmt.Sprintf("line %d: %s: %s is not an integer", n.Line, path, n.Value))
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			wrong = append(wrong, misfits(c, t.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
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
	}
	return wrong
}

// unknownKey says that a key is none of some fields, and which it may be meant to be.
func unknownKey(key *yaml.Node, at string, fields map[string]reflect.Type) string {
	var known []string
	for k := range fields {
		known = append(known, k)
	}
	slices.Sort(known)
	hint := ""
	if near := suggest.Name(key.Value, known); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return fmt.Sprintf("line %d: unknown key %s%s; known here are %s", key.Line, at, hint, strings.Join(known, ", "))
}

// fractional tells whether a node is a number that is no integer.
func fractional(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!float" {
		return false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	return err == nil && f != math.Trunc(f)
}
