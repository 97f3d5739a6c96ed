package resolve

import (
	"fmt"
	"strconv"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/objective"
	"aiperf/internal/run/rules"
)

// searchFlags change a search of --search-space; recipeFlags change a recipe.
var (
	searchFlags = []string{
		"--search-metric", "--search-stat", "--search-direction", "--search-max-iterations", "--search-initial-points", "--search-random-seed",
		"--search-planner", "--search-percentile-pooling", "--bo-constraint-mode",
	}
	recipeFlags = []string{
		"--ttft-sla-ms", "--isl-osl-pairs", "--itl-sla-ms", "--tpot-sla-ms", "--e2e-sla-ms", "--error-rate-sla", "--slo-attainment-fraction", "--search-style",
		"--degradation-threshold", "--degradation-metric-tag", "--degradation-stat", "--isl-min", "--isl-max", "--isl-steps", "--concurrency-min",
		"--concurrency-max", "--concurrency-steps", "--osl-min", "--osl-max", "--osl-steps",
	}
)

// sweepOf returns the sweep of --variant, --search-space or --search-recipe; nil: none is given.
func (r *resolver) sweepOf() *config.Sweep {
	kinds := r.given("--variant", "--search-space", "--search-recipe")
	switch {
	case len(kinds) > 1:
		r.fail("%s exclude each other", strings.Join(kinds, " and "))
		return nil
	case len(kinds) == 1 && r.run.Sweep != nil:
		r.fail("%s: %s has a sweep already", kinds[0], r.set.Text("--config", ""))
		return nil
	}
	if names := r.given(recipeFlags...); len(names) > 0 && !r.has("--search-recipe") {
		r.warn("%s %s", strings.Join(names, ", "), rules.Agree(len(names), "has no effect without --search-recipe"))
	}
	if names := r.given(append(searchFlags, "--search-sla", "--search-sla-tier")...); len(names) > 0 && !r.has("--search-space") && !r.has("--search-recipe") &&
		!(len(names) == 1 && r.has("--search-sla")) {
		r.fail("%s %s", strings.Join(names, ", "), rules.Agree(len(names), "needs --search-space; without it nothing is searched"))
	}
	switch {
	case r.has("--variant"):
		return r.variants()
	case r.has("--search-space"):
		return r.searchSpace()
	case r.has("--search-recipe"):
		return r.recipe()
	}
	return nil
}

// searchSpace returns the search that the flags define.
func (r *resolver) searchSpace() *config.Sweep {
	if lists := r.swept(); len(lists) > 0 {
		r.fail("%s and a list in %s exclude each other: a search chooses its cells itself", r.spelled("--search-space"), strings.Join(lists, ", "))
		return nil
	}
	s := config.DefaultSearch()
	for _, text := range r.set.Texts("--search-space") {
		d, err := dimension(text)
		if err != nil {
			r.fail("%s: %v", r.spelled("--search-space"), err)
			return nil
		}
		d.Path = r.run.FullPath(d.Path)
		s.SearchSpace = append(s.SearchSpace, d)
	}
	for _, need := range []string{"--search-metric", "--search-direction", "--search-max-iterations"} {
		if !r.has(need) {
			r.fail("%s needs %s", r.spelled("--search-space"), need)
		}
	}
	s.Objectives = []config.Objective{{
		Metric: r.set.Text("--search-metric", ""), Stat: r.set.Text("--search-stat", "avg"), Direction: r.set.Text("--search-direction", ""),
	}}
	r.searchSettings(s)
	if s.InitialPoints >= s.MaxIterations && s.MaxIterations > 0 {
		r.fail("--search-max-iterations %d must be above the %d initial points (--search-initial-points)", s.MaxIterations, s.InitialPoints)
	}
	return s
}

