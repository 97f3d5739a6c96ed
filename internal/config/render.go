package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/text/jinja"
)

// verbatim are the keys whose text is a template for another purpose, so it stays as it is.
var verbatim = []string{"template", "body", "payload_template", "user_files"}

// renderer computes the Jinja expressions in the values of a file (spec: config, section 6). Expressions refer to the variables of the file by name,
// and to other values by path, with or without "benchmark.". List entries are selected by name or number. The values that an expression uses are
// computed first.
type renderer struct {
	root  *yaml.Node // the file, without its variables
	vars  *yaml.Node // nil if the file has no variables
	env   *jinja.Environment
	state map[*yaml.Node]int // 1: in progress, 2: done
	stack []string
	wrong []string
}

// isTemplate reports whether a scalar is a template.
func isTemplate(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag != "!!binary" && (strings.Contains(n.Value, "{{") || strings.Contains(n.Value, "{%"))
}

// render computes every template of a file in place. The error lists all that failed, one per line.
func render(root, vars *yaml.Node) error {
	r := &renderer{root: root, vars: vars, env: &jinja.Environment{Strict: true, Frozen: true}, state: map[*yaml.Node]int{}}
	if vars != nil {
		r.all(vars, "variables")
	}
	r.all(root, "")
	if len(r.wrong) > 0 {
		return errors.New(strings.Join(r.wrong, "\n"))
	}
	return nil
}

// hasTemplates reports whether a tree contains templates.
func hasTemplates(n *yaml.Node) bool {
	found := false
	eachTemplate(n, "", func(*yaml.Node, string) { found = true })
	return found
}

// eachTemplate calls f for each template in a tree.
func eachTemplate(n *yaml.Node, path string, f func(n *yaml.Node, path string)) {
	if n == nil {
		return
	}
	if isTemplate(n) {
		f(n, path)
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && (i%2 == 0 || slices.Contains(verbatim, n.Content[i-1].Value)) {
			continue
		}
		eachTemplate(c, below(n, i, path), f)
	}
}

func (r *renderer) all(n *yaml.Node, path string) {
	eachTemplate(n, path, func(one *yaml.Node, at string) {
		if err := r.scalar(one, at); err != nil {
			r.wrong = append(r.wrong, err.Error())
		}
	})
}

// chains matches the dotted names in an expression.
var chains = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]*[A-Za-z0-9_]|\[[0-9]+\])*`)

// scalar computes one value, after the values that it uses.
func (r *renderer) scalar(n *yaml.Node, path string) error {
	switch r.state[n] {
	case 2:
		return nil
	case 1:
		first := max(0, slices.Index(r.stack, path))
		return fmt.Errorf("line %d: values that refer to each other: %s", n.Line, strings.Join(append(slices.Clone(r.stack[first:]), path), " -> "))
	}
	r.state[n] = 1
	r.stack = append(r.stack, path)
	defer func() { r.state[n], r.stack = 2, r.stack[:len(r.stack)-1] }()
	if err := r.needs(n); err != nil {
		return err
	}
	t, err := r.env.Parse(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %s: %w", n.Line, path, err)
	}
	text, err := t.Render(r.scope())
	if err != nil {
		return fmt.Errorf("line %d: %s: %w", n.Line, path, err)
	}
	retype(n, text)
	return nil
}

// needs computes the values that a value uses.
func (r *renderer) needs(n *yaml.Node) (err error) {
	for _, chain := range chains.FindAllString(n.Value, -1) {
		parts := strings.FieldsFunc(chain, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
		target, at := r.find(parts)
		eachTemplate(target, at, func(one *yaml.Node, path string) {
			if one != n && err == nil {
				err = r.scalar(one, path)
			} else if one == n && target == n && err == nil {
				err = fmt.Errorf("line %d: %s refers to itself", n.Line, path)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// find follows a dotted name as far as possible; nil if its first part does not exist.
func (r *renderer) find(parts []string) (n *yaml.Node, path string) {
	starts := []struct {
		n    *yaml.Node
		path string
	}{{r.vars, "variables"}, {step(r.root, "benchmark"), "benchmark"}, {r.root, ""}}
	for _, s := range starts {
		if s.n == nil || step(s.n, parts[0]) == nil {
			continue
		}
		n, path = s.n, s.path
		for _, part := range parts {
			next := step(n, part)
			if next == nil {
				break
			}
			n, path = next, strings.TrimPrefix(path+"."+part, ".")
		}
		return n, path
	}
	return nil, ""
}

// scope returns the names that an expression can use.
func (r *renderer) scope() map[string]jinja.Value {
	vars := map[string]jinja.Value{}
	enter := func(n *yaml.Node) {
		for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
			vars[n.Content[i].Value] = templateValue(n.Content[i+1])
		}
	}
	enter(r.root)
	enter(step(r.root, "benchmark"))
	if r.vars != nil {
		vars["variables"] = templateValue(r.vars)
		enter(r.vars)
	}
	return vars
}

// templateValue converts a node for use in an expression. A list whose entries have names becomes a mapping by name and by number.
func templateValue(n *yaml.Node) jinja.Value {
	switch n.Kind {
	case yaml.MappingNode:
		d := jinja.NewDict()
		for i := 0; i+1 < len(n.Content); i += 2 {
			d.Set(n.Content[i].Value, templateValue(n.Content[i+1]))
		}
		return d
	case yaml.SequenceNode:
		list, byName := &jinja.List{}, jinja.NewDict()
		for i, c := range n.Content {
			v := templateValue(c)
			list.Items = append(list.Items, v)
			byName.Set(int64(i), v)
			if name := step(c, "name"); c.Kind == yaml.MappingNode && name != nil {
				byName.Set(name.Value, v)
			}
		}
		if byName.Len() > len(list.Items) {
			return byName
		}
		return list
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	case "!!int":
		var v int64
		if n.Decode(&v) == nil {
			return v
		}
	case "!!float":
		var v float64
		if n.Decode(&v) == nil {
			return v
		}
	}
	return n.Value
}
