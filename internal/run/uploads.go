package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/rng"
	"aiperf/internal/telemetry/otlp"
	"aiperf/internal/telemetry/tracker"
)

// Credentials of trackers, as their own programs have them.
const (
	mlflowUser     = "MLFLOW_TRACKING_USERNAME"
	mlflowPassword = "MLFLOW_TRACKING_PASSWORD"
	mlflowToken    = "MLFLOW_TRACKING_TOKEN"
	wandbKey       = "WANDB_API_KEY"
	wandbBase      = "WANDB_BASE_URL"
	wandbMode      = "WANDB_MODE"
)

// wandbOnline tells whether the run is uploaded to Weights & Biases. Their library writes runs of its own format without a network; aiperf does not.
func wandbOnline(warn func(string)) bool {
	switch mode := os.Getenv(wandbMode); mode {
	case "offline", "dryrun":
		warn("Weights & Biases: nothing is uploaded and no offline run is written, because " + wandbMode + " is " + mode +
			". The results are in the artifact directory; unset " + wandbMode + " to upload the next run.")
		return false
	case "disabled":
		return false
	}
	return true
}

// trackerSecrets are the credentials that nothing written may show.
func trackerSecrets() (list []string) {
	for _, name := range []string{mlflowPassword, mlflowToken, wandbKey} {
		if v := os.Getenv(name); v != "" {
			list = append(list, v)
		}
	}
	return append(list, otlp.HeadersOf(os.Getenv).Values()...)
}

// upload gives the results to the trackers that the user named. What fails is a warning: the files of the run are complete. An interrupted
// run is uploaded, too; each tracker has its time.
func (o *opened) upload(ctx context.Context, cfg *config.Benchmark, opts *Options, run *metric.Run, say *reporter) {
	ctx = context.WithoutCancel(ctx)
	if m := &cfg.MLflow; m.TrackingURI != "" {
		report := o.report(cfg, opts, run, m.RunName, m.ArtifactGlobs, say)
		to := tracker.MLflow{
			URI: strings.TrimSpace(m.TrackingURI), Experiment: m.Experiment, Parent: m.ParentRunID, Tags: m.Tags, Agent: userAgent(opts.Version),
			User: os.Getenv(mlflowUser), Password: os.Getenv(mlflowPassword), Token: os.Getenv(mlflowToken),
		}
		sent, ok := deliver(ctx, "MLflow", cfg.Environment.MLflow.ExportTimeout.Duration(), say, func(ctx context.Context) (tracker.Sent, error) { return to.Upload(ctx, report) })
		if sent.RunID != "" {
			o.noteMLflow(m, sent, ok, opts, say)
		}
	}
	if w := &cfg.WandB; w.Project != "" && wandbOnline(say.warn) {
		report := o.report(cfg, opts, run, w.RunName, nil, say)
		to := tracker.WandB{
			Base: cmp.Or(os.Getenv(wandbBase), tracker.WandBase), Key: os.Getenv(wandbKey), Project: w.Project, Entity: w.Entity, Tags: w.Tags,
			RunID: strings.ReplaceAll(rng.UUID(), "-", "")[:8], Agent: userAgent(opts.Version),
		}
		deliver(ctx, "Weights & Biases", cfg.Environment.WandB.ExportTimeout.Duration(), say, func(ctx context.Context) (tracker.Sent, error) { return to.Upload(ctx, report) })
	}
}

// deliver uploads within a time and says what came of it; false = something of it failed.
func deliver(ctx context.Context, name string, most time.Duration, say *reporter, upload func(context.Context) (tracker.Sent, error)) (tracker.Sent, bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	sent, err := upload(ctx)
	if err != nil {
		first, rest, _ := strings.Cut(err.Error(), "\n")
		if n := strings.Count(rest, "\n"); rest != "" {
			first += fmt.Sprintf(" (and %d more)", n+1)
		}
		say.warn(name + ": not everything was uploaded: " + first)
	}
	if sent.RunID != "" {
		say.note("%s: %s", name, sent.URL)
	}
	return sent, err == nil
}

// noteMLflow leaves the file that says where the run is.
func (o *opened) noteMLflow(m *config.MLflow, sent tracker.Sent, complete bool, opts *Options, say *reporter) {
	text, err := json.MarshalIndent(map[string]any{
		"tracking_uri": redact.URL(m.TrackingURI), "experiment": m.Experiment, "experiment_id": sent.ExperimentID, "run_id": sent.RunID, "run_url": sent.URL,
		"benchmark_id": opts.BenchmarkID, "complete": complete,
	}, "", "  ")
	if err == nil {
		err = artifact.WriteFile(o.layout.MLflow(), opts.Secrets.JSON(append(text, '\n')))
	}
	if err != nil {
		say.warn("MLflow: " + err.Error())
	}
}

// report is what of a run is uploaded: every statistic that the summary shows, the configuration as it shows it, and files.
func (o *opened) report(cfg *config.Benchmark, opts *Options, run *metric.Run, name string, globs []string, say *reporter) *tracker.Report {
	r := &tracker.Report{
		Name: cmp.Or(strings.TrimSpace(name), "aiperf-"+opts.BenchmarkID), Start: run.Start, End: run.End, Failed: run.AllFailed(), Cancelled: run.Cancelled,
	}
	if r.Start.IsZero() {
		r.Start, r.End = time.Now(), time.Now()
	}
	for _, one := range run.Profiling.Shown() {
		for stat, v := range one.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				continue
			}
			key := one.Tag
			if one.Kind != metric.Derived || metric.Stat(stat) != metric.Avg {
				key += "_" + metric.Stat(stat).String()
			}
			r.Metrics = append(r.Metrics, tracker.Metric{Key: key, Value: v})
		}
	}
	r.Params = append(flat(nil, "", opts.InputConfig), tracker.Param{Key: "benchmark_id", Value: opts.BenchmarkID}, tracker.Param{Key: "aiperf_version", Value: opts.Version})
	if run.Validity != nil {
		r.Params = append(r.Params, tracker.Param{Key: "verdict", Value: string(run.Validity.Verdict)})
	}
	files, err := tracker.Files(o.layout.Dir, globs)
	if err != nil {
		say.warn(cfg.As("mlflow.artifact_globs") + ": " + err.Error())
	}
	if globs == nil {
		files, err = tracker.Files(o.layout.Dir, []string{"plots/**"})
		if err != nil {
			say.warn("plots: " + err.Error())
		}
		for _, f := range run.Files {
			if rel, err := filepath.Rel(o.layout.Dir, f.Path); err == nil && filepath.IsLocal(rel) {
				files = append(files, tracker.File{Path: f.Path, Name: filepath.ToSlash(rel)})
			}
		}
	}
	r.Files = files
	return r
}

// flat makes dotted keys of a JSON value.
func flat(list []tracker.Param, key string, value json.RawMessage) []tracker.Param {
	under := func(name string) string {
		if key == "" {
			return name
		}
		return key + "." + name
	}
	var object map[string]json.RawMessage
	var array []json.RawMessage
	var text string
	switch {
	case len(value) == 0:
	case json.Unmarshal(value, &object) == nil && object != nil:
		for _, name := range slices.Sorted(maps.Keys(object)) {
			list = flat(list, under(name), object[name])
		}
	case json.Unmarshal(value, &array) == nil && array != nil:
		for i, one := range array {
			list = flat(list, under(strconv.Itoa(i)), one)
		}
	case json.Unmarshal(value, &text) == nil:
		list = append(list, tracker.Param{Key: key, Value: text})
	default:
		list = append(list, tracker.Param{Key: key, Value: string(value)})
	}
	return list
}
