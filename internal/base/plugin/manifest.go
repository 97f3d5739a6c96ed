package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/suggest"
)

// maxManifest is the maximum size of a manifest in bytes.
const maxManifest = 4 << 20

// schemaVersion is the version of the format that this package knows.
const schemaVersion = "1.0"

// manifest is what was read from one file.
type manifest struct {
	file     string
	source   []byte
	pack     Package
	entries  []Entry
	problems []Problem
}

// readManifest reads one file.
func readManifest(file string) manifest {
	m := manifest{file: file, pack: Package{Name: filepath.Base(filepath.Dir(file)), File: file}}
	var err error
	if m.source, err = boundedfile.ReadAll(file, maxManifest); err != nil {
		m.refuse(0, "%v", err)
		return m
	}
	m.parse()
	m.pack.Plugins = len(m.entries)
	if !m.refused() {
		m.about()
	}
	return m
}

func (m *manifest) refused() bool {
	for _, p := range m.problems {
		if p.Refused {
			return true
		}
	}
	return false
}

// at returns file:line, or the file if there is no line.
func (m *manifest) at(line int) string {
	if line == 0 {
		return m.file
	}
	return fmt.Sprintf("%s:%d", m.file, line)
}

// refuse records why the file is not loaded. Only the first reason counts.
func (m *manifest) refuse(line int, format string, args ...any) {
	if !m.refused() {
		m.problems = append(m.problems, Problem{File: m.file, Text: m.at(line) + ": " + fmt.Sprintf(format, args...), Refused: true})
	}
}

func (m *manifest) warn(line int, format string, args ...any) {
	m.problems = append(m.problems, Problem{File: m.file, Text: m.at(line) + ": " + fmt.Sprintf(format, args...)})
}

// parse reads the text of the file.
func (m *manifest) parse() {
	var doc yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(m.source))
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
	case err != nil:
		m.refuse(0, "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		m.warn(0, "the manifest is empty")
		return
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		m.refuse(top.Line, "found %s, but a manifest is a mapping of categories", kindOf(top))
		return
	}
	for key, value := range m.members(top) {
		if key.Value == "schema_version" {
			if value.Value != schemaVersion {
				m.warn(value.Line, "schema_version is %q; this version of aiperf knows %q and reads the file as such", value.Value, schemaVersion)
			}
			continue
		}
		m.category(key, value)
	}
	if !m.refused() && len(m.entries) == 0 {
		m.warn(0, "the manifest defines no plug-in")
	}
}

// members yields the keys and values of a mapping. It refuses keys that are given twice.
func (m *manifest) members(node *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		lines := map[string]int{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			if before, twice := lines[key.Value]; twice {
				m.refuse(key.Line, "%q is given twice, first on line %d", key.Value, before)
			}
			lines[key.Value] = key.Line
			if !yield(key, value) {
				return
			}
		}
	}
}

// category reads the entries of one category.
func (m *manifest) category(key, value *yaml.Node) {
	c, ok := FindCategory(key.Value)
	if !ok {
		m.refuse(key.Line, "unknown category %q%s", key.Value, allowedCategories(key.Value))
		return
	}
	if value.Tag == "!!null" {
		return
	}
	if value.Kind != yaml.MappingNode {
		m.refuse(value.Line, "category %s: found %s, but a mapping of names to plug-ins is needed", c.Name, kindOf(value))
		return
	}
	for name, body := range m.members(value) {
		m.entry(c, name, body)
	}
}

