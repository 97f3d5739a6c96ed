package config

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/suggest"
)

// set sets the value at a dotted path. Datasets and phases are selected by name or number.
func (r *Run) set(path string, v any) error {
	var body yaml.Node
	if err := body.Encode(&r.Benchmark); err != nil {
		return err
	}
	n := &body
	if path == "model" || path == "models" {
		path = "models.items.0.name"
	}
	made := false // the key was missing, because its value is the default
	for part := range strings.SplitSeq(path, ".") {
		if part == "mean" {
			rename(n, "value", part) // a fixed length, written as a number
		}
		next := step(n, part)
		if next == nil && n.Kind == yaml.MappingNode {
			next, made = mapping(), true
			add(n, part, next)
		}
		if next == nil {
			return fmt.Errorf("sweep.parameters: there is no key %s in %s%s", part, path, nearName(part, namesIn(n)))
		}
		n = next
	}
	style := yaml.Node{}
	if err := style.Encode(v); err != nil {
		return err
	}
	*n = style
	if wrong := misfits(&body, reflect.TypeFor[Benchmark](), ""); made && len(wrong) > 0 {
		return noKey(path, wrong[0])
	} else if fractional(n) && len(wrong) > 0 {
		return fmt.Errorf("sweep.parameters.%s: %s is not an integer", path, n.Value)
	}
	if made { // a section that a cell adds starts with its defaults
		root := mapping()
		add(root, "benchmark", &body)
		if _, err := normalise(root); err != nil {
			return err
		}
	}
	r.Benchmark = Benchmark{Spelling: r.Spelling, variables: r.variables}
	if err := body.Decode(&r.Benchmark); err != nil {
		return fmt.Errorf("sweep.parameters.%s: %s", path, strings.TrimPrefix(plainYAMLError(err).Error(), "line 0: "))
	}
	return nil
}

// noKey returns the error for a path whose last key a file does not know. wrong is the misfit, which may suggest a key. A path of one word may also be
// meant as a key of the measured phase.
func noKey(path, wrong string) error {
	hint := ""
	if i := strings.LastIndex(wrong, "; did you mean "); i >= 0 {
		hint = wrong[i:]
	}
	key := path[strings.LastIndexByte(path, '.')+1:]
	if key == path {
		return fmt.Errorf("sweep.parameters: there is no key %s%s", path, cmp.Or(nearName(path, shortAxes()), hint))
	}
	return fmt.Errorf("sweep.parameters: there is no key %s in %s%s", key, path, hint)
}

// nearName suggests the name that a word stands for; "" = none is near.
func nearName(word string, names []string) string {
	if near := suggest.Name(word, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// namesIn returns the names of the entries of a list.
func namesIn(n *yaml.Node) (names []string) {
	for _, entry := range entries(n) {
		if name := step(entry, "name"); name != nil {
			names = append(names, name.Value)
		}
	}
	return names
}

// step returns the child of a node at one part of a path; nil if there is none.
func step(n *yaml.Node, part string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		for i, entry := range n.Content {
			if name := step(entry, "name"); name != nil && entry.Kind == yaml.MappingNode && name.Value == part || strconv.Itoa(i) == part {
				return entry
			}
		}
	}
	return nil
}
