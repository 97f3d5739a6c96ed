package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

const (
	deepest  = 100     // nesting of a file
	mostSaid = 100_000 // values of a file with its aliases written out: a small file could become a huge one
)

// plainTags are the kinds of values of a configuration. A date is a text.
var plainTags = []string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge"}

// plainTree writes a file out in full: aliases become copies of what they name, and merged mappings keys of their own. It refuses what a
// configuration has no use for: endless nesting, aliases without end, keys that are there twice, and values of other kinds.
type plainTree struct {
	said int
	open []*yaml.Node // whose members are written out now
}

// spell writes a node out.
func (p *plainTree) spell(n *yaml.Node, depth int) error {
	if p.said++; p.said > mostSaid {
		return fmt.Errorf("line %d: with its aliases written out the file holds more than %d values", n.Line, mostSaid)
	}
	if depth > deepest {
		return fmt.Errorf("line %d: nested more than %d deep", n.Line, deepest)
	}
	if n.Kind == yaml.AliasNode {
		if slices.Contains(p.open, n.Alias) {
			return fmt.Errorf("line %d: the alias *%s is part of what it names", n.Line, n.Value)
		}
		p.open = append(p.open, n.Alias)
		defer func() { p.open = p.open[:len(p.open)-1] }()
		line := n.Line
		*n = *copyNode(n.Alias)
		n.Line = line
	}
	n.Anchor = ""
	if tag := n.ShortTag(); !slices.Contains(plainTags, tag) {
		return fmt.Errorf("line %d: values of kind %s are not read", n.Line, tag)
	}
	if err := once(n); err != nil {
		return err
	}
	p.open = append(p.open, n)
	defer func() { p.open = p.open[:len(p.open)-1] }()
	for _, c := range n.Content {
		if err := p.spell(c, depth+1); err != nil {
			return err
		}
	}
	return mergeIn(n)
}

// once refuses a key that is there twice.
func once(n *yaml.Node) error {
	keys := map[string]int{}
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		c := n.Content[i]
		if line, twice := keys[c.Value]; twice && c.Kind == yaml.ScalarNode {
			return fmt.Errorf("line %d, column %d: the key %s is there twice, first in line %d", c.Line, c.Column, c.Value, line)
		}
		keys[c.Value] = c.Line
	}
	return nil
}

// mergeIn puts the keys of merged mappings (<<: …) behind those of a mapping that has them not; of several mappings the first one wins.
func mergeIn(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, from := n.Content[i], n.Content[i+1]
		if key.ShortTag() != "!!merge" {
			continue
		}
		n.Content = slices.Delete(n.Content, i, i+2)
		list := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			list = from.Content
		}
		for _, one := range list {
			if one.Kind != yaml.MappingNode {
				return fmt.Errorf("line %d: << wants a mapping, or a list of them", key.Line)
			}
			for k := 0; k+1 < len(one.Content); k += 2 {
				if step(n, one.Content[k].Value) == nil {
					n.Content = append(n.Content, copyNode(one.Content[k]), copyNode(one.Content[k+1]))
				}
			}
		}
		return nil
	}
	return nil
}