// allowedCategories returns the end of the message about an unknown category.
func allowedCategories(name string) string {
	names := make([]string, len(categories))
	for i, c := range categories {
		names[i] = c.Name
	}
	if near := suggest.Name(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; allowed are " + strings.Join(names, ", ")
}

// declarativeKeys are the keys that define an endpoint without a program.
var declarativeKeys = []string{"request", "response"}

// entryKeys are the keys of an entry.
var entryKeys = append([]string{"class", "exec", "env", "timeout", "description", "priority", "metadata"}, declarativeKeys...)

// entry reads one plug-in.
func (m *manifest) entry(c Category, name, body *yaml.Node) {
	e := Entry{Category: c.Name, Name: Normalize(name.Value), Definition: body, Package: m.pack.Name, File: m.file, Line: name.Line, Source: m.source}
	if !validName(e.Name) {
		m.refuse(name.Line, "%s: the name %q is not allowed; use letters, digits, \"_\", \"-\" and \".\"", c.Name, name.Value)
		return
	}
	if body.Kind != yaml.MappingNode {
		m.refuse(body.Line, "%s: found %s, but a mapping with class, exec or request is needed", e.ID(), kindOf(body))
		return
	}
	var kinds []string // class, exec, request or response: what the entry is
	for key, value := range m.members(body) {
		switch key.Value {
		case "description":
			e.Description = strings.TrimSpace(m.text(&e, key, value))
		case "class":
			if e.Class = m.text(&e, key, value); e.Class == "" {
				m.refuse(value.Line, "%s: class is empty; a Python class is needed: module:Class", e.ID())
			}
			kinds = append(kinds, "class")
		case "priority":
			if value.Tag != "!!int" || value.Decode(&e.Priority) != nil {
				m.refuse(value.Line, "%s: priority is %q, but an integer is needed", e.ID(), value.Value)
			}
		case "exec":
			e.Exec = m.texts(&e, key, value, "[program, arguments…]")
			kinds = append(kinds, "exec")
		case "env", "timeout":
			m.treatment(&e, key, value)
		case "metadata":
			if err := value.Decode(&e.Metadata); err != nil {
				m.refuse(value.Line, "%s: metadata: found %s, but a mapping is needed", e.ID(), kindOf(value))
			}
		case "request", "response":
			if c.Name != "endpoint" {
				m.refuse(key.Line, "%s: only endpoints have %s; use exec: [program, arguments…]", e.ID(), key.Value)
			}
			if len(kinds) == 0 || kinds[len(kinds)-1] != "request" {
				kinds = append(kinds, "request")
			}
		default:
			m.refuse(key.Line, "%s: unknown key %q%s; allowed are %s", e.ID(), key.Value, didYouMean(key.Value), strings.Join(entryKeys, ", "))
		}
	}
	m.kind(&e, c, kinds)
	m.entries = append(m.entries, e)
}

// treatment reads how a program is treated.
func (m *manifest) treatment(e *Entry, key, value *yaml.Node) {
	if key.Value == "env" {
		e.Env = m.texts(e, key, value, "[VARIABLE…]")
		return
	}
	if e.Timeout, _ = time.ParseDuration(value.Value); e.Timeout <= 0 {
		m.refuse(value.Line, "%s: timeout is %q, but a time such as 90s or 5m is needed", e.ID(), value.Value)
	}
}

// kind checks that an entry is one thing, and one that its category allows.
func (m *manifest) kind(e *Entry, c Category, kinds []string) {
	switch {
	case len(e.Exec) > 0 && e.Exec[0] == "":
		m.refuse(e.Line, "%s: exec: the name of the program is empty", e.ID())
	case len(kinds) == 0 && c.Name == "endpoint":
		m.refuse(e.Line, "%s: class, exec or request is missing", e.ID())
	case len(kinds) == 0:
		m.refuse(e.Line, "%s: class or exec is missing", e.ID())
	case len(kinds) > 1:
		m.refuse(e.Line, "%s: has %s, but a plug-in is only one of them", e.ID(), strings.Join(kinds, " and "))
	case kinds[0] == "exec" && !c.Programs:
		m.refuse(e.Line, "%s: an external program cannot provide this category; allowed are %s", e.ID(), strings.Join(programCategories(), ", "))
	}
}

func programCategories() (names []string) {
	for _, c := range categories {
		if c.Programs {
			names = append(names, c.Name)
		}
	}
	return names
}

func didYouMean(key string) string {
	if near := suggest.Name(key, entryKeys); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return ""
}

// text reads a string.
func (m *manifest) text(e *Entry, key, value *yaml.Node) string {
	if value.Kind != yaml.ScalarNode {
		m.refuse(value.Line, "%s: %s: found %s, but a text is needed", e.ID(), key.Value, kindOf(value))
		return ""
	}
	if value.Tag == "!!null" {
		return ""
	}
	return value.Value
}

// texts reads a list of texts.
func (m *manifest) texts(e *Entry, key, value *yaml.Node, needed string) (list []string) {
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		m.refuse(value.Line, "%s: %s: found %s, but a list is needed: %s", e.ID(), key.Value, kindOf(value), needed)
		return nil
	}
	for _, word := range value.Content {
		if word.Kind != yaml.ScalarNode {
			m.refuse(word.Line, "%s: %s: found %s in the list, but texts are needed", e.ID(), key.Value, kindOf(word))
			return nil
		}
		list = append(list, word.Value)
	}
	return list
}

// validName reports whether a name can be the value of a flag and part of a file name.
func validName(name string) bool {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.') {
			return false
		}
	}
	return name != "" && name[0] != '.' && len(name) <= 100
}

// kindOf names a value of the file for messages.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%.60q", n.Value)
}

// about reads package.yaml next to the manifest, if it is there.
func (m *manifest) about() {
	file := filepath.Join(filepath.Dir(m.file), "package.yaml")
	text, err := boundedfile.ReadAll(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var about struct{ Version, Description string }
	if err == nil {
		err = yaml.Unmarshal(text, &about)
	}
	if err != nil {
		m.problems = append(m.problems, Problem{File: file, Text: fmt.Sprintf("%s: %v; a mapping with version and description is needed", file, err)})
		return
	}
	m.pack.Version, m.pack.Description = about.Version, strings.TrimSpace(about.Description)
}
