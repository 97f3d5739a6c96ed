// Package htmlgen writes HTML with functions. Only Text converts text to markup, and it escapes it. The template packages of the standard library find
// methods by name at run time: a program that uses them keeps every exported method of every linked package (8 MB here).
package htmlgen

import (
	"html"
	"strings"

	"aiperf/internal/base/terminal"
)

// Node is markup that may be inserted in a page unchanged.
type Node string

// Text escapes any text. Control characters and characters that change the writing direction are spelled out, because pages are shared and viewed with
// many programs.
func Text(s string) Node { return Node(escaped(s)) }

func escaped(s string) string { return html.EscapeString(terminal.Text(s)) }

// Attrs are the attributes of an element, names and values alternating. An attribute whose name ends in "?" is written without a value, and only if
// its value is not empty.
type Attrs []string

// void lists the elements without an end tag.
var void = map[string]bool{"meta": true, "input": true, "br": true, "link": true, "hr": true}

// El returns an element; inside may be empty.
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

// T returns an element that contains only text.
func T(tag, class, text string) Node {
	if class == "" {
		return El(tag, nil, Text(text))
	}
	return El(tag, Attrs{"class", class}, Text(text))
}

// If returns n if yes is true, otherwise nothing.
func If(yes bool, n Node) Node {
	if yes {
		return n
	}
	return ""
}

// Each returns the markup of every element of a list.
func Each[E any](list []E, f func(i int, e E) Node) Node {
	var b strings.Builder
	for i, e := range list {
		b.WriteString(string(f(i, e)))
	}
	return Node(b.String())
}

// Fill puts markup into the slots {{Name}} of a page.
func Fill(page string, slots map[string]Node) string {
	var pairs []string
	for name, n := range slots {
		pairs = append(pairs, "{{"+name+"}}", string(n))
	}
	return strings.NewReplacer(pairs...).Replace(page)
}
