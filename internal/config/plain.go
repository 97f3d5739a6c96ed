package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

const (
	maxNesting = 100     // maximum nesting of a file
	maxValues  = 100_000 // maximum number of values of a file with expanded aliases: a small file could become a huge one
)

// plainTags are the allowed types of values in a configuration. A date becomes a text.
var plainTags = []string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge"}

// plainTree expands a file: aliases become copies of their targets, and merged mappings become plain keys. It rejects endless nesting, endless
// aliases, duplicate keys, and values of other types.
type plainTree struct {
	count int
	open  []*yaml.Node // nodes being expanded, to detect cycles
}

// spell expands a node.
func (p *plainTree) spell(n *yaml.Node, depth int) error {
	if p.count++; p.count > maxValues {
		return fmt.Errorf("line %d: the file holds more than %d values, with its aliases written out; put a long list of records into another file (dataset.path)", n.Line, maxValues)
	}
	if depth > maxNesting {
		return fmt.Errorf("line %d: nested more than %d deep", n.Line, maxNesting)
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
		return fmt.Errorf("line %d: values of kind %s are not supported", n.Line, tag)
	}
	if err := rejectDuplicates(n); err != nil {
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

// rejectDuplicates returns an error if a mapping has a key twice.
func rejectDuplicates(n *yaml.Node) error {
	keys := map[string]int{}
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		c := n.Content[i]
		if line, twice := keys[c.Value]; twice && c.Kind == yaml.ScalarNode {
			return fmt.Errorf("line %d, column %d: the key %s occurs twice, first in line %d", c.Line, c.Column, c.Value, line)
		}
		keys[c.Value] = c.Line
	}
	return nil
}

// mergeIn adds the keys of merged mappings (<<: …) after those of a mapping, unless it has them already. Of several merged mappings the first one
// wins.
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
