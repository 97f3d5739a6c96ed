package rules

// outputRules say which settings of output, telemetry and repetition exclude or need each other.
var outputRules = []rule{
	{row: "honest", keys: []string{"artifacts.trace"}, when: not(records), text: "has no effect: no record files are written; see {artifacts.records}", level: warned},
	{row: "67", keys: []string{"network_latency.ping_interval"}, when: func(s *Subject) bool { return !s.NetworkLatency.Enabled || s.NetworkLatency.MeanMs != nil },
		text: "needs {network_latency.enabled}: nothing else is probed", level: idle},
	{row: "74", keys: []string{"runtime.communication.host"}, when: func(s *Subject) bool { return s.wrote("runtime.communication.path") },
		text: "and {runtime.communication.path}: neither has an effect", level: warned},
	{row: "75", keys: []string{"multi_run.cooldown_seconds", "multi_run.disable_warmup_after_first"}, when: oneTrial, text: "needs {multi_run.num_runs} above 1", level: idle},
	{row: "75", keys: []string{"multi_run.confidence_level"}, when: oneTrial, text: "has no effect with one run; see {multi_run.num_runs}", level: warned},
	{row: "75", keys: []string{"multi_run.set_consistent_seed"}, when: once, text: "needs {multi_run.num_runs} above 1 or a sweep", level: idle},
	{row: "75", keys: []string{"multi_run.vary_seed_per_trial"}, when: once, text: "has no effect with one run; see {multi_run.num_runs}", level: warned},
	{row: "75", keys: []string{"multi_run.convergence.metric"}, when: oneTrial, text: "needs {multi_run.num_runs} above 1: it says how many runs there are at most", level: idle},
	{row: "75", keys: []string{"multi_run.convergence.stat", "multi_run.convergence.mode", "multi_run.convergence.threshold"},
		when: func(s *Subject) bool { return s.MultiRun.Convergence == nil || s.MultiRun.Convergence.Metric == "" }, text: "needs {multi_run.convergence.metric}"},
	{row: "75", keys: []string{"multi_run.convergence.mode"}, when: all(not(records), func(s *Subject) bool {
		return s.MultiRun.Convergence != nil && s.MultiRun.Convergence.Mode == "distribution"
	}), text: "distribution compares single requests: it needs {artifacts.records}, and not a summary alone"},
	{row: "8", keys: []string{"sweep", "no_sweep_table"}, when: func(s *Subject) bool { return s.Sweep == nil }, text: "has no effect without a list of values to sweep", level: warned},
}