// searchSettings applies the flags that any search has.
func (r *resolver) searchSettings(s *config.Sweep) {
	if n := first(r.set.Ints("--search-max-iterations")); n != nil {
		s.MaxIterations = *n
	}
	if n := first(r.set.Ints("--search-initial-points")); n != nil {
		s.InitialPoints = *n
	}
	if n := r.set.Ints("--search-random-seed"); n != nil {
		s.SearchSeed = &n[0]
	}
	s.Planner = r.set.Text("--search-planner", s.Planner)
	s.ObjectivePooling = r.set.Text("--search-percentile-pooling", s.ObjectivePooling)
	s.ConstraintMode = r.set.Text("--bo-constraint-mode", s.ConstraintMode)
	s.SLAFilters = append(s.SLAFilters, r.searchSLA()...)
	if r.has("--search-sla-tier") {
		s.SLATiers = r.searchTiers()
		if !r.has("--search-planner") && s.Planner != "smooth_isotonic" {
			s.Planner = "monotonic_sla"
		}
	}
}

// searchTiers reads the service levels of --search-sla-tier: label:condition,condition; the label is optional.
func (r *resolver) searchTiers() (list []config.SLATier) {
	for i, text := range r.set.Texts("--search-sla-tier") {
		t := config.SLATier{Label: fmt.Sprintf("tier_%d", i+1)}
		rest := text
		first, _, _ := strings.Cut(text, ",")
		if _, err := objective.Parse(first); err != nil && strings.Count(first, ":") != 3 {
			t.Label, rest, _ = strings.Cut(text, ":")
			t.Label = strings.TrimSpace(t.Label)
		}
		for one := range strings.SplitSeq(rest, ",") {
			if f, ok := r.condition("--search-sla-tier", strings.TrimSpace(one)); ok {
				t.Filters = append(t.Filters, f)
			}
		}
		list = append(list, t)
	}
	return list
}

// searchSLA reads the conditions of --search-sla.
func (r *resolver) searchSLA() (list []config.SLAFilter) {
	for _, text := range r.set.Texts("--search-sla") {
		if f, ok := r.condition("--search-sla", text); ok {
			list = append(list, f)
		}
	}
	return list
}

// condition reads metric:stat:op:threshold from a flag.
func (r *resolver) condition(flag, text string) (f config.SLAFilter, ok bool) {
	if strings.ContainsAny(text, "<>") {
		return r.limit(flag, text)
	}
	parts := strings.Split(text, ":")
	var limit float64
	err := fmt.Errorf("%d parts", len(parts))
	if len(parts) == 4 {
		limit, err = strconv.ParseFloat(parts[3], 64)
	}
	if err != nil {
		r.fail("%s %q: %v; write METRIC:STAT<VALUE, for example ttft:p95<200ms, or metric:stat:op:threshold", r.spelled(flag), text, err)
		return f, false
	}
	if _, known := metric.Lookup(parts[0]); !known {
		r.fail("%s %q: %s", r.spelled(flag), text, unknownMetric(parts[0]))
		return f, false
	}
	return config.SLAFilter{MetricTag: parts[0], Stat: parts[1], Op: parts[2], Threshold: limit}, true
}

