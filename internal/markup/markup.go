// Package markup writes HTML. Tags are code, and text becomes markup by Text alone, which escapes it. The template packages of the standard library
// find methods by their names while they run; a program that holds them keeps every exported method of every package it links (8 MB here).
package markup

import (
	"html"
	"strings"

	"aiperf/internal/terminal"
)

// Node is markup that may stand in a page as it is.
type Node string

// Text is text of anybody. What a terminal would obey, and what turns the direction of writing, is spelled out: pages are sent, and looked at with many
// programs.
func Text(s string) Node { return Node(escaped(s)) }

func escaped(s string) string { return html.EscapeString(terminal.Text(s)) }

// Attrs are the attributes of an element, names and values in turn. One whose name ends in "?" is there if its value is not empty, and has none.
type Attrs []string

// void are the elements without an end.
var void = map[string]bool{"meta": true, "input": true, "br": true, "link": true, "hr": true}

// El is an element; of nothing inside, too.
func El(tag string, attrs Attrs, inside ...Node) Node {
	var b strings.Builder
	b.WriteString("<" + tag)
	for i := 0; i < len(attrs); i += 2 {
		name, value := attrs[i], attrs[i+1]
		if bare, switched := strings.CutSuffix(name, "?"); switched {
			if value != "" {
				b.WriteString(" " + bare)
			}
			continue
		}
		b.WriteString(" " + name + `="` + escaped(value) + `"`)
	}
	b.WriteString(">")
	for _, n := range inside {
		b.WriteString(string(n))
	}
	if !void[tag] {
		b.WriteString("</" + tag + ">")
	}
	return Node(b.String())
}

// T is an element with text alone.
func T(tag, class, text string) Node {
	if class == "" {
		return El(tag, nil, Text(text))
	}
	return El(tag, Attrs{"class", class}, Text(text))
}

// If is markup under a condition.
func If(yes bool, n Node) Node {
	if yes {
		return n
	}
	return ""
}

// Each is the markup of every one of a list.
func Each[E any](list []E, f func(i int, e E) Node) Node {
	var b strings.Builder
	for i, e := range list {
		b.WriteString(string(f(i, e)))
	}
	return Node(b.String())
}

// Fill puts markup into the slots of a page: {{Name}}.
func Fill(page string, slots map[string]Node) string {
	var pairs []string
	for name, n := range slots {
		pairs = append(pairs, "{{"+name+"}}", string(n))
	}
	return strings.NewReplacer(pairs...).Replace(page)
}
