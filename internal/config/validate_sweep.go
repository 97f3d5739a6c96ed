package config

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/plugin"
)

// repetition checks the number of repetitions and the sweep.
func (v *violations) repetition(r *Run) {
	if c := r.MultiRun.Convergence; c != nil {
		v.addIf(c.Metric == "", "multi_run.convergence.metric", "is missing")
		v.addIf(c.MinRuns < 2, "multi_run.convergence.min_runs", "must be >= 2, not %d", c.MinRuns)
		v.addIf(c.MinRuns > r.MultiRun.NumRuns && r.MultiRun.NumRuns > 1, "multi_run.convergence.min_runs", "%d is above %s %d", c.MinRuns, v.spelling("multi_run.num_runs"), r.MultiRun.NumRuns)
	}
	s := r.Sweep
	if s == nil {
		return
	}
	switch {
	case s.Type == SweepGrid || s.Type == SweepZip:
		v.axes(s)
	case s.Type == SweepScenarios:
		v.scenarios(s)
	case s.Type.Sampled():
		v.dimensions(s)
	case s.Type == SweepSearch:
		v.search(s)
		v.addIf(s.ObjectivePooling == "pooled" && len(r.Artifacts.Records) == 0, "sweep.objective_pooling", "pooled needs the records of the runs: %s is off", r.As("artifacts.records"))
		v.addIf(s.SLAWarmup != nil && *s.SLAWarmup < 0, "sweep.sla_warmup_seconds", "is below 0")
		for _, p := range r.Phases {
			v.addIf(s.SLAWarmup != nil && *s.SLAWarmup > 0 && p.Type == PhaseFixedSchedule, "sweep.sla_warmup_seconds", "has no meaning for a fixed schedule: its times are those of the data")
		}
	default:
		v.oneOf("sweep.type", string(s.Type), "grid", "zip", "scenarios", "sobol", "latin_hypercube", "adaptive_search")
	}
	for i := range s.SLAFilters {
		v.filter(fmt.Sprintf("sweep.sla_filters[%d]", i), &s.SLAFilters[i])
	}
	if p := s.PostProcess; p != nil {
		v.addIf(p.Handler == "", "sweep.post_process.handler", "is missing")
		v.addIf(p.Filename == "" || strings.ContainsAny(p.Filename, `/\`), "sweep.post_process.output_filename", "%q is not the name of a file", p.Filename)
	}
	if len(v.list) == 0 {
		if _, err := r.Cells(); err != nil {
			v.list = append(v.list, Violation{"sweep.parameters", err.Error()})
		}
	}
}

func (v *violations) axes(s *Sweep) {
	v.addIf(len(s.Parameters) == 0, "sweep.parameters", "is empty")
	for _, a := range s.Parameters {
		v.sweepPath("sweep.parameters."+a.Path, a.Path)
		v.addIf(len(a.Values) == 0, "sweep.parameters."+a.Path, "has no values")
		v.addIf(s.Type == SweepZip && len(a.Values) != len(s.Parameters[0].Values), "sweep.parameters."+a.Path,
			"has %d values, %s has %d: zip pairs lists of one length", len(a.Values), v.spelling("sweep.parameters."+s.Parameters[0].Path), len(s.Parameters[0].Values))
	}
}

// sweepPath rejects paths that cannot differ between cells.
func (v *violations) sweepPath(at, path string) {
	head, _, _ := strings.Cut(path, ".")
	v.addIf(slices.Contains([]string{"sweep", "multi_run", "random_seed"}, head), at, "cannot be swept: it belongs to the whole series")
}

func (v *violations) scenarios(s *Sweep) {
	v.addIf(len(s.Runs) == 0, "sweep.runs", "is empty")
	there := map[string]bool{}
	for i := range s.Runs {
		at := fmt.Sprintf("sweep.runs[%d].name", i)
		name := s.Runs[i].Name
		v.addIf(there[name], at, "%q is listed twice; names of scenarios are names of directories", name)
		v.addIf(strings.ContainsAny(name, "/\\") || name == "." || name == "..", at, "%q is not the name of a directory", name)
		there[name] = true
	}
}

func (v *violations) dimensions(s *Sweep) {
	v.addIf(s.Samples < 2 || s.Samples > 1<<20, "sweep.samples", "must be >= 2 and <= %d, not %d", 1<<20, s.Samples)
	v.addIf(len(s.Dimensions) == 0, "sweep.dimensions", "is empty")
	v.addIf(s.Seed != nil && *s.Seed < 0, "sweep.seed", "must be >= 0")
	v.oneOf("sweep.label_format", s.LabelFormat, "index", "kv", "")
	v.addIf(s.Optimization == "lloyd", "sweep.optimization", "lloyd is not supported, because it moves the points off their slices; allowed are random-cd, null")
	v.addIf(!slices.Contains([]string{"", "random-cd", "none", "lloyd"}, s.Optimization), "sweep.optimization", "%q is not one of random-cd, null", s.Optimization)
	for i := range s.Dimensions {
		d := &s.Dimensions[i]
		at := fmt.Sprintf("sweep.dimensions[%d]", i)
		v.sweepPath(at+".path", d.Path)
		v.addIf(d.Path == "", at+".path", "is missing")
		v.oneOf(at+".scale", d.Scale, "linear", "log", "")
		v.oneOf(at+".kind", d.Kind, "real", "int", "")
		if d.Choices != nil {
			v.addIf(len(d.Choices) == 0, at+".choices", "is empty")
			v.addIf(d.Low != 0 || d.High != 0, at, "has choices and a range; give one of them")
			continue
		}
		v.addIf(!(d.Low < d.High), at, "needs lo < hi, or choices")
		v.addIf(d.Scale == "log" && !(d.Low > 0), at+".lo", "must be > 0 for a logarithmic scale")
	}
}

// statistics are the statistics allowed in a condition.
var statistics = []string{"avg", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "min", "max"}

func (v *violations) filter(at string, f *SLAFilter) {
	v.addIf(f.MetricTag == "", at+".metric_tag", "is missing")
	v.oneOf(at+".op", f.Op, "lt", "le", "gt", "ge")
	v.oneOf(at+".stat", f.Stat, append([]string{""}, statistics...)...)
}

// Planners are the built-in planners of searches.
var Planners = []string{"bayesian", "monotonic_sla", "smooth_isotonic", "optuna"}

func (v *violations) search(s *Sweep) {
	v.addIf(s.MaxIterations < 2 || s.MaxIterations > 200, "sweep.max_iterations", "must be >= 2 and <= 200, not %d", s.MaxIterations)
	if _, external := plugin.Installed().Find("search_planner", s.Planner); !external {
		v.oneOf("sweep.planner", s.Planner, append(slices.Clone(Planners), "")...)
	}
	v.addIf(len(s.SearchSpace) == 0, "sweep.search_space", "is empty")
	for i := range s.SearchSpace {
		d := &s.SearchSpace[i]
		at := fmt.Sprintf("sweep.search_space[%d]", i)
		v.sweepPath(at+".path", d.Path)
		v.addIf(!(d.Low < d.High), at, "needs lo < hi, has %g and %g", d.Low, d.High)
		v.oneOf(at+".kind", d.Kind, "real", "int", "")
		v.oneOf(at+".prior", d.Prior, "uniform", "log-uniform", "log_uniform", "")
		v.addIf(strings.HasPrefix(d.Prior, "log") && !(d.Low > 0), at+".lo", "must be > 0 for a logarithmic prior")
	}
	v.addIf(len(s.Objectives) == 0, "sweep.objectives", "is empty")
	for i := range s.Objectives {
		o := &s.Objectives[i]
		at := fmt.Sprintf("sweep.objectives[%d]", i)
		v.addIf(o.Metric == "", at+".metric", "is missing")
		v.oneOf(at+".direction", o.Direction, "maximize", "minimize")
		v.oneOf(at+".stat", o.Stat, "", "avg", "p50", "p90", "p95", "p99")
	}
	for i := range s.OutcomeConstraints {
		o := &s.OutcomeConstraints[i]
		at := fmt.Sprintf("sweep.outcome_constraints[%d]", i)
		v.addIf(o.Metric == "", at+".metric", "is missing")
		v.oneOf(at+".op", o.Op, "lt", "le", "gt", "ge", "<=", ">=", "<", ">")
	}
	v.searchRest(s)
}

func (v *violations) searchRest(s *Sweep) {
	boundary := s.Planner == "monotonic_sla" || s.Planner == "smooth_isotonic"
	v.addIf(boundary && len(s.SLAFilters)+len(s.SLATiers) == 0, "sweep.sla_filters", "is empty: planner %s looks for the end of a service level", s.Planner)
	v.addIf(boundary && len(s.SearchSpace) != 1, "sweep.search_space", "has %d dimensions; planner %s searches one", len(s.SearchSpace), s.Planner)
	v.addIf(!boundary && len(s.Objectives) > 1, "sweep.objectives", "are several: a search has one objective; put the others into outcome_constraints")
	v.oneOf("sweep.objective_pooling", s.ObjectivePooling, "", "mean", "pooled")
	v.oneOf("sweep.constraint_mode", s.ConstraintMode, "", "penalty", "eic")
	v.oneOf("sweep.sla_precision", s.SLAPrecision, "", "tight", "normal", "coarse")
	v.searchLimits(s)
	v.tiers(s, boundary)
}

// searchLimits checks the numbers and the words that steer a planner; 0 and "" mean the default.
func (v *violations) searchLimits(s *Sweep) {
	for _, one := range []struct {
		key       string
		is, least int
	}{
		{"n_initial_points", s.InitialPoints, 1}, {"plateau_window", s.PlateauWindow, 2}, {"improvement_patience", s.ImprovementPatience, 2},
		{"monotonic_stability_trials", s.MonotonicStabilityTrials, 1}, {"sla_replicates", s.SLAReplicates, 0},
	} {
		v.addIf(one.is != 0 && one.is < one.least, "sweep."+one.key, "must be >= %d, not %d", one.least, one.is)
	}
	v.addIf(!(s.PlateauThreshold >= 0), "sweep.plateau_threshold", "must be > 0, not %g", s.PlateauThreshold)
	v.addIf(s.SearchSeed != nil && *s.SearchSeed < 0, "sweep.random_seed", "must be >= 0")
	for _, one := range [][2]string{{"optuna_sampler", s.OptunaSampler}, {"optuna_acquisition", s.OptunaAcquisition}, {"optuna_terminator", s.OptunaTerminator}} {
		if key := "sweep." + one[0]; one[1] != "" {
			v.oneOf(key, one[1], wordsOfKey(key)...)
		}
	}
}

// tiers checks the named service levels of a search.
func (v *violations) tiers(s *Sweep, boundary bool) {
	n := len(s.SLATiers)
	v.addIf(n > 0 && !boundary, "sweep.sla_tiers", "need planner monotonic_sla or smooth_isotonic, not %s: each is a limit of one value", s.Planner)
	v.addIf(n == 1 || n > 10, "sweep.sla_tiers", "are %d: give 2 to 10; for a single one use sla_filters", n)
	labels := map[string]bool{}
	for i := range s.SLATiers {
		t := &s.SLATiers[i]
		at := fmt.Sprintf("sweep.sla_tiers[%d]", i)
		v.addIf(t.Label == "", at+".label", "is missing")
		v.addIf(labels[t.Label], at+".label", "%q is listed twice", t.Label)
		v.addIf(len(t.Filters) == 0, at+".filters", "is empty")
		labels[t.Label] = true
		for k := range t.Filters {
			v.filter(fmt.Sprintf("%s.filters[%d]", at, k), &t.Filters[k])
		}
	}
}
