package rules

import "path/filepath"

// outputRules lists which settings of output, telemetry and repetition exclude or need each other.
var outputRules = []rule{
	{row: "honest", keys: []string{"artifacts.trace"}, when: not(writesRecords), text: "has no effect: no record files are written; see {artifacts.records}", level: warning},
	{row: "ours", keys: []string{"artifacts.summary"}, when: all(noSummary, not(singleRun)), text: "has no json: a series and its continuation read the JSON summaries"},
	{row: "ours", keys: []string{"artifacts.prefix"}, when: all(not(singleRun), func(s *Subject) bool {
		return s.Artifacts.Prefix != "" && !filepath.IsLocal(s.Artifacts.Prefix)
	}), text: "points outside the run's directory: all runs of a series would write the same files"},
	{row: "ours", keys: []string{"artifacts.summary"}, when: all(noSummary, func(s *Subject) bool { return s.Artifacts.AutoPlot }),
		text: "has no json: plots are drawn from it; see {artifacts.auto_plot}"},
	{row: "ours", keys: []string{"artifacts.plot_required"}, when: func(s *Subject) bool { return s.Artifacts.PlotRequired && !s.Artifacts.AutoPlot },
		text: "has no effect without {artifacts.auto_plot}", level: warning},
	{row: "67", keys: []string{"network_latency.ping_interval"}, when: func(s *Subject) bool { return !s.NetworkLatency.Enabled || s.NetworkLatency.MeanMs != nil },
		text: "needs {network_latency.enabled}: nothing else is probed", level: unused},
	{row: "70", keys: []string{
		"otel.stream_metrics_enabled", "otel.stream_timing_enabled", "otel.stream_traces_enabled", "otel.custom_resource_attributes", "otel.gen_ai_provider",
	}, when: func(s *Subject) bool { return s.OTel.MetricsURL == "" }, text: "needs {otel.metrics_url}: there is nowhere to stream to", level: unused},
	{row: "70", keys: []string{"mlflow.experiment", "mlflow.run_name", "mlflow.tags", "mlflow.parent_run_id", "mlflow.artifact_globs"},
		when: func(s *Subject) bool { return s.MLflow.TrackingURI == "" }, text: "needs {mlflow.tracking_uri}: nothing is uploaded", level: unused},
	{row: "70", keys: []string{"wandb.entity", "wandb.run_name", "wandb.tags"}, when: func(s *Subject) bool { return s.WandB.Project == "" },
		text: "needs {wandb.project}: nothing is uploaded", level: unused},
	{row: "71", keys: []string{"runtime.api_host"}, when: noAPIPort, text: "needs {runtime.api_port}: without a port there is no API"},
	{row: "71", keys: []string{"runtime.api_token"}, when: all(noAPIPort, func(s *Subject) bool { return s.Runtime.Web == "" }),
		text: "needs {runtime.api_port} or {runtime.web}: without them there is no API"},
	{row: "74", keys: []string{"runtime.communication.host"}, when: func(s *Subject) bool { return s.isGiven("runtime.communication.path") },
		text: "and {runtime.communication.path}: neither has an effect", level: warning},
	{row: "75", keys: []string{"multi_run.cooldown_seconds", "multi_run.disable_warmup_after_first"}, when: oneTrial, text: "needs {multi_run.num_runs} above 1", level: unused},
	{row: "75", keys: []string{"multi_run.confidence_level"}, when: oneTrial, text: "has no effect with one run; see {multi_run.num_runs}", level: warning},
	{row: "75", keys: []string{"multi_run.set_consistent_seed"}, when: singleRun, text: "needs {multi_run.num_runs} above 1 or a sweep", level: unused},
	{row: "75", keys: []string{"multi_run.vary_seed_per_trial"}, when: singleRun, text: "has no effect with one run; see {multi_run.num_runs}", level: warning},
	{row: "75", keys: []string{"multi_run.convergence.metric"}, when: oneTrial, text: "needs {multi_run.num_runs} above 1, the maximum number of runs", level: unused},
	{row: "75", keys: []string{"multi_run.convergence.stat", "multi_run.convergence.mode", "multi_run.convergence.threshold"},
		when: func(s *Subject) bool { return s.MultiRun.Convergence == nil || s.MultiRun.Convergence.Metric == "" },
		text: "has no effect without {multi_run.convergence.metric}", level: warning},
	{row: "75", keys: []string{"multi_run.convergence.mode"}, when: all(not(writesRecords), func(s *Subject) bool {
		return s.MultiRun.Convergence != nil && s.MultiRun.Convergence.Mode == "distribution"
	}), text: "distribution compares single requests: it needs {artifacts.records}, not only a summary"},
	exclusive("ours", "fail_on_verdict", "allow_invalid", "one fails for a verdict, the other ignores it; leave one out"),
	{row: "ours", keys: []string{"allow_invalid"}, when: func(s *Subject) bool { return len(s.FailIf) == 0 }, text: "needs {fail_if}: nothing else is judged", level: unused},
	{row: "8", keys: []string{"sweep", "no_sweep_table"}, when: func(s *Subject) bool { return s.Sweep == nil }, text: "has no effect without a list of values to sweep", level: warning},
}

// noAPIPort reports whether no port of the API is set.
func noAPIPort(s *Subject) bool { return s.Runtime.APIPort == nil && s.Environment.API.Port == 0 }
