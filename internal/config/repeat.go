package config

import "aiperf/internal/setting"

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

var multiRunRows = group("Multi-Run", []setting.Row{
	{Flags: []string{"--num-profile-runs"}, Key: "multi_run.num_runs", Common: true, Kind: setting.Int, Bounds: ">= 1, <= 10", Default: "1", Help: "repeat the benchmark and report confidence intervals"},
	{Flags: []string{"--profile-run-cooldown-seconds"}, Key: "multi_run.cooldown_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0, <= 86400", Default: "0", Help: "pause between two repetitions, in s"},
	{Flags: []string{"--confidence-level"}, Key: "multi_run.confidence_level", Kind: setting.Float, Bounds: "> 0, < 1", Default: "0.95", Help: "level of the confidence intervals"},
	{Flags: []string{"--profile-run-disable-warmup-after-first"}, Not: []string{"--no-profile-run-disable-warmup-after-first"}, Key: "multi_run.disable_warmup_after_first", Kind: setting.Bool, Default: "on", Help: "warm up before the first repetition only"},
	{Flags: []string{"--set-consistent-seed"}, Not: []string{"--no-set-consistent-seed"}, Key: "multi_run.set_consistent_seed", Kind: setting.Bool, Default: "on", Help: "use seed 42 when repeating or sweeping without --random-seed"},
	{Flags: []string{"--vary-seed-per-trial"}, Not: []string{"--no-vary-seed-per-trial"}, Key: "multi_run.vary_seed_per_trial", Kind: setting.Bool, Help: "a seed of its own for every repetition"},
	{Flags: []string{"--convergence-metric"}, Key: "multi_run.convergence.metric", Kind: setting.Text, NotBuilt: true, Help: "stop repeating once this metric has settled"},
	{Flags: []string{"--convergence-stat"}, Key: "multi_run.convergence.stat", Kind: setting.Enum, Choices: []string{"avg", "p50", "p90", "p95", "p99", "min", "max"}, Default: "avg", NotBuilt: true, Help: "statistic of that metric"},
	{Flags: []string{"--convergence-threshold"}, Key: "multi_run.convergence.threshold", Kind: setting.Float, Bounds: "> 0, < 1", NotBuilt: true, Help: "how settled it must be"},
	{Flags: []string{"--convergence-mode"}, Key: "multi_run.convergence.mode", Kind: setting.Enum, Choices: []string{"ci_width", "cv", "distribution"}, Default: "ci_width", NotBuilt: true, Help: "test for being settled"},
	{Flags: []string{"--parameter-sweep-cooldown-seconds"}, Key: "sweep.cooldown_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "pause between two cells of a sweep, in s"},
	{Flags: []string{"--parameter-sweep-same-seed"}, Not: []string{"--no-parameter-sweep-same-seed"}, Key: "sweep.same_seed", Kind: setting.Bool, Help: "the same seed for every cell"},
	{Flags: []string{"--parameter-sweep-mode"}, Key: "sweep.iteration_order", Kind: setting.Enum, Choices: []string{"repeated", "independent"}, Default: "repeated", Help: "order of cells and repetitions"},
	{Flags: []string{"--sweep-type"}, Key: "sweep.type", Kind: setting.Enum, Choices: []string{"grid", "zip"}, Default: "grid", Help: "grid: every combination; zip: value by value"},
	{Flags: []string{"--no-sweep-table"}, Key: "no_sweep_table", Kind: setting.Bool, Help: "leave out the table of a sweep"},
	{Flags: []string{"--search-space"}, Kind: setting.Text, List: true, Whole: true, NotBuilt: true, Help: "key and range to search: path:lo,hi[:kind]"},
	{Flags: []string{"--search-metric"}, Kind: setting.Text, NotBuilt: true, Help: "metric to optimise"},
	{Flags: []string{"--search-stat"}, Kind: setting.Enum, Choices: []string{"avg", "p50", "p90", "p95", "p99"}, NotBuilt: true, Help: "its statistic"},
	{Flags: []string{"--search-direction"}, Kind: setting.Enum, Choices: []string{"maximize", "minimize"}, NotBuilt: true, Help: "maximise or minimise it"},
	{Flags: []string{"--search-max-iterations"}, Kind: setting.Int, Bounds: ">= 2, <= 200", NotBuilt: true, Help: "most cells of the search"},
	{Flags: []string{"--search-initial-points"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "cells before the model guides the search"},
	{Flags: []string{"--search-random-seed"}, Kind: setting.Int, Bounds: ">= 0", NotBuilt: true, Help: "seed of the search"},
	{Flags: []string{"--search-planner"}, Kind: setting.Enum, Choices: []string{"bayesian", "monotonic_sla", "smooth_isotonic", "optuna"}, NotBuilt: true, Help: "how the next cell is chosen"},
	{Flags: []string{"--optuna-sampler"}, Kind: setting.Enum, Choices: []string{"gp", "tpe", "botorch"}, NotBuilt: true, Help: "sampler of the search"},
	{Flags: []string{"--optuna-acquisition"}, Kind: setting.Enum, Choices: []string{"logei", "qlogei", "qnei", "qlognei", "qehvi", "qnehvi", "qlognehvi"}, NotBuilt: true, Help: "acquisition function of the search"},
	{Flags: []string{"--optuna-terminator"}, Kind: setting.Enum, Choices: []string{"regret", "emmr", "none"}, NotBuilt: true, Help: "when the search ends early"},
	{Flags: []string{"--search-percentile-pooling"}, Kind: setting.Enum, Choices: []string{"mean", "pooled"}, NotBuilt: true, Help: "how percentiles of repetitions are joined"},
	{Flags: []string{"--bo-constraint-mode"}, Kind: setting.Enum, Choices: []string{"penalty", "eic"}, NotBuilt: true, Help: "how constraints enter the search"},
	{Flags: []string{"--variant", "--sweep-variant"}, Kind: setting.Text, List: true, Whole: true, NotBuilt: true, Help: "one explicit cell: \"name: key=value, key=value\""},
	{Flags: []string{"--search-sla"}, Kind: setting.Text, List: true, Whole: true, NotBuilt: true, Help: "constraint: metric:stat:op:threshold"},
	{Flags: []string{"--search-sla-tier"}, Kind: setting.Text, List: true, Whole: true, NotBuilt: true, Help: "named set of constraints"},
	{Flags: []string{"--search-recipe"}, Kind: setting.Enum, Choices: []string{"max-throughput-ttft-sla", "max-throughput-itl-sla", "max-concurrency-under-sla", "max-goodput-under-slo", "concurrency-ramp", "prefill-ttft-curve", "decode-itl-curve", "pareto-sweep"}, NotBuilt: true, Help: "ready-made search or sweep"},
	{Flags: []string{"--ttft-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", NotBuilt: true, Help: "limit of the time to first token, in ms"},
	{Flags: []string{"--isl-osl-pairs"}, Kind: setting.Text, NotBuilt: true, Help: "pairs of lengths: 100/10,200/20"},
	{Flags: []string{"--itl-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", NotBuilt: true, Help: "limit of the inter-token latency, in ms"},
	{Flags: []string{"--tpot-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", NotBuilt: true, Help: "limit of the time per output token, in ms"},
	{Flags: []string{"--e2e-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", NotBuilt: true, Help: "limit of the request latency, in ms"},
	{Flags: []string{"--error-rate-sla"}, Kind: setting.Float, Bounds: "> 0, < 1", NotBuilt: true, Help: "limit of the error share, 0 to 1"},
	{Flags: []string{"--slo-attainment-fraction"}, Kind: setting.Float, Bounds: "> 0, <= 1", NotBuilt: true, Help: "share of requests that must be good"},
	{Flags: []string{"--search-style"}, Kind: setting.Enum, Choices: []string{"smooth_isotonic", "monotonic", "bo", "optuna", "grid"}, NotBuilt: true, Help: "method of a recipe"},
	{Flags: []string{"--degradation-threshold"}, Kind: setting.Float, Bounds: "> 0, < 1", Default: "0.2", NotBuilt: true, Help: "relative loss that ends a ramp"},
	{Flags: []string{"--degradation-metric-tag"}, Kind: setting.Text, NotBuilt: true, Help: "metric of that loss"},
	{Flags: []string{"--degradation-stat"}, Kind: setting.Enum, Choices: []string{"avg", "p50", "p90", "p95", "p99"}, NotBuilt: true, Help: "its statistic"},
	{Flags: []string{"--isl-min"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "shortest input of a recipe"},
	{Flags: []string{"--isl-max"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "longest input of a recipe"},
	{Flags: []string{"--isl-steps"}, Kind: setting.Int, Bounds: ">= 2", NotBuilt: true, Help: "number of input lengths"},
	{Flags: []string{"--concurrency-min"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "lowest concurrency of a recipe"},
	{Flags: []string{"--concurrency-max"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "highest concurrency of a recipe"},
	{Flags: []string{"--concurrency-steps"}, Kind: setting.Int, Bounds: ">= 2", NotBuilt: true, Help: "number of concurrencies"},
	{Flags: []string{"--osl-min"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "shortest output of a recipe"},
	{Flags: []string{"--osl-max"}, Kind: setting.Int, Bounds: ">= 1", NotBuilt: true, Help: "longest output of a recipe"},
	{Flags: []string{"--osl-steps"}, Kind: setting.Int, Bounds: ">= 2", NotBuilt: true, Help: "number of output lengths"},
})
