package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/testhome"
)

// place is where a key may stand: the shortest way to it through a file, and its schema.
type place struct {
	way   []any // names of mappings, 0 for the entry of a list
	shape map[string]any
}

func (p place) String() string {
	var words []string
	for _, step := range p.way {
		words = append(words, fmt.Sprint(step))
	}
	return strings.Join(words, ".")
}

// places are all of them, each part of the schema once.
func (c *schemaCheck) places() (list []place) {
	type step struct {
		pointer string
		way     []any
	}
	seen := map[string]bool{}
	for queue := []step{{"#/$defs/file", nil}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		o, ok := c.at(at.pointer).(map[string]any)
		if seen[at.pointer] || !ok {
			continue
		}
		seen[at.pointer] = true
		if to, ok := o["$ref"].(string); ok {
			queue = append(queue, step{to, at.way})
		}
		for _, word := range []string{"anyOf", "allOf", "oneOf"} {
			some, _ := o[word].([]any)
			for i := range some {
				queue = append(queue, step{fmt.Sprint(at.pointer, "/", word, "/", i), at.way})
			}
		}
		if o["items"] != nil {
			queue = append(queue, step{at.pointer + "/items", append(slices.Clone(at.way), 0)})
		}
		if o["additionalProperties"] != false {
			continue
		}
		members := o["properties"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			inner := members[key].(map[string]any)
			if to, _ := inner["$ref"].(string); len(inner) == 1 && strings.Contains(to, "/properties/") && members[path.Base(to)] != nil && path.Base(to) != key {
				continue // the other spelling of another member
			}
			way := append(slices.Clone(at.way), key)
			list = append(list, place{way, inner})
			queue = append(queue, step{at.pointer + "/properties/" + key, way})
		}
	}
	return list
}

