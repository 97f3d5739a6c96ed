package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// unknownKeys lists the keys of a tree that a type does not have, each with its line and path. Types that read themselves check their
// own keys.
func unknownKeys(n *yaml.Node, t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
		return nil
	}
	var wrong []string
	switch {
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			wrong = append(wrong, unknownKeys(c, t.Elem(), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		fields := map[string]reflect.Type{}
		for i := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			fields[key] = t.Field(i).Type
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			if f, ok := fields[key.Value]; ok {
				wrong = append(wrong, unknownKeys(n.Content[i+1], f, at)...)
				continue
			}
			var known []string
			for k := range fields {
				known = append(known, k)
			}
			slices.Sort(known)
			wrong = append(wrong, fmt.Sprintf("line %d: unknown key %s; known here are %s", key.Line, at, strings.Join(known, ", ")))
		}
	}
	return wrong
}
