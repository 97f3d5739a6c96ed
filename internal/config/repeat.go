package config

// MultiRun repeats every cell.
type MultiRun struct {
	NumRuns                 int          `yaml:"num_runs"` // the maximum when Convergence is set
	Cooldown                Seconds      `yaml:"cooldown_seconds"`
	ConfidenceLevel         float64      `yaml:"confidence_level"` // 0 to 1, both exclusive
	SetConsistentSeed       bool         `yaml:"set_consistent_seed"`
	DisableWarmupAfterFirst bool         `yaml:"disable_warmup_after_first"`
	VarySeedPerTrial        bool         `yaml:"vary_seed_per_trial"`
	Convergence             *Convergence `yaml:"convergence,omitempty"`
}

// Convergence ends the repetitions early.
type Convergence struct {
	Metric    string   `yaml:"metric"`
	Stat      string   `yaml:"stat"`
	Mode      string   `yaml:"mode"`
	Threshold *float64 `yaml:"threshold,omitempty"` // nil: the mode's own
	MinRuns   int      `yaml:"min_runs"`
}

// Sweep lists the cells of a parameter sweep.
type Sweep struct {
	Type           SweepType `yaml:"type"`
	Parameters     Axes      `yaml:"parameters"`
	Cooldown       Seconds   `yaml:"cooldown_seconds"`
	IterationOrder string    `yaml:"iteration_order"` // repeated: all cells, then all again; independent: all repetitions of a cell, then the next
	SameSeed       bool      `yaml:"same_seed"`       // every cell the base seed, not base + index
	// DeriveRequests lets every cell have the default request count of its own concurrency (ours): nobody gave a stop condition.
	DeriveRequests bool `yaml:"derive_requests,omitempty"`
}

// SweepType is the way axes combine.
type SweepType string

// The combinations of axes.
const (
	SweepGrid SweepType = "grid"
	SweepZip  SweepType = "zip"
)

// Axis is one swept key and its values; a value is an int or a float64.
type Axis struct {
	Path   string // dotted, list entries by name: phases.profiling.concurrency
	Values []any
}

// Axes are the axes of a sweep in order of their paths.
type Axes []Axis
