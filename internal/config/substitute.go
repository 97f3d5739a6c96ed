package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Getenv looks up an environment variable.
type Getenv func(name string) (value string, ok bool)

// substitute replaces environment variables in the values below a node (spec: config, section 6): ${VAR}, or ${VAR:default} if it may be unset. A
// value that consists of one variable gets the type that its text suggests. It returns the errors, one sentence each.
func substitute(n *yaml.Node, path string, getenv Getenv) (wrong []string) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "${") {
		text, whole, err := substituted(n.Value, getenv)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("line %d: %s: %v", n.Line, path, err))
		case whole:
			retype(n, text)
		default:
			*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle, Line: n.Line, Column: n.Column}
		}
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		wrong = append(wrong, substitute(c, below(n, i, path), getenv)...)
	}
	return wrong
}

// below returns the path of child i of a node.
func below(n *yaml.Node, i int, path string) string {
	if n.Kind == yaml.SequenceNode {
		return fmt.Sprintf("%s[%d]", path, i)
	}
	return strings.TrimPrefix(path+"."+n.Content[i-1].Value, ".")
}

// substituted returns a text with its variables replaced. whole means that the text was a single variable.
func substituted(text string, getenv Getenv) (out string, whole bool, err error) {
	var b strings.Builder
	rest := text
	for {
		head, tail, found := strings.Cut(rest, "${")
		b.WriteString(head)
		if !found {
			return b.String(), whole, nil
		}
		name, after, closed := strings.Cut(tail, "}")
		if !closed {
			return "", false, fmt.Errorf("${%s has no closing }", tail)
		}
		name, def, hasDefault := strings.Cut(name, ":")
		value, set := getenv(strings.TrimSpace(name))
		switch {
		case set:
		case hasDefault:
			value = def
		default:
			return "", false, fmt.Errorf("the environment has no variable %s; ${%s:VALUE} gives it a default", name, name)
		}
		b.WriteString(value)
		whole = head == "" && after == "" && len(rest) == len(text)
		rest = after
	}
}

// retype sets the type of a scalar from its text: a boolean, an integer, a number, otherwise text.
func retype(n *yaml.Node, value string) {
	tag := "!!str"
	if word := strings.ToLower(value); word == "true" || word == "false" {
		tag, value = "!!bool", word
	} else if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		tag, value = "!!int", strings.TrimPrefix(value, "+")
	} else if plainNumber(value) {
		tag = "!!float"
	}
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: n.Line, Column: n.Column}
	if tag == "!!str" {
		n.Style = yaml.DoubleQuotedStyle
	}
}

// plainNumber reports whether a text is a decimal number. Words such as inf and nan are texts.
func plainNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "0123456789+-.eE") == ""
}
