package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Cell is one combination of a sweep.
type Cell struct {
	Dir    string // name of its directory, empty without a sweep
	Label  string // path=value, …
	Values []Axis // one value an axis, in the order of the axes
	Run    *Run   // the run of this cell alone: no sweep, its own seed, the base's artifact directory
}

// Cells expands the sweep: axes in order of their paths, the last varies fastest. Without a sweep it is the run itself.
func (r *Run) Cells() ([]Cell, error) {
	if r.Sweep == nil {
		return []Cell{{Run: r}}, nil
	}
	combinations, err := r.Sweep.combinations()
	if err != nil {
		return nil, err
	}
	cells := make([]Cell, len(combinations))
	for i, values := range combinations {
		if cells[i], err = r.cell(i, values); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// maxCells bounds a grid; nobody waits for more.
const maxCells = 10000

func (s *Sweep) combinations() ([][]any, error) {
	if s.Type == SweepZip {
		all := make([][]any, len(s.Parameters[0].Values))
		for i := range all {
			for _, a := range s.Parameters {
				if len(a.Values) != len(all) {
					return nil, fmt.Errorf("sweep.parameters.%s has %d values, not %d", a.Path, len(a.Values), len(all))
				}
				all[i] = append(all[i], a.Values[i])
			}
		}
		return all, nil
	}
	all := [][]any{nil}
	for _, a := range s.Parameters {
		var next [][]any
		for _, head := range all {
			for _, v := range a.Values {
				next = append(next, append(head[:len(head):len(head)], v))
			}
		}
		if all = next; len(all) > maxCells {
			return nil, fmt.Errorf("sweep.parameters: more than %d cells", maxCells)
		}
	}
	return all, nil
}

func (r *Run) cell(index int, values []any) (Cell, error) {
	body, err := clone(&r.Benchmark)
	if err != nil {
		return Cell{}, err
	}
	c := Cell{Run: &Run{SchemaVersion: r.SchemaVersion, RandomSeed: r.RandomSeed, Benchmark: *body, MultiRun: r.MultiRun, NoSweepTable: r.NoSweepTable, Tables: r.Tables}}
	c.Run.Spelling = r.Spelling
	var dirs, labels []string
	for i, a := range r.Sweep.Parameters {
		if err := c.Run.set(a.Path, values[i]); err != nil {
			return Cell{}, err
		}
		c.Values = append(c.Values, Axis{Path: a.Path, Values: values[i : i+1]})
		last := a.Path[strings.LastIndexByte(a.Path, '.')+1:]
		dirs = append(dirs, last+"_"+strings.ReplaceAll(spell(values[i]), "/", ""))
		labels = append(labels, a.Path+"="+spell(values[i]))
	}
	c.Dir, c.Label = strings.Join(dirs, "__"), strings.Join(labels, ", ")
	if p := c.Run.Profiling(); r.Sweep.DeriveRequests && p != nil {
		n := DefaultRequests(p)
		p.Requests = &n
	}
	if r.RandomSeed != nil && !r.Sweep.SameSeed {
		seed := r.RandomSeed.Plus(index)
		c.Run.RandomSeed = &seed
		if d := c.Run.Dataset(); d.RandomSeed != nil {
			d.RandomSeed = &seed
		}
	}
	if err := c.Run.Validate(); err != nil {
		return Cell{}, fmt.Errorf("cell %s: %w", c.Label, err)
	}
	return c, nil
}

// spell prints a value the way Python does.
func spell(v any) string {
	switch v := v.(type) {
	case float64:
		return FormatFloat(v)
	case int:
		return strconv.Itoa(v)
	case bool:
		if v {
			return "True"
		}
		return "False"
	}
	return fmt.Sprint(v)
}

// clone copies a body by way of its file layout, secrets included.
func clone(b *Benchmark) (*Benchmark, error) {
	var n yaml.Node
	if err := n.Encode(b); err != nil {
		return nil, err
	}
	c := &Benchmark{}
	return c, n.Decode(c)
}

// TakeFirst gives the run the values of the first cell of its sweep. Paths that lead nowhere are left for Validate.
func (r *Run) TakeFirst() {
	if r.Sweep == nil {
		return
	}
	for _, a := range r.Sweep.Parameters {
		before := r.Benchmark
		if len(a.Values) > 0 && r.set(a.Path, a.Values[0]) != nil {
			r.Benchmark = before
		}
	}
}

// set puts a value at a dotted path; entries of datasets and phases go by name or number.
func (r *Run) set(path string, v any) error {
	var body yaml.Node
	if err := body.Encode(&r.Benchmark); err != nil {
		return err
	}
	n := &body
	if path == "model" || path == "models" {
		path = "models.items.0.name"
	}
	for part := range strings.SplitSeq(path, ".") {
		next := step(n, part)
		if next == nil {
			return fmt.Errorf("sweep.parameters: there is no key %s in %s", part, path)
		}
		n = next
	}
	style := yaml.Node{}
	if err := style.Encode(v); err != nil {
		return err
	}
	*n = style
	r.Benchmark = Benchmark{Spelling: r.Spelling}
	if fractional(n) && len(misfits(&body, reflect.TypeFor[Benchmark](), "")) > 0 {
		return fmt.Errorf("sweep.parameters.%s: %s is not an integer", path, n.Value)
	}
	if err := body.Decode(&r.Benchmark); err != nil {
		return fmt.Errorf("sweep.parameters.%s: %s", path, strings.TrimPrefix(plainer(err).Error(), "line 0: "))
	}
	return nil
}

// step goes one part down a tree.
func step(n *yaml.Node, part string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		for i, entry := range n.Content {
			if name := step(entry, "name"); name != nil && entry.Kind == yaml.MappingNode && name.Value == part || strconv.Itoa(i) == part {
				return entry
			}
		}
	}
	return nil
}