// operators maps comparison operators to their names in a configuration.
var operators = map[string]string{"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

// limit reads a limit from a flag in the grammar of objectives.
func (r *resolver) limit(flag, text string) (f config.SLAFilter, ok bool) {
	l, err := objective.Parse(text)
	if good, certain := l.Good(); err == nil && certain && !good {
		err = fmt.Errorf("%q describes a bad run; write %s", text, l.Opposite())
	}
	if _, known := metric.Lookup(l.Tag); err == nil && !known {
		err = fmt.Errorf("%q: %s is not a metric of a search; use --error-rate-sla with a recipe", text, l.Tag)
	}
	if err != nil {
		r.fail("%s %v", r.spelled(flag), err)
		return f, false
	}
	if l.Stat == "" {
		l.Stat = "avg"
	}
	return config.SLAFilter{MetricTag: l.Tag, Stat: l.Stat, Op: operators[l.Op], Threshold: l.Value}, true
}

// dimension reads path:lo,hi[:int|real].
func dimension(text string) (d config.SearchDimension, err error) {
	parts := strings.Split(text, ":")
	low, high, both := "", "", false
	if len(parts) > 1 {
		low, high, both = strings.Cut(parts[1], ",")
	}
	if len(parts) < 2 || len(parts) > 3 || !both {
		return d, fmt.Errorf("%q is not path:lo,hi or path:lo,hi:int", text)
	}
	d = config.SearchDimension{Path: strings.TrimSpace(parts[0]), Kind: "real", Prior: "uniform"}
	if d.Low, err = strconv.ParseFloat(strings.TrimSpace(low), 64); err != nil {
		return d, fmt.Errorf("%q: %s is not a number", text, low)
	}
	if d.High, err = strconv.ParseFloat(strings.TrimSpace(high), 64); err != nil {
		return d, fmt.Errorf("%q: %s is not a number", text, high)
	}
	if len(parts) == 3 {
		d.Kind = strings.TrimSpace(parts[2])
	}
	return d, nil
}

// recipe returns the sweep or search of --search-recipe.
func (r *resolver) recipe() *config.Sweep {
	name := r.set.Text("--search-recipe", "")
	if lists := r.swept(); len(lists) > 0 && (name != "pareto-sweep" || len(lists) > 1 || len(r.load.concurrency) < 2) {
		r.fail("%s and a list in %s exclude each other", r.spelled("--search-recipe"), strings.Join(lists, ", "))
		return nil
	}
	t := r.targets()
	s, slos, err := config.Recipe(name, t)
	if err != nil {
		r.fail("%s %s: %v", r.spelled("--search-recipe"), name, err)
		return nil
	}
	for _, one := range slos {
		r.run.SLOs.Set(one.Tag, one.Threshold)
	}
	if s.Type == config.SweepSearch {
		r.searchSettings(s)
	} else {
		s.SLAFilters = append(s.SLAFilters, r.searchSLA()...)
	}
	return s
}

// targets returns the parameters of a recipe from flags.
func (r *resolver) targets() *config.Targets {
	number := func(flag string) *float64 {
		if f := r.set.Floats(flag); f != nil {
			return &f[0]
		}
		return nil
	}
	span := func(name string) [2]*int {
		return [2]*int{first(r.set.Ints("--" + name + "-min")), first(r.set.Ints("--" + name + "-max"))}
	}
	t := &config.Targets{
		TTFT: number("--ttft-sla-ms"), ITL: number("--itl-sla-ms"), E2E: number("--e2e-sla-ms"), ErrorRate: number("--error-rate-sla"),
		Attainment: number("--slo-attainment-fraction"), Pairs: r.set.Text("--isl-osl-pairs", ""), Style: r.set.Text("--search-style", ""),
		Degradation: number("--degradation-threshold"), Metric: r.set.Text("--degradation-metric-tag", ""), Stat: r.set.Text("--degradation-stat", ""),
		ConcurrencyRange: span("concurrency"), ISLRange: span("isl"), OSLRange: span("osl"),
		ConcurrencySteps: first(r.set.Ints("--concurrency-steps")), ISLSteps: first(r.set.Ints("--isl-steps")), OSLSteps: first(r.set.Ints("--osl-steps")),
		Streaming: r.run.Endpoint.Streaming, DatasetName: r.run.Dataset().Name, MeasuredPhase: "profiling",
	}
	if p := r.run.Profiling(); p != nil {
		t.MeasuredPhase = p.Name
	}
	for _, c := range r.load.concurrency {
		if r.has("--concurrency") {
			t.Concurrency = append(t.Concurrency, int(c))
		}
	}
	if other := number("--tpot-sla-ms"); other != nil {
		if t.ITL != nil && *t.ITL != *other {
			r.fail("%s and %s set the same limit and differ; give one of them", r.spelled("--itl-sla-ms"), r.spelled("--tpot-sla-ms"))
		}
		t.ITL = other
	}
	return t
}
