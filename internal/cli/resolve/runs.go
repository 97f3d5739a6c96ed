package resolve

import (
	"slices"
	"sort"
	"strings"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
)

// consistentSeed is the default seed of repeated and swept runs.
const consistentSeed config.Seed = "42"

// sweepable returns the rows for which a comma list is a sweep over their keys.
func sweepable() []*setting.Row {
	var rows []*setting.Row
	for i := range Flags.Rows {
		if f := &Flags.Rows[i]; f.Sweep && !f.NotBuilt {
			rows = append(rows, f)
		}
	}
	return rows
}

// swept lists the flags with several values, as the user spelled them.
func (r *resolver) swept() []string {
	var names []string
	for _, f := range sweepable() {
		if g := r.set.Get(f.Name()); g != nil && len(g.Numbers()) > 1 {
			names = append(names, r.spelled(f.Name()))
		}
	}
	return names
}

// repetition fills in repeats, sweeps and the seed that they share.
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

// randomSeed returns the seed of the command line, nil = none.
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
		s.DeriveRequests = r.load.unbounded() && !r.fromFile
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
		if len(r.searchSLA()) > 0 { // a mistake in it is an error anyway
			r.warn("%s has no effect without a sweep or a search", r.spelled("--search-sla"))
		}
		return
	case s.Type != config.SweepGrid && s.Type != config.SweepZip:
		if lists := r.swept(); len(lists) > 0 {
			r.fail("%s: a list can only extend a grid sweep; %s has a sweep of type %s", strings.Join(lists, ", "), r.set.Text("--config", ""), s.Type)
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

// sweptAxes returns the axes of the flags with several values.
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
			r.warn("%s has a value twice; each value is run once", r.spelled(f.Name()))
		}
		values := g.Numbers()
		for i, v := range values {
			if n, whole := v.(int64); whole {
				values[i] = int(n)
			}
		}
		if len(values) == 1 && r.run.Sweep != nil && slices.ContainsFunc(r.run.Sweep.Parameters, func(a config.Axis) bool { return a.Path == path }) {
			r.fail("%s: %s sweeps this setting; give a list of values to replace that", r.spelled(f.Name()), r.set.Text("--config", ""))
		}
		if len(values) > 1 {
			axes = append(axes, config.Axis{Path: path, Values: values})
		}
	}
	return axes
}

// axisPath replaces the standard names in the path of an axis by the file's names of its phase and dataset.
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
