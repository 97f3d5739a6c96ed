package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/jinja"
)

// verbatim are the keys whose text is a template of something else.
var verbatim = []string{"template", "body", "payload_template", "user_files"}

// renderer computes the values of a file that are Jinja expressions (spec: config, section 6). They see the variables of the file by name
// and the other values by their path, with or without "benchmark."; list entries go by name or number. What a value reads is computed first.
type renderer struct {
	root  *yaml.Node // the file, without its variables
	vars  *yaml.Node // nil: there are none
	env   *jinja.Environment
	state map[*yaml.Node]int // 1: under way, 2: done
	stack []string
	wrong []string
}

// isTemplate tells whether a scalar is to be computed.
func isTemplate(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag != "!!binary" && (strings.Contains(n.Value, "{{") || strings.Contains(n.Value, "{%"))
}

// render computes every template of a file in place; the error names all that failed, one a line.
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

// hasTemplates tells whether anything below a node is to be computed.
func hasTemplates(n *yaml.Node) bool {
	found := false
	eachTemplate(n, "", func(*yaml.Node, string) { found = true })
	return found
}

// eachTemplate walks the scalars that are to be computed.
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

// chains are the dotted names of an expression.
var chains = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]*[A-Za-z0-9_]|\[[0-9]+\])*`)

// scalar computes one value, and before it those that it reads.
func (r *renderer) scalar(n *yaml.Node, path string) error {
	switch r.state[n] {
	case 2:
		return nil
	case 1:
		first := max(0, slices.Index(r.stack, path))
		return fmt.Errorf("line %d: values that need each other: %s", n.Line, strings.Join(append(slices.Clone(r.stack[first:]), path), " -> "))
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

// needs computes what a value reads.
func (r *renderer) needs(n *yaml.Node) (err error) {
	for _, chain := range chains.FindAllString(n.Value, -1) {
		parts := strings.FieldsFunc(chain, func(c rune) bool { return c == '.' || c == '[' || c == ']' })
		target, at := r.find(parts)
		eachTemplate(target, at, func(one *yaml.Node, path string) {
			if one != n && err == nil {
				err = r.scalar(one, path)
			} else if one == n && target == n && err == nil {
				err = fmt.Errorf("line %d: %s needs itself", n.Line, path)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// find follows a dotted name as far as it leads; nil: nowhere.
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

// scope is what an expression sees.
func (r *renderer) scope() map[string]jinja.Value {
	vars := map[string]jinja.Value{}
	enter := func(n *yaml.Node) {
		for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
			vars[n.Content[i].Value] = seen(n.Content[i+1])
		}
	}
	enter(r.root)
	enter(step(r.root, "benchmark"))
	if r.vars != nil {
		vars["variables"] = seen(r.vars)
		enter(r.vars)
	}
	return vars
}

// seen is a node as an expression sees it. A list whose entries have names is a mapping by name and by number.
func seen(n *yaml.Node) jinja.Value {
	switch n.Kind {
	case yaml.MappingNode:
		d := jinja.NewDict()
		for i := 0; i+1 < len(n.Content); i += 2 {
			d.Set(n.Content[i].Value, seen(n.Content[i+1]))
		}
		return d
	case yaml.SequenceNode:
		list, byName := &jinja.List{}, jinja.NewDict()
		for i, c := range n.Content {
			v := seen(c)
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
