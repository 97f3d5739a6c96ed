// Package tracker uploads the results of a run to experiment trackers: MLflow, and Weights & Biases.
package tracker

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

	"aiperf/internal/base/redact"
	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/message"
	"aiperf/internal/telemetry/mlops"
	"aiperf/internal/telemetry/otlp"
)

// Environment variables with the credentials of trackers, as their own programs use them.
const (
	mlflowUser     = "MLFLOW_TRACKING_USERNAME"
	mlflowPassword = "MLFLOW_TRACKING_PASSWORD"
	mlflowToken    = "MLFLOW_TRACKING_TOKEN"
	wandbKey       = "WANDB_API_KEY"
	wandbBase      = "WANDB_BASE_URL"
	wandbMode      = "WANDB_MODE"
)

// wandbOnline reports whether the run is uploaded to Weights & Biases. Their library writes runs in its own format when it is offline; aiperf does
// not.
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

// Check returns an error if the run would be uploaded to Weights & Biases without a key. It sends nothing.
func Check(cfg *config.Benchmark) error {
	if cfg.WandB.Project == "" || os.Getenv(wandbKey) != "" || !wandbOnline(func(string) {}) {
		return nil
	}
	return fmt.Errorf("%s %s: no key to upload with: %s is not set, and a key that wandb login saved is not read; set %s, or set %s=disabled to upload nothing",
		cfg.As("wandb.project"), cfg.WandB.Project, wandbKey, wandbKey, wandbMode)
}

// Secrets returns the credentials that must not appear in any output.
func Secrets() (list []string) {
	for _, name := range []string{mlflowPassword, mlflowToken, wandbKey} {
		if v := os.Getenv(name); v != "" {
			list = append(list, v)
		}
	}
	return append(list, otlp.HeadersOf(os.Getenv).Values()...)
}

// Options says which run is uploaded, and where to.
type Options struct {
	Config      *config.Benchmark
	Version     string // of this program
	BenchmarkID string
	InputConfig []byte // the configuration as the summary shows it
	Secrets     *redact.Secrets
	Layout      artifact.Layout
	Say         *message.Reporter
}

// uploader uploads one run.
type uploader struct{ Options }

// Upload sends the results to the trackers that the user named. A failure is a warning: the files of the run are complete. An interrupted run is
// uploaded too. Each tracker has its own time limit.
func Upload(ctx context.Context, options Options, run *metric.Run) {
	o := &uploader{options}
	ctx = context.WithoutCancel(ctx)
	if m := &o.Config.MLflow; m.TrackingURI != "" {
		content := o.report(run, m.RunName, m.ArtifactGlobs)
		to := mlops.MLflow{
			URI: strings.TrimSpace(m.TrackingURI), Experiment: m.Experiment, Parent: m.ParentRunID, Tags: m.Tags, Agent: connection.UserAgent(o.Version),
			User: os.Getenv(mlflowUser), Password: os.Getenv(mlflowPassword), Token: os.Getenv(mlflowToken),
		}
		sent, ok := deliver(ctx, "MLflow", o.Config.Environment.MLflow.ExportTimeout.Duration(), o.Say, func(ctx context.Context) (mlops.Sent, error) { return to.Upload(ctx, content) })
		if sent.RunID != "" {
			o.noteMLflow(m, sent, ok)
		}
	}
	if w := &o.Config.WandB; w.Project != "" && wandbOnline(o.Say.Warn) {
		content := o.report(run, w.RunName, nil)
		to := mlops.WandB{
			Base: cmp.Or(os.Getenv(wandbBase), mlops.WandBase), Key: os.Getenv(wandbKey), Project: w.Project, Entity: w.Entity, Tags: w.Tags,
			RunID: strings.ReplaceAll(rng.UUID(), "-", "")[:8], Agent: connection.UserAgent(o.Version),
		}
		deliver(ctx, "Weights & Biases", o.Config.Environment.WandB.ExportTimeout.Duration(), o.Say, func(ctx context.Context) (mlops.Sent, error) { return to.Upload(ctx, content) })
	}
}

// deliver uploads to one tracker within a time limit and reports the result. It returns false if a part failed.
func deliver(ctx context.Context, name string, most time.Duration, say *message.Reporter, upload func(context.Context) (mlops.Sent, error)) (mlops.Sent, bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	sent, err := upload(ctx)
	if err != nil {
		first, rest, _ := strings.Cut(err.Error(), "\n")
		if n := strings.Count(rest, "\n"); rest != "" {
			first += fmt.Sprintf(" (and %d more)", n+1)
		}
		say.Warn(name + ": not everything was uploaded: " + first)
	}
	if sent.RunID != "" {
		say.Note("%s: %s", name, sent.URL)
	}
	return sent, err == nil
}

// noteMLflow writes the file that says where the run is.
func (o *uploader) noteMLflow(m *config.MLflow, sent mlops.Sent, complete bool) {
	text, err := json.MarshalIndent(map[string]any{
		"tracking_uri": redact.URL(m.TrackingURI), "experiment": m.Experiment, "experiment_id": sent.ExperimentID, "run_id": sent.RunID, "run_url": sent.URL,
		"benchmark_id": o.BenchmarkID, "complete": complete,
	}, "", "  ")
	if err == nil {
		err = artifact.WriteFile(o.Layout.MLflow(), o.Secrets.JSON(append(text, '\n')))
	}
	if err != nil {
		o.Say.Warn("MLflow: " + err.Error())
	}
}

// report collects what is uploaded: every statistic of the summary, the configuration as the summary shows it, and files.
func (o *uploader) report(run *metric.Run, name string, globs []string) *mlops.Report {
	r := &mlops.Report{
		Name: cmp.Or(strings.TrimSpace(name), "aiperf-"+o.BenchmarkID), Start: run.Start, End: run.End, Failed: run.AllFailed(), Cancelled: run.Cancelled,
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
			r.Metrics = append(r.Metrics, mlops.Metric{Key: key, Value: v})
		}
	}
	r.Params = append(flat(nil, "", o.InputConfig), mlops.Param{Key: "benchmark_id", Value: o.BenchmarkID}, mlops.Param{Key: "aiperf_version", Value: o.Version})
	if run.Validity != nil {
		r.Params = append(r.Params, mlops.Param{Key: "verdict", Value: string(run.Validity.Verdict)})
	}
	files, err := mlops.Files(o.Layout.Dir, globs)
	if err != nil {
		o.Say.Warn(o.Config.As("mlflow.artifact_globs") + ": " + err.Error())
	}
	if globs == nil {
		files, err = mlops.Files(o.Layout.Dir, []string{"plots/**"})
		if err != nil {
			o.Say.Warn("plots: " + err.Error())
		}
		for _, f := range run.Files {
			if rel, err := filepath.Rel(o.Layout.Dir, f.Path); err == nil && filepath.IsLocal(rel) {
				files = append(files, mlops.File{Path: f.Path, Name: filepath.ToSlash(rel)})
			}
		}
	}
	r.Files = files
	return r
}

// flat converts a JSON value to dotted keys.
func flat(list []mlops.Param, key string, value json.RawMessage) []mlops.Param {
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
		list = append(list, mlops.Param{Key: key, Value: text})
	default:
		list = append(list, mlops.Param{Key: key, Value: string(value), JSON: value})
	}
	return list
}
