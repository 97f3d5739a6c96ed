package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/lazyregexp"
)

// maxFile is the maximum size of a configuration file, in bytes.
const maxFile = 16 << 20

// Load reads a run from a file in the layout that YAML writes, with ${VAR} and {{ expressions }} in its values. Missing keys get the values of
// Default, those of the environment section the given ones. Unknown keys are errors. If getenv is nil, no variable is set. notes contains information
// for the user. The run is not validated.
func Load(path string, environment Environment, getenv Getenv) (run *Run, notes []string, err error) {
	text, err := boundedfile.ReadAll(path, maxFile)
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
		notes = append(notes, path+": the keys of the benchmark are at the top level; move them below \"benchmark:\"")
	}
	return run, notes, nil
}

// Written reports whether the run's file contains a key, given by its LongKey; false if there is no file.
func (r *Run) Written(path string) bool { return r.source != nil && r.source.lines[path] > 0 }

// linesOf records the line of every key below a node. Entries of lists are recorded by name and by number.
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

// parse returns a run and its tree. flat means that the body is at the top level.
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

// version matches the directive of a later YAML version. The library rejects it, although files use only features that the library supports.
var version = lazyregexp.New(`^%YAML 1\.[0-9]+`)

// tree parses a file, which must contain one mapping.
func tree(text []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(version.ReplaceAll(text, nil)))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the file is empty")
	case err != nil:
		return nil, plainYAMLError(err)
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

// missing returns an error that names missing sections that have no default in a file.
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

// goTypes matches the YAML library's type errors, whose Go types mean nothing to the author of a file.
var goTypes = lazyregexp.New("cannot unmarshal !!(\\w+)(?: `([^`]*)`)? into (\\S+(?: \\{\\})?)")

// plainYAMLError rewrites an error of the YAML library for the author of a file, in one line.
func plainYAMLError(err error) error {
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

// spokenType returns the plain name of a Go type.
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
