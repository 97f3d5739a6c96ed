// Package config is the typed, fully resolved description of a run.
//
// A Run holds no "unset" that a reader would have to interpret: every default that depends on other values is filled in by
// whoever builds the Run (the command line, a file), and what is optional is a pointer whose nil has one documented meaning.
// The structure and the yaml names follow the configuration file of the contract (spec: config, sections 2 to 5), so a Run can be
// printed as YAML, read back and run again.
//
// Durations are Seconds, lengths are tokens, rates are requests per second, unless a field says otherwise.
package config

import "go.yaml.in/yaml/v3"

// SchemaVersion is the only version of the file layout that is read and written.
const SchemaVersion = "2.0"

// Run is everything that one invocation does: one benchmark, or the base of a repeated or swept one.
type Run struct {
	SchemaVersion string `yaml:"schemaVersion"`
	// RandomSeed is the base seed of all named random streams; nil draws one from the system's entropy.
	RandomSeed *Seed `yaml:"random_seed,omitempty"`
	// Benchmark is what one cell of the run does; its fields are promoted.
	Benchmark `yaml:"benchmark"`
	// Sweep lists the cells of a parameter sweep; nil is one cell. The Benchmark then holds the values of the first cell.
	Sweep *Sweep `yaml:"sweep,omitempty"`
	// MultiRun says how often each cell is repeated.
	MultiRun MultiRun `yaml:"multi_run"`
	// NoSweepTable drops the console table of a sweep.
	NoSweepTable bool `yaml:"no_sweep_table"`
	// Tables says which metric tables a terminal gets; empty is TablesMain. Files and pipes get all.
	Tables Tables `yaml:"tables,omitempty"`
	// Plot is the configuration of plots of a file; zero: none.
	Plot yaml.Node `yaml:"plot,omitempty"`
	// FailIf are conditions under which the exit status is 3: metric:stat>limit.
	FailIf []string `yaml:"fail_if,omitempty"`
	// JUnit is the file that gets what came of them; empty: none.
	JUnit string `yaml:"junit,omitempty"`
	// FailOnVerdict ends with status 3 unless every run is valid or limited by its server.
	FailOnVerdict bool `yaml:"fail_on_verdict,omitempty"`
	// AllowInvalid judges gates by the stated values where a verdict or the range of a value leaves them undecided.
	AllowInvalid bool `yaml:"allow_invalid,omitempty"`
	// Resume keeps the finished runs of the directory of a series.
	Resume bool `yaml:"-"`
	// source is the file that the run was read from; nil: it was not.
	source *source
}

// Tables names the metric tables that a terminal gets.
type Tables string

// The choices of Tables.
const (
	TablesMain Tables = "main"
	TablesAll  Tables = "all"
)

// Benchmark is the body of one benchmark.
type Benchmark struct {
	Models    Models    `yaml:"models"`
	Endpoint  Endpoint  `yaml:"endpoint"`
	Datasets  []Dataset `yaml:"datasets"` // exactly one
	Phases    []Phase   `yaml:"phases"`   // in order of execution, at least one of kind profiling
	Artifacts Artifacts `yaml:"artifacts"`
	// SLOs are the goodput thresholds by metric tag in the metric's display unit; nil judges nothing.
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
	// Scenario is the name of a locked set of values; empty is none.
	Scenario       string `yaml:"scenario,omitempty"`
	UnsafeOverride bool   `yaml:"unsafe_override"`
	// Unlocked tells that a setting breaks a lock of the scenario.
	Unlocked bool `yaml:"-"`
	// Environment holds what AIPERF_* variables tune (spec: cli, section 11). It is ours: the Python tool keeps it out of the file.
	Environment Environment `yaml:"environment"`
	// Spelling words the path of a value as the user wrote it: a flag, or line and key of a file; see As.
	Spelling func(path string) string `yaml:"-"`

	variables *yaml.Node // of the file, computed; nil: it has none
}

// As is the setting of a key (setting.Row.Key) in the words of the user: the flag that was given, or line and key of a file; the name of its
// flag when nobody knows.
func (b *Benchmark) As(key string) string {
	if b.Spelling == nil {
		return FlagOf(key)
	}
	return b.Spelling(key)
}

// Dataset returns the run's one dataset.
func (b *Benchmark) Dataset() *Dataset { return &b.Datasets[0] }

// Profiling returns the first phase of kind profiling, nil when there is none.
func (b *Benchmark) Profiling() *Phase { return b.firstOf(KindProfiling) }

// Warmup returns the first phase of kind warmup, nil when the run does not warm up.
func (b *Benchmark) Warmup() *Phase { return b.firstOf(KindWarmup) }

func (b *Benchmark) firstOf(kind PhaseKind) *Phase {
	for i := range b.Phases {
		if b.Phases[i].Kind == kind {
			return &b.Phases[i]
		}
	}
	return nil
}
