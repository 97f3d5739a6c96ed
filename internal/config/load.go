package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/infile"
)

// maxFile is the size of the largest file of settings, in bytes.
const maxFile = 16 << 20

// Load reads a run from a file in the layout that YAML writes, with ${VAR} and {{ expressions }} in its values. Keys that are absent have the
// values of Default, those of the environment section the given ones; unknown keys are errors. getenv may be nil: nothing is set. notes say
// what the user should know. The run is not validated.
func Load(path string, environment Environment, getenv Getenv) (run *Run, notes []string, err error) {
	text, err := infile.ReadAll(path, maxFile)
	if err != nil {
		return nil, nil, err
	}
	if getenv == nil {
		getenv = func(string) (string, bool) { return "", false }
	}
	run, root, flat, err := parse(text, environment, getenv)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if run.Sweep != nil {
		for i, one := range run.Sweep.Runs {
			if one.Name == unnamed(i) {
				notes = append(notes, fmt.Sprintf("%s: scenario %d of the sweep has no name; it is called %s", path, i, one.Name))
			}
		}
	}
	for _, idle := range run.source.idle {
		notes = append(notes, path+":"+idle)
	}
	lines := map[string]int{}
	linesOf(root, "", lines)
	run.source.lines = lines
	run.Spelling = func(key string) string {
		if line := lines[key]; line > 0 {
			return fmt.Sprintf("%s:%d: %s", path, line, key)
		}
		if short := strings.TrimSuffix(key, ".mean"); lines[short] > 0 { // "isl: 5" is short for its mean
			return fmt.Sprintf("%s:%d: %s", path, lines[short], short)
		}
		return path + ": " + key
	}
	if flat {
		notes = append(notes, path+": the keys of the benchmark stand at the top; they belong below \"benchmark:\"")
	}
	return run, notes, nil
}

// Written reports whether the file that the run was read from holds a key, in the words of LongKey; false when there is no file.
func (r *Run) Written(path string) bool { return r.source != nil && r.source.lines[path] > 0 }

// linesOf enters the line of every key below a node, entries of lists by name and by number.
func linesOf(n *yaml.Node, path string, lines map[string]int) {
	enter := func(key string, line int, value *yaml.Node) {
		key = strings.TrimPrefix(key, ".")
		if lines[key] == 0 {
			lines[key] = line
		}
		linesOf(value, key, lines)
	}
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 1:
			enter(path+"."+n.Content[i-1].Value, max(n.Content[i-1].Line, c.Line), c)
		case n.Kind == yaml.SequenceNode:
			enter(fmt.Sprintf("%s[%d]", path, i), c.Line, c)
			if name := step(c, "name"); name != nil && c.Kind == yaml.MappingNode {
				enter(path+"."+name.Value, c.Line, c)
			}
		}
	}
}

// parse reads a run and the tree that it was read from; flat: its body stands at the top.
func parse(text []byte, environment Environment, getenv Getenv) (run *Run, root *yaml.Node, flat bool, err error) {
	if root, err = tree(text); err != nil {
		return nil, nil, false, err
	}
	src, flat, err := newSource(root, environment, getenv)
	if err != nil {
		return nil, nil, false, err
	}
	run, root, err = src.build(nil)
	return run, root, flat, err
}

// version is the directive of a later YAML, which the library refuses and of which files use nothing that it does not know.
var version = regexp.MustCompile(`^%YAML 1\.[0-9]+`)

// tree reads the one mapping of a file.
func tree(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(version.ReplaceAll(text, nil)))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, plainer(err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file holds more than one document")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: the file must be a mapping", root.Line)
	}
	if err := new(plainTree).spell(root, 0); err != nil {
		return nil, err
	}
	return root, nil
}

// missing names the sections that a file must have: none of them has a default there.
func missing(body *yaml.Node) error {
	var names []string
	for _, key := range []string{"models", "endpoint", "datasets", "phases"} {
		if body == nil || step(body, key) == nil {
			names = append(names, "benchmark."+key)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%s missing: a file has no default for it", strings.Join(names, ", "))
}

// goTypes are the YAML library's words for what it found and what it wanted, which nobody knows who writes a file.
var goTypes = regexp.MustCompile("cannot unmarshal !!(\\w+)(?: `([^`]*)`)? into (\\S+)")

// plainer says in the words of a file what only the YAML library's authors understand, on one line.
func plainer(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	text = goTypes.ReplaceAllStringFunc(text, func(s string) string {
		m := goTypes.FindStringSubmatch(s)
		found := m[2]
		switch m[1] {
		case "map":
			found = "a mapping"
		case "seq":
			found = "a list"
		}
		return found + " is not " + spokenType(m[3])
	})
	return errors.New(strings.ReplaceAll(text, "\n  ", "; "))
}

// spokenType is a Go type in the words of a file.
func spokenType(name string) string {
	switch name = strings.TrimLeft(name, "*"); {
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
		return "an integer"
	case strings.HasPrefix(name, "float"), name == "config.Seconds":
		return "a number"
	case name == "bool":
		return "true or false"
	case name == "string":
		return "text"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	}
	return "a mapping"
}
