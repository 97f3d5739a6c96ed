package config

import (
	"fmt"

	"aiperf/internal/base/setting"
)

// MultiRun repeats every cell.
type MultiRun struct {
	NumRuns                 int          `yaml:"num_runs"` // the maximum if Convergence is set
	Cooldown                Seconds      `yaml:"cooldown_seconds"`
	ConfidenceLevel         float64      `yaml:"confidence_level"` // 0 to 1, both exclusive
	SetConsistentSeed       bool         `yaml:"set_consistent_seed"`
	DisableWarmupAfterFirst bool         `yaml:"disable_warmup_after_first"`
	VarySeedPerTrial        bool         `yaml:"vary_seed_per_trial"`
	Convergence             *Convergence `yaml:"convergence,omitempty"`
}

// MaxRuns is the largest number of repetitions.
const MaxRuns = 10

// Convergence stops the repetitions early (spec: timing, section 12).
type Convergence struct {
	Metric    string   `yaml:"metric"`
	Stat      string   `yaml:"stat"`
	Mode      string   `yaml:"mode"`                // ci_width, cv, distribution
	Threshold *float64 `yaml:"threshold,omitempty"` // nil: the mode's default
	MinRuns   int      `yaml:"min_runs"`
}

// DefaultConvergence uses the relative width of the confidence interval of a mean, after at least two runs.
func DefaultConvergence() Convergence { return Convergence{Stat: "avg", Mode: "ci_width", MinRuns: 2} }

// Limit returns the threshold of the mode: the given one, otherwise 0.10 for ci_width and 0.05 for the other modes.
func (c *Convergence) Limit() float64 {
	switch {
	case c.Threshold != nil:
		return *c.Threshold
	case c.Mode == "ci_width":
		return 0.10
	}
	return 0.05
}

