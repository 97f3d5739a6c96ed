package cli

import (
	"slices"
	"sort"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/setting"
)

// consistentSeed is the seed of repeated and swept runs for which nobody gave one.
const consistentSeed config.Seed = "42"

// sweepable are the rows that a comma list sweeps over their keys.
func sweepable() []*setting.Row {
	var rows []*setting.Row
	for i := range profileTable.Rows {
		if f := &profileTable.Rows[i]; f.Sweep && !f.NotBuilt {
			rows = append(rows, f)
		}
	}
	return rows
}

// swept lists the flags that hold several values, as the user spelled them.
func (r *resolver) swept() []string {
	var names []string
	for _, f := range sweepable() {
		if g := r.set.Get(f.Name()); g != nil && len(g.Numbers()) > 1 {
			names = append(names, r.as(f.Name()))
		}
	}
	return names
}

// repetition fills repeats, sweeps and the seed that they share.
func (r *resolver) repetition() {
	m := &r.run.MultiRun
	r.bind("multi_run.")
	if m.Convergence != nil && m.Convergence.Metric == "" && !r.run.Written("multi_run.convergence") {
		m.Convergence = nil
	}
	r.bind("no_sweep_table")
	r.sweep()
	if s := r.randomSeed(); s != nil {
		r.run.RandomSeed = s
	} else if r.run.RandomSeed == nil && (m.NumRuns > 1 || r.run.Sweep != nil) && m.SetConsistentSeed {
		seed := consistentSeed
		r.run.RandomSeed = &seed
	}
}

// randomSeed is the seed of the command line, nil = none is given.
func (r *resolver) randomSeed() *config.Seed {
	text := r.set.Text("--random-seed", "")
	if text == "" {
		return nil
	}
	seed := config.Seed(text)
	return &seed
}

func (r *resolver) sweep() {
	if s := r.sweepOf(); s != nil {
		s.DeriveRequests = r.load.unbounded() && !r.over
		r.run.Sweep = s
		r.bind("sweep.")
		r.run.TakeFirst()
		return
	}
	axes := r.sweptAxes()
	s := &config.Sweep{Type: config.SweepGrid, IterationOrder: "repeated"}
	if r.run.Sweep != nil {
		s = r.run.Sweep
		for _, a := range s.Parameters {
			if !slices.ContainsFunc(axes, func(b config.Axis) bool { return a.Path == b.Path }) {
				axes = append(axes, a)
			}
		}
	}
	switch {
	case len(axes) == 0 && r.run.Sweep == nil:
		if r.has("--search-sla") {
			r.warn("%s has no effect without a sweep or a search", r.as("--search-sla"))
		}
		return
	case s.Type != config.SweepGrid && s.Type != config.SweepZip:
		if lists := r.swept(); len(lists) > 0 {
			r.fail("%s: lists join a grid; %s has a sweep of type %s", strings.Join(lists, ", "), r.set.Text("--config", ""), s.Type)
		}
		r.bind("sweep.")
		s.SLAFilters = append(s.SLAFilters, r.searchSLA()...)
		return
	}
	sort.Slice(axes, func(i, j int) bool { return axes[i].Path < axes[j].Path })
	s.Parameters = axes
	l := &r.load
	s.DeriveRequests = s.DeriveRequests || l.unbounded() && (len(l.concurrency) > 1 || len(l.prefill) > 1 || len(r.axes) > 0)
	r.run.Sweep = s
	r.bind("sweep.")
	s.SLAFilters = append(s.SLAFilters, r.searchSLA()...)
}

// sweptAxes are the flags that were given several values.
func (r *resolver) sweptAxes() (axes config.Axes) {
	for _, a := range r.axes {
		axes = append(axes, config.Axis{Path: r.axisPath(a.Path), Values: a.Values})
	}
	for _, f := range sweepable() {
		g, path := r.set.Get(f.Name()), r.axisPath(f.Key)
		if g == nil || !r.has(f.Name()) {
			continue
		}
		if g.Repeated {
			r.warn("%s names a value twice; each is run once", r.as(f.Name()))
		}
		values := g.Numbers()
		for i, v := range values {
			if n, whole := v.(int64); whole {
				values[i] = int(n)
			}
		}
		if len(values) == 1 && r.run.Sweep != nil && slices.ContainsFunc(r.run.Sweep.Parameters, func(a config.Axis) bool { return a.Path == path }) {
			r.fail("%s: %s sweeps it; a list of values takes the place of that", r.as(f.Name()), r.set.Text("--config", ""))
		}
		if len(values) > 1 {
			axes = append(axes, config.Axis{Path: path, Values: values})
		}
	}
	return axes
}

// axisPath puts the names that a file gave to its phase and its dataset into the path of an axis.
func (r *resolver) axisPath(path string) string {
	if p := r.run.Profiling(); p != nil {
		if rest, ok := strings.CutPrefix(path, "phases.profiling."); ok {
			return "phases." + p.Name + "." + rest
		}
	}
	if rest, ok := strings.CutPrefix(path, "datasets.main."); ok && len(r.run.Datasets) == 1 {
		return "datasets." + r.run.Dataset().Name + "." + rest
	}
	return path
}
