package config

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/setting"
)

// keyWords are the allowed words of keys whose row has no choices, or other ones.
var keyWords = map[string][]string{
	"phases.profiling.type": phaseTypes, "phases.profiling.kind": {string(KindWarmup), string(KindProfiling)},
	"phases.profiling.concurrency_ramp.strategy": rampWords, "phases.profiling.prefill_ramp.strategy": rampWords, "phases.profiling.rate_ramp.strategy": rampWords,
	"datasets.main.type": {string(DatasetSynthetic), string(DatasetFile), string(DatasetPublic)}, "datasets.main.cache_bust.target": CacheBustTargets,
	"datasets.main.prompts.cache_bust.target":    CacheBustTargets,
	"phases.profiling.adaptive_control_variable": controlWords, "phases.profiling.adaptive_scale_step_policy": policyWords,
	"phases.profiling.adaptive_scale_strategy_type": strategyWords, "phases.profiling.sla.op": comparisons, "phases.profiling.sla.stat": statistics,
	"phases.profiling.adaptive_scale.control_variable": controlWords, "phases.profiling.adaptive_scale.control.variable": controlWords,
	"phases.profiling.adaptive_scale.strategy.type": strategyWords, "phases.profiling.adaptive_scale.strategy.step_policy": policyWords,
	"models.strategy":               {string(ModelRoundRobin), string(ModelRandom), string(ModelWeighted)},
	"endpoint.url_strategy":         {"round_robin"},
	"gpu_telemetry.collector":       {"dcgm", "pynvml", "amdsmi"},
	"server_metrics.discovery.mode": {"auto", "kubernetes", "disabled"},
	"runtime.communication.type":    {"ipc", "tcp", "dual"},
	"sweep.type": {
		string(SweepGrid), string(SweepZip), string(SweepScenarios), string(SweepSobol), string(SweepLatin), string(SweepSearch),
	},
	"sweep.iteration_order": {"repeated", "independent"}, "sweep.label_format": {"index", "kv"}, "sweep.dimensions.scale": {"linear", "log"},
	"sweep.dimensions.kind": {"real", "int"}, "sweep.search_space.kind": {"real", "int"}, "sweep.search_space.prior": {"uniform", "log-uniform"},
	"sweep.sla_filters.op": comparisons, "sweep.sla_filters.stat": statistics, "sweep.sla_tiers.filters.op": comparisons,
	"sweep.planner": {"bayesian", "optuna", "monotonic_sla", "smooth_isotonic"}, "sweep.objectives.direction": {"maximize", "minimize"},
	"sweep.objectives.stat": statistics, "sweep.objective_pooling": {"mean", "pooled"}, "sweep.constraint_mode": {"penalty", "eic"},
	"sweep.optuna_sampler": {"gp", "tpe", "botorch"}, "sweep.optuna_acquisition": {"logei", "qlogei", "qnei", "qlognei", "qehvi", "qnehvi", "qlognehvi"},
	"sweep.optuna_terminator": {"regret", "emmr", "none"},
	"sweep.sla_precision":     {"tight", "normal", "coarse"}, "multi_run.convergence.stat": statistics, "multi_run.convergence.mode": {"ci_width", "cv", "distribution"},
}

var (
	rampWords   = []string{"linear", "exponential", "poisson"}
	comparisons = []string{"lt", "le", "gt", "ge"}
)

// plainWords normalises words in a file: case and -/_ do not matter. Paths are relative to the body; a list and a single entry are treated alike. An
// unknown word is left for the checks to report.
func plainWords(n *yaml.Node, path string) {
	switch n.Kind {
	case yaml.ScalarNode:
		if word, ok := setting.Choice(n.Value, wordsOfKey(path)); ok {
			n.Value = word
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			plainWords(c, path)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i].Value; !freeForm[key] {
				plainWords(n.Content[i+1], keyBelow(path, key))
			}
		}
	}
}

// keyBelow returns the path of a key (setting.Row.Key).
func keyBelow(path, key string) string {
	switch {
	case path == "" && key == "benchmark":
		return ""
	case path == "" && (key == "dataset" || key == "datasets"):
		return "datasets.main"
	case path == "" && (key == "phases" || key == "warmup" || key == "profiling"):
		return "phases.profiling"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// wordsOfKey returns the allowed words of a key; nil if it has none.
func wordsOfKey(key string) []string {
	if words, ok := keyWords[key]; ok {
		return words
	}
	for _, row := range RowsOf(key) {
		switch {
		case row.Kind != setting.Enum && len(row.Choices) == 0:
		case row.KeyChoices != nil:
			return row.KeyChoices
		default:
			return row.Choices
		}
	}
	return nil
}
