package cli

import (
	"reflect"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/setting"
)

// resolveFile reads a run from --config and puts the flags beside it on top.
func resolveFile(set *setting.Set, environ []string, terminal bool, ask lister) (*config.Run, findings) {
	environment := config.DefaultEnvironment()
	problems, warnings := readEnvironment(environ, &environment)
	run, notes, err := config.Load(set.Text("--config", ""), environment)
	if err != nil {
		return nil, findings{problems: append(problems, set.Spelled("--config")+": "+err.Error())}
	}
	r := &resolver{set: set, terminal: terminal, run: run, over: true, ask: ask, place: run.Spelling, findings: findings{problems: problems, warnings: append(warnings, notes...)}}
	run.TakeFirst()
	if len(run.Datasets) == 1 && run.Profiling() != nil {
		r.builtFile()
		r.idleKeys()
		r.sections()
	} else {
		r.urls() // what else is wrong is not to be blamed on a URL without a scheme
	}
	r.validate()
	return run, r.findings
}

// fileURLs completes and checks the URLs of a file.
func (r *resolver) fileURLs() {
	for i, given := range r.run.Endpoint.URLs {
		u, err := parseURL(given)
		switch {
		case strings.Contains(given, config.Redacted):
			r.fail("%s: benchmark.endpoint.urls[%d] is masked; give the URL with --url", r.set.Text("--config", ""), i)
		case err != nil:
			r.fail("%s: benchmark.endpoint.urls[%d]: %v", r.set.Text("--config", ""), i, err)
		default:
			r.run.Endpoint.URLs[i] = u
		}
	}
}

// builtFile refuses what a file may name and this build cannot run.
func (r *resolver) builtFile() {
	run := r.run
	d := run.Dataset()
	if d.Type == config.DatasetPublic {
		r.fail("benchmark.datasets.%s.type public: not built yet", d.Name)
	}
	for _, unbuilt := range []struct {
		there bool
		key   string
	}{
		{d.Images != nil || d.Audio != nil || d.Video != nil, "images, audio and video of datasets"},
		{d.IgnoreTraceDelays, "ignore_trace_delays of datasets"},
		{d.Synthesis != nil && d.Synthesis.AllowDatasetWrap, "synthesis.allow_dataset_wrap of datasets"},
		{d.Prompts != nil && unbuiltPrompts(d.Prompts), "corpus, cache_bust and random ranges of prompts"},
		{slices.ContainsFunc(append(lengths(d.Rankings), d.Turns, d.TurnDelay, d.OSL), shaped) || d.Prompts != nil && (shaped(d.Prompts.ISL) || shaped(d.Prompts.OSL)),
			"distributions with median, min or max"},
		{run.Models.Strategy == config.ModelWeighted, "models.strategy weighted"}, {run.Accuracy != nil, "accuracy"}, {run.Scenario != "", "scenario"},
		{run.OTel.MetricsURL != "", "otel"}, {run.MLflow.TrackingURI != "", "mlflow"}, {run.WandB.Project != "", "wandb"},
		{run.NetworkLatency.Enabled, "network_latency"}, {run.Artifacts.AutoPlot || run.Artifacts.PlotRequired, "artifacts.auto_plot"},
		{run.Artifacts.OutputsJSON, "artifacts.export_outputs_json"}, {run.Runtime.APIPort != nil, "runtime.api_port"},
		{run.MultiRun.Convergence != nil, "multi_run.convergence"}, {run.Endpoint.WaitForModelTimeout > 0, "endpoint.wait_for_model_timeout"},
		{run.Endpoint.ResetKVCache != nil, "endpoint.reset_kv_cache"}, {run.Endpoint.ServerProfiler != nil, "endpoint.server_profiler"},
		{run.Endpoint.Template != nil, "endpoint.template"}, {run.Endpoint.UUIDAndStrip, "endpoint.uuid_and_strip"},
		{run.Endpoint.DownloadVideo, "endpoint.download_video_content"}, {run.Endpoint.RequestContentType != "", "endpoint.request_content_type"},
		{slices.ContainsFunc(run.Models.Items, func(m config.Model) bool { return m.Lora != "" || m.Modalities != nil }), "lora and modalities of models"},
		{!reflect.DeepEqual(run.Artifacts.Summary, config.Formats{"json"}), "artifacts.summary other than [json]"},
		{len(run.Artifacts.Records) > 0 && !reflect.DeepEqual(run.Artifacts.Records, config.Formats{"jsonl"}), "artifacts.records other than [jsonl] and false"},
		{collects(run), "settings of gpu_telemetry and server_metrics other than enabled"},
	} {
		if unbuilt.there {
			r.fail("%s: %s: not built yet", r.set.Text("--config", ""), unbuilt.key)
		}
	}
}

// collects reports whether more is said of telemetry than whether it is wanted.
func collects(run *config.Run) bool {
	standard := config.Default()
	standard.GPUTelemetry.Enabled, standard.ServerMetrics.Enabled = run.GPUTelemetry.Enabled, run.ServerMetrics.Enabled
	return !reflect.DeepEqual(run.GPUTelemetry, standard.GPUTelemetry) || !reflect.DeepEqual(run.ServerMetrics, standard.ServerMetrics)
}

// idleKeys warns of keys that are accepted and change nothing, like their flags.
func (r *resolver) idleKeys() {
	rt := &r.run.Runtime
	for _, idle := range []struct {
		there bool
		key   string
	}{
		{rt.Workers != nil, "runtime.workers"}, {rt.RecordProcessors != nil, "runtime.record_processors"},
		{rt.Communication != nil, "runtime.communication"}, {r.run.Tokenizer.TrustRemoteCode, "tokenizer.trust_remote_code"},
	} {
		if idle.there {
			r.warn("%s: %s has no effect: one process does everything, and code of a repository is never run", r.set.Text("--config", ""), idle.key)
		}
	}
}

func unbuiltPrompts(p *config.Prompts) bool {
	return p.Corpus != "" && p.Corpus != "sonnet" || p.CacheBust.Target != "none" && p.CacheBust.Target != "" || p.RandomRangeRatio != ""
}

func lengths(r *config.Rankings) []*config.Distribution {
	if r == nil {
		return nil
	}
	return []*config.Distribution{r.Passages, r.PassageTokens, r.QueryTokens}
}

// shaped reports whether a distribution is more than a number or a normal law.
func shaped(d *config.Distribution) bool {
	return d != nil && (d.Median != nil || d.Min != nil || d.Max != nil)
}
