package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Cell is one combination of a sweep's values.
type Cell struct {
	Dir   string // directory name; empty without a sweep
	Label string // path=value, …
	// Variation names the cell in its files and in its derived seeds; if empty, Label does.
	Variation string
	Values    []Axis // one value per axis, in the order of the axes
	Run       *Run   // the run of this cell: no sweep, the cell's seed, the base's artifact directory
}

// Cells expands the sweep. Axes are sorted by path, and the last one varies fastest. Without a sweep, the run itself is the only cell. So it is for a
// search, whose further cells depend on results.
func (r *Run) Cells() ([]Cell, error) {
	if r.Sweep == nil {
		return []Cell{{Run: r}}, nil
	}
	if r.Sweep.Type == SweepSearch {
		return []Cell{{Run: r.withoutSweep()}}, nil
	}
	points, err := r.points()
	if err != nil {
		return nil, err
	}
	cells := make([]Cell, len(points))
	for i := range points {
		if cells[i], err = r.cell(i, &points[i]); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// CellAt returns a cell of a search, with the given values at their paths.
func (r *Run) CellAt(index int, values []Axis) (Cell, error) {
	p := point{values: values}
	p.dir, p.label = cellName(values, index)
	return r.cell(index, &p)
}

// FullPath returns the full path of an axis.
func (r *Run) FullPath(path string) string {
	n, err := bodyNode(&r.Benchmark)
	if err != nil {
		return path
	}
	return fullPath(path, entries(step(n, "datasets")), entries(step(n, "phases")))
}

// maxCells is the maximum number of cells of a sweep. More would take too long to run.
const maxCells = 10000

// point describes a cell before its run is built: values at paths, or a scenario.
type point struct {
	dir, label string
	values     []Axis
	scenario   *Scenario
}

// points returns the cells of a sweep in order, without duplicates.
func (r *Run) points() ([]point, error) {
	s, used := r.Sweep, map[string]int{}
	var all []point
	switch {
	case s.Type == SweepScenarios:
		for i := range s.Runs {
			one := &s.Runs[i]
			p := point{dir: segment(one.Name, i), label: one.Name, scenario: one, values: one.Values}
			if len(one.Values) > 0 {
				p.dir, _ = cellName(one.Values, i)
				p.dir = uniqueDir(used, p.dir)
				all = append(all, p)
				continue
			}
			p.dir = uniqueDir(used, p.dir)
			for _, part := range []struct {
				path string
				n    *yaml.Node
			}{{"variables", &one.Variables}, {"benchmark", &one.Benchmark}} {
				var v any
				if !part.n.IsZero() && part.n.Decode(&v) == nil {
					p.values = append(p.values, Axis{Path: part.path, Values: []any{v}})
				}
			}
			all = append(all, p)
		}
		return all, nil
	case s.Type.Sampled():
		return r.sampled()
	}
	combinations, err := s.combinations()
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for n, values := range combinations {
		p := point{}
		for i, a := range s.Parameters {
			p.values = append(p.values, Axis{Path: a.Path, Values: values[i : i+1]})
		}
		if p.dir, p.label = cellName(p.values, n); !there[p.label] {
			p.dir = uniqueDir(used, p.dir)
			all = append(all, p)
		}
		there[p.label] = true
	}
	return all, nil
}

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

// withoutSweep returns a copy of the run without its sweep.
func (r *Run) withoutSweep() *Run {
	c := *r
	c.Sweep = nil
	return &c
}

func (r *Run) cell(index int, p *point) (Cell, error) {
	c := Cell{Dir: p.dir, Label: p.label, Values: p.values, Run: r.withoutSweep()}
	body, err := r.bodyOf(p)
	if err != nil {
		return Cell{}, fmt.Errorf("cell %s: %s", p.label, strings.TrimPrefix(err.Error(), "line 0: "))
	}
	body.Spelling = r.Spelling
	c.Run.Benchmark = *body
	if q := c.Run.Profiling(); r.Sweep.DeriveRequests && q != nil && !p.sets("phases", q.Name, "requests") {
		if q.Requests = nil; q.Sessions == nil && q.Duration == nil {
			n := DefaultRequests(q)
			q.Requests = &n
		}
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

// bodyOf returns the benchmark at a point of the sweep. It reads the file again with the values of the point if the file has expressions or the point
// changes variables. Then it applies the changes that flags made.
func (r *Run) bodyOf(p *point) (*Benchmark, error) {
	var body *Benchmark
	var err error
	if s := r.source; s != nil && s.loaded != nil && (s.templated || p.rewrites()) {
		body, err = r.rebuild(p)
	} else {
		body, err = clone(&r.Benchmark)
		if err == nil && p.scenario != nil {
			body, err = overlaid(body, &p.scenario.Benchmark)
		}
	}
	if err != nil {
		return nil, err
	}
	one := &Run{Benchmark: *body}
	bare := r.source == nil && r.Dataset().Images == nil
	for _, a := range p.values {
		if p.scenario != nil || strings.HasPrefix(a.Path, "variables.") {
			continue
		}
		if err := one.set(a.Path, a.Values[0]); err != nil {
			return nil, err
		}
	}
	if d := one.Dataset(); bare && d.Images != nil && !p.sets("datasets", d.Name, "images", "format") {
		d.Images.Format = DefaultImages().Format
	}
	return &one.Benchmark, nil
}

// sets reports whether a point sets the value at a path.
func (p *point) sets(path ...string) bool {
	if p.scenario != nil {
		n := &p.scenario.Benchmark
		for _, part := range path {
			if n = step(n, part); n == nil {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(p.values, func(a Axis) bool { return a.Path == strings.Join(path, ".") })
}

// rewrites reports whether a point changes more than values at their paths.
func (p *point) rewrites() bool {
	return p.scenario != nil || slices.ContainsFunc(p.values, func(a Axis) bool { return strings.HasPrefix(a.Path, "variables.") })
}

// rebuild reads the file again with the values of a point.
func (r *Run) rebuild(p *point) (*Benchmark, error) {
	run, _, err := r.source.build(p.change)
	if err != nil {
		return nil, err
	}
	now, err := bodyNode(&r.Benchmark)
	if err != nil {
		return nil, err
	}
	flags := difference(maskPaths(r.source.loaded, r.source.given), now)
	if flags == nil {
		return &run.Benchmark, nil
	}
	body, err := overlaid(&run.Benchmark, flags)
	if err != nil || p.scenario == nil || p.scenario.Benchmark.IsZero() {
		return body, err
	}
	return r.applyScenario(p.scenario, &run.Benchmark, body)
}

// GivenByFlags records the keys (of rows of settings) of values that flags set. They apply in every cell, even where the first cell has the same
// value from the file.
func (r *Run) GivenByFlags(keys []string) {
	for _, key := range keys {
		if path, ok := strings.CutPrefix(r.LongKey(key), "benchmark."); ok && r.source != nil {
			r.source.given = append(r.source.given, path)
		}
	}
}

// maskPaths returns a body in which the values at some paths are replaced by nodes that differ from any value.
func maskPaths(body *yaml.Node, paths []string) *yaml.Node {
	body = copyNode(body)
	for _, path := range paths {
		n := body
		for part := range strings.SplitSeq(path, ".") {
			if n = step(n, part); n == nil {
				break
			}
		}
		if n != nil {
			*n = yaml.Node{}
		}
	}
	return body
}

// applyScenario applies a scenario's own changes to the body changed by flags, so a scenario has priority over flags. cell is the body of the scenario
// without flags.
func (r *Run) applyScenario(s *Scenario, cell, changed *Benchmark) (*Benchmark, error) {
	without, _, err := r.source.build((&point{scenario: &Scenario{Variables: s.Variables}}).change)
	if err != nil {
		return nil, err
	}
	from, err := bodyNode(&without.Benchmark)
	if err != nil {
		return nil, err
	}
	to, err := bodyNode(cell)
	if err != nil {
		return nil, err
	}
	own := difference(from, to)
	if own == nil {
		return changed, nil
	}
	return overlaid(changed, own)
}

// change sets the values of a point in a file.
func (p *point) change(root, vars *yaml.Node) error {
	body := step(root, "benchmark")
	if s := p.scenario; s != nil {
		if !s.Variables.IsZero() {
			merge(vars, &s.Variables)
		}
		if !s.Benchmark.IsZero() {
			mergeBody(body, &s.Benchmark)
		}
		return nil
	}
	for _, a := range p.values {
		v := &yaml.Node{}
		if err := v.Encode(a.Values[0]); err != nil {
			return err
		}
		if name, ok := strings.CutPrefix(a.Path, "variables."); ok {
			if step(vars, name) == nil {
				return fmt.Errorf("%s: the file has no variable %s", a.Path, name)
			}
			*step(vars, name) = *v
			continue
		}
		n := body
		for part := range strings.SplitSeq(a.Path, ".") {
			if n != nil {
				n = step(n, part)
			}
		}
		if n != nil { // a value that the file does not set is set later
			*n = *v
		}
	}
	return nil
}

// mergeBody merges one body into another. If the upper one names models, they replace the others. Phases and datasets are merged by name.
func mergeBody(under, over *yaml.Node) {
	if over.Kind == yaml.MappingNode {
		if have, named := items(under), items(over); have != nil && named != nil {
			have.Content = nil
		}
	}
	merge(under, over)
}

// items returns the list of models of a body; nil if it has none.
func items(body *yaml.Node) *yaml.Node {
	if m := step(body, "models"); m != nil && m.Kind == yaml.MappingNode {
		return step(m, "items")
	}
	return nil
}

// overlaid returns a body with a tree merged into it.
func overlaid(b *Benchmark, over *yaml.Node) (*Benchmark, error) {
	n, err := bodyNode(b)
	if err != nil {
		return nil, err
	}
	if !over.IsZero() {
		mergeBody(n, over)
	}
	root := mapping()
	add(root, "benchmark", n)
	if _, err := normalise(root); err != nil {
		return nil, err
	}
	if wrong := misfits(n, reflect.TypeFor[Benchmark](), ""); len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "\n"))
	}
	c := &Benchmark{variables: b.variables}
	if err := n.Decode(c); err != nil {
		return nil, plainYAMLError(err)
	}
	return c, nil
}

// bodyNode returns a body as a tree, including secrets.
func bodyNode(b *Benchmark) (*yaml.Node, error) {
	var n yaml.Node
	err := n.Encode(b)
	return &n, err
}

// clone copies a body, including secrets, by encoding and decoding it.
func clone(b *Benchmark) (*Benchmark, error) {
	n, err := bodyNode(b)
	if err != nil {
		return nil, err
	}
	c := &Benchmark{variables: b.variables}
	return c, n.Decode(c)
}

// TakeFirst sets the values of the first cell of the sweep in the run. It skips what fails, because Validate reports it.
func (r *Run) TakeFirst() {
	if r.Sweep != nil && r.Sweep.Type != SweepSearch {
		if points, err := r.points(); err == nil && len(points) > 0 {
			if s := r.source; s != nil {
				s.loaded, _ = bodyNode(&r.Benchmark)
			}
			if body, err := r.bodyOf(&points[0]); err == nil {
				body.Spelling = r.Spelling
				r.Benchmark = *body
			}
		}
	}
	if r.source != nil {
		r.source.loaded, _ = bodyNode(&r.Benchmark)
	}
}

// ValuesNode returns the values of a cell as a mapping in the order of the axes.
func (c *Cell) ValuesNode() (yaml.Node, error) {
	var n yaml.Node
	return n, n.Encode(Values(c.Values))
}

// BodyNode returns the benchmark of a run as a tree with masked secrets.
func (r *Run) BodyNode() (yaml.Node, error) {
	n, err := r.node()
	if err != nil {
		return yaml.Node{}, err
	}
	return *step(n, "benchmark"), nil
}
