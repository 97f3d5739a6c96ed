package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/jsontext"
)

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// text returns a string node that does not become a number when read back.
func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	n.Tag = "!!str"
	return n
}

func add(n *yaml.Node, key string, value *yaml.Node) {
	n.Content = append(n.Content, text(key), value)
}

// eachPair calls f for the members of a mapping in order. null counts as an empty mapping.
func eachPair(n *yaml.Node, f func(key string, value *yaml.Node) error) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping is expected", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := f(n.Content[i].Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// fromJSON converts one JSON value to nodes. It keeps the order of members and the spelling of numbers.
func fromJSON(raw []byte) (*yaml.Node, error) {
	if err := jsontext.Check(raw); err != nil {
		return nil, err
	}
	return jsonNode(&jsontext.Scanner{Doc: raw}), nil
}

// jsonNode converts the next value of a valid document to a node.
func jsonNode(s *jsontext.Scanner) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch s.Kind() {
	case '"':
		return text(s.Text().String())
	case '{':
		n.Kind, n.Tag, n.Style = yaml.MappingNode, "!!map", yaml.FlowStyle
		s.Open('{')
		for first := true; s.Next('}', first); first = false {
			n.Content = append(n.Content, text(string(jsontext.AppendUTF8(nil, s.Key()))), jsonNode(s))
		}
		return n
	case '[':
		n.Kind, n.Tag, n.Style = yaml.SequenceNode, "!!seq", yaml.FlowStyle
		s.Open('[')
		for first := true; s.Next(']', first); first = false {
			n.Content = append(n.Content, jsonNode(s))
		}
		return n
	case 't', 'f':
		n.Tag = "!!bool"
	case 'n':
		n.Tag = "!!null"
	default:
		n.Tag = "!!int"
	}
	n.Value = string(s.Raw())
	if n.Tag == "!!int" && strings.ContainsAny(n.Value, ".eE") {
		n.Tag = "!!float"
	}
	return n
}

// appendJSON writes nodes as compact JSON in their order. An infinite number becomes the text "inf".
func appendJSON(b []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsontext.AppendString(b, n.Content[i].Value)
			b = append(b, ':')
			var err error
			if b, err = appendJSON(b, n.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, c := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendJSON(b, c); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case yaml.ScalarNode:
		return appendJSONScalar(b, n)
	}
	return nil, fmt.Errorf("line %d: a value, a list or a mapping is expected", n.Line)
}

func appendJSONScalar(b []byte, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return append(b, "null"...), nil
	case "!!bool":
		var v bool
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return strconv.AppendBool(b, v), nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return append(b, n.Value...), nil
		}
		var f float64
		if err := n.Decode(&f); err != nil {
			return nil, err
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return jsontext.AppendString(b, strconv.FormatFloat(f, 'g', -1, 64)[1:]), nil
		}
		return strconv.AppendFloat(b, f, 'g', -1, 64), nil
	}
	return jsontext.AppendString(b, n.Value), nil
}