var multiRunRows = group("Multi-Run", []setting.Row{
	{Flags: []string{"--num-profile-runs"}, Key: "multi_run.num_runs", Common: true, Kind: setting.Int, Bounds: fmt.Sprintf(">= 1, <= %d", MaxRuns), Default: "1", Help: "repeat the benchmark and report confidence intervals"},
	{Flags: []string{ResumeFlag}, Kind: setting.Path, Folder: true, Help: "continue the series in this directory with the same settings"},
	{Flags: []string{"--profile-run-cooldown-seconds"}, Key: "multi_run.cooldown_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0, <= 86400", Default: "0", Help: "pause between two repetitions, in s"},
	{Flags: []string{"--confidence-level"}, Key: "multi_run.confidence_level", Kind: setting.Float, Bounds: "> 0, < 1", Default: "0.95", Help: "level of the confidence intervals"},
	{Flags: []string{"--profile-run-disable-warmup-after-first"}, FalseNames: []string{"--no-profile-run-disable-warmup-after-first"}, Key: "multi_run.disable_warmup_after_first", Kind: setting.Bool, Default: "on", Help: "warm up before the first repetition only"},
	{Flags: []string{"--set-consistent-seed"}, FalseNames: []string{"--no-set-consistent-seed"}, Key: "multi_run.set_consistent_seed", Kind: setting.Bool, Default: "on", Help: "use seed 42 when repeating or sweeping without --random-seed"},
	{Flags: []string{"--vary-seed-per-trial"}, FalseNames: []string{"--no-vary-seed-per-trial"}, Key: "multi_run.vary_seed_per_trial", Kind: setting.Bool, Help: "use a different seed for every repetition"},
	{Flags: []string{"--convergence-metric"}, Key: "multi_run.convergence.metric", Kind: setting.Text, Help: "stop repeating once this metric is stable"},
	{Flags: []string{"--convergence-stat"}, Key: "multi_run.convergence.stat", Kind: setting.Enum, Choices: []string{"avg", "p50", "p90", "p95", "p99", "min", "max"}, Default: "avg", Help: "statistic of the convergence metric"},
	{Flags: []string{"--convergence-threshold"}, Key: "multi_run.convergence.threshold", Kind: setting.Float, Bounds: "> 0, < 1", Help: "limit for a stable metric: value below it, with distribution p-value above"},
	{Flags: []string{"--convergence-mode"}, Key: "multi_run.convergence.mode", Kind: setting.Enum, Choices: []string{"ci_width", "cv", "distribution"}, Default: "ci_width", Help: "test of convergence"},
	{Flags: []string{"--parameter-sweep-cooldown-seconds"}, Key: "sweep.cooldown_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "pause between two cells of a sweep, in s"},
	{Flags: []string{"--parameter-sweep-same-seed"}, FalseNames: []string{"--no-parameter-sweep-same-seed"}, Key: "sweep.same_seed", Kind: setting.Bool, Help: "use the same seed for every cell"},
	{Flags: []string{"--parameter-sweep-mode"}, Key: "sweep.iteration_order", Kind: setting.Enum, Choices: []string{"repeated", "independent"}, Default: "repeated", Help: "order of cells and repetitions"},
	{Flags: []string{"--sweep-type"}, Key: "sweep.type", Kind: setting.Enum, Choices: []string{"grid", "zip"}, KeyChoices: []string{"grid", "zip", "scenarios", "sobol", "latin_hypercube", "adaptive_search"}, Default: "grid", Help: "grid: every combination; zip: value by value"},
	{Flags: []string{"--no-sweep-table"}, Key: "no_sweep_table", Kind: setting.Bool, Help: "do not print the table of a sweep"},
	{Flags: []string{"--search-space"}, Kind: setting.Text, List: true, Whole: true, Help: "key and range to search: path:lo,hi[:kind]"},
	{Flags: []string{"--search-metric"}, Kind: setting.Text, Help: "metric to optimise"},
	{Flags: []string{"--search-stat"}, Kind: setting.Enum, Choices: []string{"avg", "p50", "p90", "p95", "p99"}, Help: "its statistic"},
	{Flags: []string{"--search-direction"}, Kind: setting.Enum, Choices: []string{"maximize", "minimize"}, Help: "direction of the optimisation"},
	{Flags: []string{"--search-max-iterations"}, Kind: setting.Int, Bounds: ">= 2, <= 200", Help: "maximum number of cells of the search"},
	{Flags: []string{"--search-initial-points"}, Kind: setting.Int, Bounds: ">= 1", Help: "number of cells before the model guides the search"},
	{Flags: []string{"--search-random-seed"}, Kind: setting.Int, Bounds: ">= 0", Help: "seed of the search"},
	{Flags: []string{"--search-planner"}, Kind: setting.Enum, Choices: Planners, Help: "method that chooses the next cell"},
	{Flags: []string{"--optuna-sampler"}, Kind: setting.Enum, Choices: []string{"gp", "tpe", "botorch"}, NoEffect: "the search has its own sampler: a Gaussian process with expected improvement", Help: "sampler of the search"},
	{Flags: []string{"--optuna-acquisition"}, Kind: setting.Enum, Choices: []string{"logei", "qlogei", "qnei", "qlognei", "qehvi", "qnehvi", "qlognehvi"}, NoEffect: "the search has its own sampler: a Gaussian process with expected improvement", Help: "acquisition function of the search"},
	{Flags: []string{"--optuna-terminator"}, Kind: setting.Enum, Choices: []string{"regret", "emmr", "none"}, NoEffect: "the search has its own sampler: a Gaussian process with expected improvement", Help: "rule for an early end of the search"},
	{Flags: []string{"--search-percentile-pooling"}, Kind: setting.Enum, Choices: []string{"mean", "pooled"}, Help: "method that combines the percentiles of repetitions"},
	{Flags: []string{"--bo-constraint-mode"}, Kind: setting.Enum, Choices: []string{"penalty", "eic"}, Help: "handling of constraints in the search"},
	{Flags: []string{"--variant", "--sweep-variant"}, Kind: setting.Text, List: true, Whole: true, Help: "one explicit cell: \"name: key=value, key=value\""},
	{Flags: []string{"--search-sla"}, Kind: setting.Text, List: true, Whole: true, Help: "constraint of a search: ttft:p95<200ms, or metric:stat:op:threshold"},
	{Flags: []string{"--search-sla-tier"}, Kind: setting.Text, List: true, Whole: true, Help: "one of 2 to 10 service levels to search together: [label:]metric:stat:op:threshold,…"},
	{Flags: []string{"--search-recipe"}, Kind: setting.Enum, Choices: []string{"max-throughput-ttft-sla", "max-throughput-itl-sla", "max-concurrency-under-sla", "max-goodput-under-slo", "concurrency-ramp", "prefill-ttft-curve", "decode-itl-curve", "pareto-sweep"}, Help: "ready-made search or sweep"},
	{Flags: []string{"--ttft-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", Help: "limit of the time to first token, in ms"},
	{Flags: []string{"--isl-osl-pairs"}, Kind: setting.Text, Help: "pairs of lengths: 100/10,200/20"},
	{Flags: []string{"--itl-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", Help: "limit of the inter-token latency, in ms"},
	{Flags: []string{"--tpot-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", Help: "limit of the time per output token, in ms"},
	{Flags: []string{"--e2e-sla-ms"}, Unit: "ms", Kind: setting.Float, Bounds: "> 0", Help: "limit of the request latency, in ms"},
	{Flags: []string{"--error-rate-sla"}, Kind: setting.Float, Bounds: "> 0, < 1", Help: "limit of the error share, 0 to 1"},
	{Flags: []string{"--slo-attainment-fraction"}, Kind: setting.Float, Bounds: "> 0, <= 1", Help: "share of requests that must be good"},
	{Flags: []string{"--search-style"}, Kind: setting.Enum, Choices: []string{"smooth_isotonic", "monotonic", "bo", "optuna", "grid"}, Help: "search method of a recipe"},
	{Flags: []string{"--degradation-threshold"}, Kind: setting.Float, Bounds: "> 0, < 1", Default: "0.2", Help: "relative loss that ends a ramp"},
	{Flags: []string{"--degradation-metric-tag"}, Kind: setting.Text, Help: "metric whose loss ends a ramp"},
	{Flags: []string{"--degradation-stat"}, Kind: setting.Enum, Choices: []string{"avg", "p50", "p90", "p95", "p99"}, Help: "its statistic"},
	{Flags: []string{"--isl-min"}, Kind: setting.Int, Bounds: ">= 1", Help: "shortest input of a recipe"},
	{Flags: []string{"--isl-max"}, Kind: setting.Int, Bounds: ">= 1", Help: "longest input of a recipe"},
	{Flags: []string{"--isl-steps"}, Kind: setting.Int, Bounds: ">= 2", Help: "number of input lengths"},
	{Flags: []string{"--concurrency-min"}, Kind: setting.Int, Bounds: ">= 1", Help: "lowest concurrency of a recipe"},
	{Flags: []string{"--concurrency-max"}, Kind: setting.Int, Bounds: ">= 1", Help: "highest concurrency of a recipe"},
	{Flags: []string{"--concurrency-steps"}, Kind: setting.Int, Bounds: ">= 2", Help: "number of concurrencies"},
	{Flags: []string{"--osl-min"}, Kind: setting.Int, Bounds: ">= 1", Help: "shortest output of a recipe"},
	{Flags: []string{"--osl-max"}, Kind: setting.Int, Bounds: ">= 1", Help: "longest output of a recipe"},
	{Flags: []string{"--osl-steps"}, Kind: setting.Int, Bounds: ">= 2", Help: "number of output lengths"},
})
