// Package config defines the typed, fully resolved configuration of a run.
//
// A reader of a Run never has to interpret an unset value. The code that builds the Run (from the command line or a file) fills in every default that
// depends on other values. Optional values are pointers, and the meaning of nil is documented.
//
// The structure and the yaml names follow the configuration file of the contract (spec: config, sections 2 to 5). So a Run can be printed as YAML,
// read back and run again.
//
// Durations are Seconds, lengths are tokens, rates are requests per second, unless a field says otherwise.
package config

import "go.yaml.in/yaml/v3"

// SchemaVersion is the only supported version of the file layout.
const SchemaVersion = "2.0"

// Run is the configuration of one invocation: one benchmark, or the base of a repeated or swept one.
type Run struct {
	SchemaVersion string `yaml:"schemaVersion"`
	// RandomSeed is the base seed of all named random streams; nil draws one from the operating system.
	RandomSeed *Seed `yaml:"random_seed,omitempty"`
	// Benchmark describes one cell of the run; its fields are promoted.
	Benchmark `yaml:"benchmark"`
	// Sweep defines the cells of a parameter sweep; nil means a single cell. The Benchmark then has the values of the first cell.
	Sweep *Sweep `yaml:"sweep,omitempty"`
	// MultiRun sets how often each cell is repeated.
	MultiRun MultiRun `yaml:"multi_run"`
	// NoSweepTable omits the console table of a sweep.
	NoSweepTable bool `yaml:"no_sweep_table"`
	// Tables selects the metric tables on a terminal; empty means TablesMain. Files and pipes get all tables.
	Tables Tables `yaml:"tables,omitempty"`
	// Plot is the file's configuration of plots; zero if it has none.
	Plot yaml.Node `yaml:"plot,omitempty"`
	// Machines send the requests of every cell; zero: this process does.
	Machines Machines `yaml:"machines,omitempty"`
	// FailIf lists conditions (metric:stat>limit). If one holds, the exit status is 3.
	FailIf []string `yaml:"fail_if,omitempty"`
	// JUnit is the file for the results of these conditions; empty: none.
	JUnit string `yaml:"junit,omitempty"`
	// FailOnVerdict sets exit status 3 unless every run is valid or limited by its server.
	FailOnVerdict bool `yaml:"fail_on_verdict,omitempty"`
	// AllowInvalid decides conditions by the reported values even if a verdict or the uncertainty of a value leaves them open.
	AllowInvalid bool `yaml:"allow_invalid,omitempty"`
	// Resume reuses the finished runs in the directory of a series.
	Resume bool `yaml:"-"`
	// source is the file that the run was read from; nil if there is none.
	source *source
}

// Tables selects the metric tables on a terminal.
type Tables string

// The values of Tables.
const (
	TablesMain Tables = "main"
	TablesAll  Tables = "all"
)

// Benchmark is the configuration of one benchmark.
type Benchmark struct {
	Models    Models    `yaml:"models"`
	Endpoint  Endpoint  `yaml:"endpoint"`
	Datasets  []Dataset `yaml:"datasets"` // exactly one
	Phases    []Phase   `yaml:"phases"`   // in order of execution, at least one of kind profiling
	Artifacts Artifacts `yaml:"artifacts"`
	// SLOs are the goodput thresholds by metric tag, in the metric's display unit; nil if there are none.
	SLOs           SLOs           `yaml:"slos,omitempty"`
	Tokenizer      Tokenizer      `yaml:"tokenizer"`
	GPUTelemetry   GPUTelemetry   `yaml:"gpu_telemetry"`
	ServerMetrics  ServerMetrics  `yaml:"server_metrics"`
	NetworkLatency NetworkLatency `yaml:"network_latency"`
	OTel           OTel           `yaml:"otel"`
	MLflow         MLflow         `yaml:"mlflow"`
	WandB          WandB          `yaml:"wandb"`
	Runtime        Runtime        `yaml:"runtime"`
	Logging        Logging        `yaml:"logging"`
	Accuracy       *Accuracy      `yaml:"accuracy,omitempty"`
	// Scenario is the name of a locked set of values; empty means none.
	Scenario       string `yaml:"scenario,omitempty"`
	UnsafeOverride bool   `yaml:"unsafe_override"`
	// Unlocked means that a setting violates a lock of the scenario.
	Unlocked bool `yaml:"-"`
	// Environment holds the settings of AIPERF_* variables (spec: cli, section 11). It is our addition: the Python tool omits them from the file.
	Environment Environment `yaml:"environment"`
	// Spelling returns the user's spelling of a path: a flag, or line and key of a file; see As.
	Spelling func(path string) string `yaml:"-"`

	variables *yaml.Node // variables of the file, computed; nil if it has none
}

// As returns the user's spelling of a setting, given its key (setting.Row.Key): the flag given, or line and key of a file. If Spelling is nil, it
// returns the name of the flag.
func (b *Benchmark) As(key string) string {
	if b.Spelling == nil {
		return FlagOf(key)
	}
	return b.Spelling(key)
}

// Dataset returns the run's only dataset.
func (b *Benchmark) Dataset() *Dataset { return &b.Datasets[0] }

// Profiling returns the first phase of kind profiling, or nil.
func (b *Benchmark) Profiling() *Phase { return b.firstOf(KindProfiling) }

// Warmup returns the first phase of kind warmup, or nil.
func (b *Benchmark) Warmup() *Phase { return b.firstOf(KindWarmup) }

func (b *Benchmark) firstOf(kind PhaseKind) *Phase {
	for i := range b.Phases {
		if b.Phases[i].Kind == kind {
			return &b.Phases[i]
		}
	}
	return nil
}
