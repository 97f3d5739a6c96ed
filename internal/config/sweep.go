package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Sweep lists the cells of a series, or describes how to find them. Its keys depend on its type (spec: config, section 5.2).
type Sweep struct {
	Type SweepType `yaml:"type"`
	// Parameters are the axes of a grid, or lists of equal length that are paired.
	Parameters Axes `yaml:"parameters,omitempty"`
	// Runs are the cells of a sweep of scenarios.
	Runs []Scenario `yaml:"runs,omitempty"`
	// Samples to Optimization apply to sampled designs.
	Samples      int         `yaml:"samples,omitempty"`
	Seed         *int64      `yaml:"seed,omitempty"` // nil: the seed of the run
	Dimensions   []Dimension `yaml:"dimensions,omitempty"`
	LabelFormat  string      `yaml:"label_format,omitempty"` // index (default if empty) or kv
	Scramble     *bool       `yaml:"scramble,omitempty"`     // of a Sobol sequence; nil: true
	Optimization string      `yaml:"optimization,omitempty"` // of a Latin hypercube: random-cd (default if empty) or none

	Cooldown       Seconds `yaml:"cooldown_seconds"`
	IterationOrder string  `yaml:"iteration_order"` // repeated: all cells, then all again; independent: all repetitions of a cell, then the next cell
	SameSeed       bool    `yaml:"same_seed"`       // all cells use the base seed instead of base + index
	// DeriveRequests gives each cell the default request count of its concurrency, because no stop condition was given. This key is ours.
	DeriveRequests bool `yaml:"derive_requests,omitempty"`
	// SLAFilters define the feasible cells. The best and the Pareto-optimal cells are chosen among those.
	SLAFilters  []SLAFilter  `yaml:"sla_filters,omitempty"`
	PostProcess *PostProcess `yaml:"post_process,omitempty"`
	RecipeName  string       `yaml:"recipe_name,omitempty"`

	// The rest is of a search.
	Planner                  string              `yaml:"planner,omitempty"` // bayesian, optuna, monotonic_sla, smooth_isotonic
	SearchSpace              []SearchDimension   `yaml:"search_space,omitempty"`
	Objectives               []Objective         `yaml:"objectives,omitempty"`
	OutcomeConstraints       []OutcomeConstraint `yaml:"outcome_constraints,omitempty"`
	MaxIterations            int                 `yaml:"max_iterations,omitempty"`
	InitialPoints            int                 `yaml:"n_initial_points,omitempty"`
	PlateauWindow            int                 `yaml:"plateau_window,omitempty"`
	PlateauThreshold         float64             `yaml:"plateau_threshold,omitempty"`
	ImprovementPatience      int                 `yaml:"improvement_patience,omitempty"`
	SearchSeed               *int64              `yaml:"random_seed,omitempty"` // nil: the seed of the run
	OptunaSampler            string              `yaml:"optuna_sampler,omitempty"`
	OptunaAcquisition        string              `yaml:"optuna_acquisition,omitempty"`
	OptunaTerminator         string              `yaml:"optuna_terminator,omitempty"`
	ObjectivePooling         string              `yaml:"objective_pooling,omitempty"` // mean or pooled
	MonotonicStabilityTrials int                 `yaml:"monotonic_stability_trials,omitempty"`
	SLAReplicates            int                 `yaml:"sla_replicates,omitempty"`
	SLAPrecision             string              `yaml:"sla_precision,omitempty"` // tight, normal, coarse
	SLAWarmup                *Seconds            `yaml:"sla_warmup_seconds,omitempty"`
	ConstraintMode           string              `yaml:"constraint_mode,omitempty"` // penalty or eic
	SLATiers                 []SLATier           `yaml:"sla_tiers,omitempty"`
}

// SweepType is the method by which cells are found.
type SweepType string

// The types of sweeps.
const (
	SweepGrid      SweepType = "grid"
	SweepZip       SweepType = "zip"
	SweepScenarios SweepType = "scenarios"
	SweepSobol     SweepType = "sobol"
	SweepLatin     SweepType = "latin_hypercube"
	SweepSearch    SweepType = "adaptive_search"
)

// Sampled reports whether the cells of this type are sampled from a space.
func (t SweepType) Sampled() bool { return t == SweepSobol || t == SweepLatin }