// at is what a pointer into the schema leads to.
func (c *schemaCheck) at(pointer string) any {
	at := any(c.top)
	for _, part := range strings.Split(strings.TrimPrefix(pointer, "#/"), "/") {
		switch n := at.(type) {
		case map[string]any:
			at = n[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil {
				return nil
			}
			at = n[i]
		}
	}
	return at
}

// values are a few that a schema takes, by its words; a mapping with its own keys has none, because its keys are places.
func (c *schemaCheck) values(s map[string]any) (list []any) {
	if to, ok := s["$ref"].(string); ok {
		list = append(list, c.values(c.at(to).(map[string]any))...)
	}
	for _, word := range []string{"anyOf", "allOf"} {
		some, _ := s[word].([]any)
		for _, one := range some {
			list = append(list, c.values(one.(map[string]any))...)
		}
	}
	words, _ := s["enum"].([]any)
	list = append(list, words...)
	kinds, _ := s["type"].([]any)
	if kind, ok := s["type"].(string); ok {
		kinds = []any{kind}
	}
	for _, kind := range kinds {
		switch kind {
		case "boolean":
			list = append(list, true, false)
		case "integer", "number":
			list = append(list, 3, 0.5, 0.25, 1, 20, 12000)
		case "string":
			if len(kinds) > 2 {
				break // numbers and truth values may stand in quotes
			}
			list = append(list, "x", "y")
		case "array":
			if items, ok := s["items"].(map[string]any); ok {
				for _, one := range c.values(items) {
					list = append(list, []any{one})
				}
			}
		case "object":
			if s["properties"] == nil {
				list = append(list, map[string]any{"x": "y"})
			}
		}
	}
	return list
}

// example holds what keys need in addition to be legal, and values that the schema does not give.
type example struct {
	At     []string       // patterns of places
	With   map[string]any // laid over the smallest file
	Values []any
	Gone   []string // keys of the body's smallest form that they exclude
	Told   string   // what is said of a key that has no effect, or that is not built
	Alone  bool     // no other value is legal: that it arrives cannot be seen
}

// names tells whether an example is about a place itself.
func (e *example) names(name string) bool {
	return slices.ContainsFunc(e.At, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// suits tells whether an example is about a place or what is around it.
func (e *example) suits(name string) bool {
	for i, c := range name {
		if c == '.' && e.names(name[:i]) {
			return true
		}
	}
	return e.names(name)
}

// laid puts one mapping over another, key by key.
func laid(under, over any) any {
	a, ok := under.(map[string]any)
	b, both := over.(map[string]any)
	if !ok || !both {
		return over
	}
	out := maps.Clone(a)
	for key, v := range b {
		if out[key] = laid(a[key], v); v == nil {
			delete(out, key)
		}
	}
	return out
}

// set is a document with a value at the end of a way.
func set(document any, way []any, v any) any {
	if len(way) == 0 {
		return v
	}
	if _, ok := way[0].(int); ok {
		list, _ := document.([]any)
		if len(list) == 0 {
			return []any{set(nil, way[1:], v)}
		}
		return append([]any{set(list[0], way[1:], v)}, list[1:]...)
	}
	m, _ := document.(map[string]any)
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	m[way[0].(string)] = set(m[way[0].(string)], way[1:], v)
	return m
}

// lacking is a document whose way ends before its last key.
func lacking(document any, way []any) any {
	switch at := document.(type) {
	case []any:
		if len(at) > 0 && len(way) > 1 {
			return append([]any{lacking(at[0], way[1:])}, at[1:]...)
		}
	case map[string]any:
		m, key := maps.Clone(at), way[0].(string)
		if len(way) == 1 {
			delete(m, key)
		} else if m[key] != nil {
			m[key] = lacking(m[key], way[1:])
		}
		return m
	}
	return document
}

// TestEveryPlaceOfAFile: a legal value at every place of the schema is taken and shows in the resolved file, or a message says that the key has no effect; a
// misspelt key there is refused by schema and binary alike. What config show prints it has judged as config validate does.
func TestEveryPlaceOfAFile(t *testing.T) {
	testhome.Slow(t)
	w := &placeWalk{schemaCheck: schemaOf(t)}
	text, err := os.ReadFile("testdata/places.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := yaml.NewDecoder(bytes.NewReader(text))
	lines.KnownFields(true)
	if err := lines.Decode(&w.table); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Abs("testdata/places")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS(".", os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	list := w.places()
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for k := i; k < len(list); k += 4 {
				w.visit(t, list[k], fmt.Sprintf("file%d.json", i))
			}
		})
	}
	work.Wait()
	for _, one := range w.table.Examples {
		if !slices.ContainsFunc(list, func(p place) bool { return one.suits(p.String()) }) {
			t.Errorf("%v: no such place", one.At)
		}
	}
	if len(list) < 550 {
		t.Errorf("%d places only", len(list))
	}
}

// placeWalk is the schema with what its places need.
type placeWalk struct {
	*schemaCheck
	table struct {
		Base     map[string]any
		Examples []example
	}
}

// visit writes files with values at a place, and with the key misspelt.
func (w *placeWalk) visit(t *testing.T, p place, file string) {
	name := p.String()
	base, one := w.needs(name)
	values := one.Values
	if values == nil {
		values = w.values(p.shape)
	}
	shown, taken, said, reasons := map[string]bool{}, false, "", ""
	for _, v := range values {
		text, status, out, errs := w.show(t, file, set(base, p.way, v))
		if said += errs; status == 0 {
			if wrong := w.check(t, text); len(wrong) > 0 {
				t.Errorf("%s: taken, but by the schema %s", text, strings.Join(wrong, "\n"))
			}
			taken, shown[out] = true, true
		} else {
			reasons += "\n" + text + errs
		}
		if len(shown) > 1 {
			break
		}
	}
	if len(shown) == 1 {
		if _, status, out, _ := w.show(t, file, lacking(base, p.way)); status == 0 {
			shown[out] = true
		}
	}
	switch {
	case one.Told != "":
		if !strings.Contains(said, one.Told) {
			t.Errorf("%s: %q, want %q", name, said, one.Told)
		}
	case len(values) == 0: // a section
	case !taken:
		t.Errorf("%s: no value of %v is taken: %s", name, values, reasons)
	case len(shown) < 2 && !one.Alone:
		t.Errorf("%s: %v: what is resolved does not depend on it (%s)", name, values, said)
	}
	key := p.way[len(p.way)-1].(string)
	slip := key[:len(key)/2] + "zq" + key[len(key)/2:]
	text, status, _, errs := w.show(t, file, set(lacking(base, p.way), append(slices.Clone(p.way[:len(p.way)-1]), slip), 1))
	plain := strings.NewReplacer("_", "")
	if wrong := w.check(t, text); len(wrong) == 0 || status == 0 || !strings.Contains(plain.Replace(strings.ToLower(errs)), plain.Replace(strings.ToLower(slip))) {
		t.Errorf("%s misspelt %s: the schema finds %q, the binary ends with %d: %s", name, slip, wrong, status, errs)
	}
}

// needs is the smallest file in which a key may stand at a place, and what is said of the place itself.
func (w *placeWalk) needs(name string) (base any, of example) {
	base = w.table.Base
	for _, one := range w.table.Examples {
		if !one.suits(name) {
			continue
		}
		for _, key := range one.Gone {
			base = lacking(base, []any{"benchmark", key})
		}
		if base = laid(base, one.With); one.names(name) {
			if one.Values == nil {
				one.Values = of.Values
			}
			of = one
		}
	}
	return base, of
}

// show is what config show says of a document.
func (w *placeWalk) show(t *testing.T, file string, document any) (text string, status int, out, errs string) {
	written, err := json.Marshal(document)
	if err == nil {
		err = os.WriteFile(file, written, 0o600)
	}
	if err != nil {
		t.Error(err)
	}
	status, out, errs = commanded(t, nil, "config", "show", file)
	return string(written) + "\n", status, out, errs
}
