package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// source is a file before its expressions are computed. The cells of a sweep are built from it if their values occur in expressions or variables.
type source struct {
	root        *yaml.Node // in the layout of a Run, without variables
	vars        *yaml.Node // nil if there are none
	templated   bool
	environment Environment
	loaded      *yaml.Node     // the body of the first cell from the file alone; nil before TakeFirst
	given       []string       // paths in the body of values that flags set
	lines       map[string]int // lines of the keys in the file
	idle        []string       // notes on keys without effect, each with its line
}

// newSource prepares a tree: it substitutes environment variables and expands short forms. flat means that the body was at the top level.
func newSource(root *yaml.Node, environment Environment, getenv Getenv) (s *source, flat bool, err error) {
	snake(root)
	if wrong := substitute(root, "", getenv); len(wrong) > 0 {
		return nil, false, errors.New(strings.Join(wrong, "\n"))
	}
	if flat, err = normalise(root); err != nil {
		return nil, false, err
	}
	if vars := step(root, "variables"); vars != nil && vars.Kind != yaml.MappingNode && vars.ShortTag() != "!!null" {
		return nil, false, fmt.Errorf("line %d: variables: want a mapping of names to values", vars.Line)
	}
	idle := dropIdle(root)
	s = &source{root: root, idle: idle, vars: removeKey(root, "variables"), environment: environment}
	s.templated = s.vars != nil || hasTemplates(root)
	return s, flat, nil
}

// build reads a run after changing its source; a nil change does nothing. root is the tree of the run.
func (s *source) build(change func(root, vars *yaml.Node) error) (run *Run, root *yaml.Node, err error) {
	root, vars := copyNode(s.root), copyNode(s.vars)
	if vars == nil {
		vars = mapping()
	}
	if change != nil {
		if err := change(root, vars); err != nil {
			return nil, nil, err
		}
	}
	if s.templated || len(vars.Content) > 0 {
		if err := render(root, vars); err != nil {
			return nil, nil, err
		}
	}
	if _, err := normalise(root); err != nil { // computed or changed values may have a short form
		return nil, nil, err
	}
	if wrong := misfits(root, reflect.TypeFor[Run](), ""); len(wrong) > 0 {
		return nil, nil, errors.New(strings.Join(wrong, "\n"))
	}
	run = Default()
	run.Environment = s.environment
	if err := root.Decode(run); err != nil {
		return nil, nil, plainYAMLError(err)
	}
	run.source, run.variables = s, vars
	return run, root, missing(step(root, "benchmark"))
}

// copyNode copies a tree; it returns nil for nil.
func copyNode(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i := range n.Content {
		c.Content[i] = copyNode(n.Content[i])
	}
	return &c
}

// merge merges one tree into another: mappings key by key, and lists whose entries all have names entry by entry. Any other value replaces the old
// one, and so does a distribution of another kind.
func merge(under, over *yaml.Node) {
	switch was, is := kindOf(under), kindOf(over); {
	case is != "" && was != "" && is != was:
		*under = *copyNode(over)
	case under.Kind == yaml.MappingNode && over.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(over.Content); i += 2 {
			key, value := over.Content[i].Value, over.Content[i+1]
			if have := step(under, key); have != nil {
				merge(have, value)
			} else {
				add(under, key, copyNode(value))
			}
		}
	case under.Kind == yaml.SequenceNode && over.Kind == yaml.SequenceNode && allNamed(under) && allNamed(over):
		for _, entry := range over.Content {
			if have := step(under, step(entry, "name").Value); have != nil {
				merge(have, entry)
			} else {
				under.Content = append(under.Content, copyNode(entry))
			}
		}
	default:
		line := under.Line
		*under = *copyNode(over)
		under.Line = max(line, over.Line)
	}
}

// kindOf returns the key that identifies the kind of a distribution; "" if a mapping is not a distribution.
func kindOf(n *yaml.Node) string {
	for _, key := range []string{"peaks", "points", "value", "median", "mean"} {
		if v := step(n, key); n.Kind == yaml.MappingNode && v != nil && v.ShortTag() != "!!null" {
			return key
		}
	}
	return ""
}

func allNamed(n *yaml.Node) bool {
	return len(n.Content) > 0 && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool {
		return c.Kind != yaml.MappingNode || step(c, "name") == nil
	})
}

// difference returns the tree that, merged into one tree, gives another one; nil if they are equal. A key that only the first tree has becomes null.
func difference(from, to *yaml.Node) *yaml.Node {
	switch {
	case from.Kind == yaml.MappingNode && to.Kind == yaml.MappingNode:
		out := mapping()
		for i := 0; i+1 < len(to.Content); i += 2 {
			key, value := to.Content[i].Value, to.Content[i+1]
			if have := step(from, key); have == nil {
				add(out, key, copyNode(value))
			} else if d := difference(have, value); d != nil {
				add(out, key, d)
			}
		}
		for i := 0; i+1 < len(from.Content); i += 2 {
			if key := from.Content[i].Value; step(to, key) == nil {
				add(out, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"})
			}
		}
		if len(out.Content) == 0 {
			return nil
		}
		return out
	case from.Kind == yaml.SequenceNode && to.Kind == yaml.SequenceNode && namesAlike(from, to):
		out := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := range to.Content {
			if d := difference(from.Content[i], to.Content[i]); d != nil {
				d.Content = append([]*yaml.Node{text("name"), copyNode(step(to.Content[i], "name"))}, d.Content...)
				out.Content = append(out.Content, d)
			}
		}
		if len(out.Content) == 0 {
			return nil
		}
		return out
	}
	if same(from, to) {
		return nil
	}
	return copyNode(to)
}

// namesAlike reports whether two lists have entries with the same names in the same order.
func namesAlike(a, b *yaml.Node) bool {
	if len(a.Content) != len(b.Content) || !allNamed(a) || !allNamed(b) {
		return false
	}
	for i := range a.Content {
		if step(a.Content[i], "name").Value != step(b.Content[i], "name").Value {
			return false
		}
	}
	return true
}