// Scenario is one cell given in full: its changes to the benchmark, and its values of variables.
type Scenario struct {
	Name string `yaml:"name,omitempty"`
	// Values name the cell in results and directories; if empty, Name does.
	Values    Values    `yaml:"values,omitempty"`
	Benchmark yaml.Node `yaml:"benchmark,omitempty"`
	Variables yaml.Node `yaml:"variables,omitempty"`
}

// Dimension is one coordinate of a sampled design: a range, or choices.
type Dimension struct {
	Path    string  `yaml:"path"`
	Low     float64 `yaml:"lo,omitempty"`
	High    float64 `yaml:"hi,omitempty"`
	Scale   string  `yaml:"scale,omitempty"` // linear (default if empty) or log
	Kind    string  `yaml:"kind,omitempty"`  // real (default if empty) or int
	Choices []any   `yaml:"choices,omitempty"`
}

// SearchDimension is one coordinate of a search.
type SearchDimension struct {
	Path  string  `yaml:"path"`
	Low   float64 `yaml:"lo"`
	High  float64 `yaml:"hi"`
	Kind  string  `yaml:"kind,omitempty"`  // real (default if empty) or int
	Prior string  `yaml:"prior,omitempty"` // uniform (default if empty) or log-uniform
}

// Objective is the quantity that a search optimizes.
type Objective struct {
	Metric    string   `yaml:"metric"`
	Stat      string   `yaml:"stat,omitempty"` // default if empty: avg
	Direction string   `yaml:"direction"`      // maximize or minimize
	Threshold *float64 `yaml:"threshold,omitempty"`
}

// OutcomeConstraint is a condition for a feasible cell.
type OutcomeConstraint struct {
	Metric string  `yaml:"metric"`
	Stat   string  `yaml:"stat,omitempty"` // default if empty: avg
	Op     string  `yaml:"op"`
	Bound  float64 `yaml:"bound"`
}

// SLAFilter is one condition of a service level, in the metric's display unit.
type SLAFilter struct {
	MetricTag string  `yaml:"metric_tag" json:"metric_tag"`
	Stat      string  `yaml:"stat,omitempty" json:"stat,omitempty"` // default if empty: p95
	Op        string  `yaml:"op" json:"op"`                         // lt, le, gt, ge
	Threshold float64 `yaml:"threshold" json:"threshold"`
}

// SLATier is a named set of conditions.
type SLATier struct {
	Label        string      `yaml:"label"`
	Filters      []SLAFilter `yaml:"filters"`
	OrderingRank *int        `yaml:"ordering_rank,omitempty"` // no effect: every cell is judged for every tier
}

// PostProcess sets what is computed from a finished sweep, and the output file.
type PostProcess struct {
	Handler  string    `yaml:"handler"`
	Params   yaml.Node `yaml:"params,omitempty"`
	Filename string    `yaml:"output_filename"`
}

// Axis is one swept key and its values.
type Axis struct {
	Path   string // dotted, list entries by name: phases.profiling.concurrency
	Values []any
}

// Axes are the axes of a sweep, sorted by path.
type Axes []Axis

// normalSweep fills in the defaults of a sweep and expands its paths.
func normalSweep(s *yaml.Node, datasets []*yaml.Node, phases []*yaml.Node) {
	if s.Kind != yaml.MappingNode {
		return
	}
	ensure(s, "iteration_order", text("repeated"))
	ensure(s, "type", text(string(SweepGrid)))
	if p := step(s, "parameters"); p != nil && p.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(p.Content); i += 2 {
			p.Content[i].Value = fullPath(p.Content[i].Value, datasets, phases)
		}
	}
	for _, key := range []string{"dimensions", "search_space"} {
		for _, d := range entries(step(s, key)) {
			if p := step(d, "path"); p != nil {
				p.Value = fullPath(p.Value, datasets, phases)
			}
		}
	}
	for i, one := range entries(step(s, "runs")) {
		if one.Kind != yaml.MappingNode {
			continue
		}
		ensure(one, "name", text(unnamed(i)))
		if b := step(one, "benchmark"); b != nil && b.Kind == yaml.MappingNode {
			normalOverlay(b, datasets)
		}
	}
	if o := step(s, "optimization"); o != nil && o.ShortTag() == "!!null" {
		*o = *text("none")
	}
}

// unnamed returns the name of a scenario without a name.
func unnamed(i int) string { return fmt.Sprintf("scenario_%d", i) }

// normalOverlay expands the short forms in a scenario's changes to the benchmark.
func normalOverlay(b *yaml.Node, datasets []*yaml.Node) {
	name := "default"
	if len(datasets) == 1 && step(datasets[0], "name") != nil {
		name = step(datasets[0], "name").Value
	}
	rename(b, "model", "models")
	normalModels(step(b, "models"))
	if e := step(b, "endpoint"); e != nil && e.Kind == yaml.MappingNode {
		rename(e, "url", "urls")
		listed(step(e, "urls"))
	}
	rename(b, "dataset", "datasets")
	for _, d := range listed(step(b, "datasets")) {
		if d.Kind != yaml.MappingNode {
			continue
		}
		if step(d, "name") == nil {
			d.Content = append([]*yaml.Node{text("name"), text(name)}, d.Content...)
		}
		shortLengths(d)
	}
	for _, p := range phaseList(b) {
		if p.Kind == yaml.MappingNode {
			longRamps(p)
		}
	}
}

// entries returns the members of a list; none if the node is not a list.
func entries(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// fullPath returns the full path of an axis. A phase is given by number or name; "profiling" means the measured phase, whatever its name. The only
// data set is given by its name.
func fullPath(path string, datasets, phases []*yaml.Node) string {
	path = strings.TrimPrefix(path, "benchmark.")
	if slices.Contains(shortAxes(), path) {
		path = "phases.profiling." + path
	}
	if rest, ok := strings.CutPrefix(path, "dataset."); ok {
		path = "datasets.0." + rest
	}
	head, rest, _ := strings.Cut(path, ".")
	list := map[string][]*yaml.Node{"datasets": datasets, "phases": phases}[head]
	name, tail, deep := strings.Cut(rest, ".")
	if list == nil || !deep {
		return path
	}
	holder := &yaml.Node{Kind: yaml.SequenceNode, Content: list}
	entry := step(holder, name)
	if entry == nil && head == "phases" && name == string(KindProfiling) {
		entry = measuredOf(list)
	}
	if entry == nil || entry.Kind != yaml.MappingNode || step(entry, "name") == nil {
		return path
	}
	for _, short := range []string{"isl", "osl"} {
		if head == "datasets" && (tail == short || strings.HasPrefix(tail, short+".")) && step(entry, "prompts") != nil {
			tail = "prompts." + tail
		}
	}
	return head + "." + step(entry, "name").Value + "." + tail
}

// measuredOf returns the first measured phase.
func measuredOf(phases []*yaml.Node) *yaml.Node {
	for _, p := range phases {
		if k := step(p, "kind"); p.Kind == yaml.MappingNode && k != nil && k.Value == string(KindProfiling) {
			return p
		}
	}
	return nil
}

// keysOf are the keys of each type of sweep besides the common ones.
var keysOf = map[SweepType][]string{
	SweepGrid: {"parameters"}, SweepZip: {"parameters"}, SweepScenarios: {"runs"},
	SweepSobol: {"samples", "seed", "dimensions", "label_format", "scramble"},
	SweepLatin: {"samples", "seed", "dimensions", "label_format", "optimization"},
	SweepSearch: {
		"planner", "search_space", "objectives", "outcome_constraints", "max_iterations", "n_initial_points", "plateau_window", "plateau_threshold",
		"improvement_patience", "random_seed", "optuna_sampler", "optuna_acquisition", "optuna_terminator", "objective_pooling",
		"monotonic_stability_trials", "sla_replicates", "sla_precision", "sla_warmup_seconds", "constraint_mode", "sla_tiers",
	},
}

// strayKeys lists the keys of a sweep that its type does not have, each with its line. A sweep without a type is a grid.
func strayKeys(s *yaml.Node) (wrong []string) {
	t := step(s, "type")
	if t == nil {
		return nil
	}
	own, known := keysOf[SweepType(t.Value)]
	if !known {
		return nil // the check of the setting's choices reports it
	}
	for i := 0; i+1 < len(s.Content); i += 2 {
		key := s.Content[i]
		for _, other := range keysOf {
			if slices.Contains(other, key.Value) && !slices.Contains(own, key.Value) {
				hint := ""
				if key.Value == "variables" || key.Value == "parameters" {
					hint = "; known are " + strings.Join(own, ", ")
				}
				wrong = append(wrong, fmt.Sprintf("line %d: sweep.%s is not a key of a sweep of type %s%s", key.Line, key.Value, t.Value, hint))
				break
			}
		}
	}
	return wrong
}
