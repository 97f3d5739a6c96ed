package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/results"
	"aiperf/internal/run/view"
	"aiperf/internal/run/watch"
	"aiperf/internal/telemetry/timeline"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/accuracy"
)

// claimDir creates the artifact directory and reserves it for this run. It leaves the files of an earlier run alone until this run has something to
// write, because the run may never begin.
func (o *runResources) claimDir(ctx context.Context, cfg *config.Benchmark, opts *Options, say *reporter) error {
	a := &cfg.Artifacts
	o.layout = artifact.NewLayout(a.Dir, a.Prefix)
	o.layout.Secrets = opts.Secrets
	o.layout.NoJSON = !a.Summary.Has("json")
	if err := o.checkInputsSpared(cfg); err != nil {
		return err
	}
	if err := o.makeDirs(cfg); err != nil {
		return err
	}
	release, err := artifact.Claim(o.layout.Dir)
	if err != nil {
		return fmt.Errorf("%s %w", cfg.As("artifacts.dir"), err)
	}
	o.untilEnd.OnStop(func() error { release(); return nil })
	if err := artifact.Writable(filepath.Dir(o.layout.Log())); err != nil { // reported before the run waits for a server
		return fmt.Errorf("%s %s: %w", cfg.As("artifacts.dir"), a.Dir, err)
	}
	if !cfg.Environment.UI.LiveFile {
		return nil
	}
	return o.untilEnd.Start(ctx, view.NewPublisher(say.view, o.layout.Dir, opts.Version, opts.BenchmarkID))
}

// checkInputsSpared returns an error if a result file would overwrite an input file of the run.
func (o *runResources) checkInputsSpared(cfg *config.Benchmark) error {
	l := o.layout
	written := []string{l.SummaryJSON(), l.SummaryCSV(), l.Records(), l.Console(), l.SlicesCSV(), l.SlicesJSON()}
	if cfg.Artifacts.Raw {
		written = append(written, l.Raw())
	}
	for _, path := range written {
		if Reads(cfg, path) {
			return fmt.Errorf("%s %s: the run reads %s and would overwrite it with its results; choose another directory", cfg.As("artifacts.dir"), cfg.Artifacts.Dir, path)
		}
	}
	return nil
}

// makeDirs creates the artifact directory and that of the log.
func (o *runResources) makeDirs(cfg *config.Benchmark) error {
	a := &cfg.Artifacts
	err := artifact.MakeDir(a.Dir, a.Raw || a.Trace)
	if err == nil {
		err = artifact.MakeDir(filepath.Dir(o.layout.Log()), false)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", cfg.As("artifacts.dir"), a.Dir, err)
	}
	return nil
}

// replaceFiles replaces the files that an earlier run left under the same names, and starts the log file.
func (o *runResources) replaceFiles(cfg *config.Benchmark, opts *Options, say *reporter) error {
	if opts.Begin != nil {
		if err := opts.Begin(); err != nil {
			return err
		}
	}
	if err := o.makeDirs(cfg); err != nil { // Begin may have removed them
		return err
	}
	n, err := o.layout.Clear(func(path string) bool { return Reads(cfg, path) })
	if n > 0 {
		say.Note("removed the files of an earlier run from %s (%d)", o.layout.Dir, n)
	}
	if err != nil {
		return fmt.Errorf("%s %w", cfg.As("artifacts.dir"), err)
	}
	f, err := os.Create(o.layout.Log())
	if err != nil {
		return fmt.Errorf("%s %s: %w", cfg.As("artifacts.dir"), cfg.Artifacts.Dir, err)
	}
	o.untilEnd.OnStop(f.Close)
	if err := inputs.WriteUserFiles(cfg, o.layout.Dir); err != nil {
		return err
	}
	say.OpenFile(f, o.layout.Log())
	say.Log.Info("run", "version", opts.Version, "benchmark_id", opts.BenchmarkID, "command", opts.Info.CLICommand)
	return nil
}

// saveLog writes the log of a run that never began, unless an earlier run left its own log there.
func (o *runResources) saveLog(say *reporter) {
	if say.File != "" || o.layout.Dir == "" {
		return
	}
	f, err := os.OpenFile(o.layout.Log(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return // it belongs to an earlier run, or cannot be written: the caller reports the error in any case
	}
	say.OpenFile(f, o.layout.Log())
	o.untilEnd.OnStop(f.Close)
}

// Reads reports whether a run with this configuration reads the file at path.
func Reads(cfg *config.Benchmark, path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	paths := []string{cfg.Dataset().Path, cfg.Dataset().SystemPromptFile}
	for i := range cfg.Phases {
		paths = append(paths, cfg.Phases[i].RateSeries)
	}
	for _, p := range paths {
		if other, err := os.Stat(p); p != "" && err == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

// startResults starts the processing of finished requests.
func (o *runResources) startResults(ctx context.Context, cfg *config.Benchmark, opts *Options, r *runPlan, say *reporter) (err error) {
	var phases []results.Phase
	profiling := 0
	for i, p := range r.scenario.Phases {
		one := results.Phase{Name: p.Name, Index: i, Profiling: -1, Warmup: p.Warmup}
		if !p.Warmup {
			one.Profiling = profiling
			profiling++
		}
		phases = append(phases, one)
	}
	o.seconds = timeline.New()
	var grades *accuracy.Grades
	if r.problems != nil {
		var tell func(string)
		if cfg.Accuracy.Verbose {
			tell = say.Print
		}
		grades = accuracy.NewGrades(context.WithoutCancel(ctx), r.problems, r.grader, tell) // an interrupted run still grades the answers it has
	}
	o.adaptive = watch.NewAdaptiveLoad(cfg, opts.BenchmarkID, o.layout, opts.Secrets, say.Log.Info)
	o.prefixes = o.newPrefixes()
	o.results, err = results.New(results.Options{
		Prefixes: o.prefixes,
		Config:   cfg, Endpoint: r.endpoint, Codec: r.codec, Metrics: r.metrics, Tokenizers: r.tokenizers, Layout: o.layout,
		BenchmarkID: opts.BenchmarkID, Phases: phases, Raw: true, Grades: grades, Observers: slices.Concat(observers(ctx, say.Log, say.view), o.streams.observers, o.adaptive.Observers(), withOptional(o.seconds, opts.Observe)), Clean: transport.CleanError,
		Hurry:   func() bool { return ctx.Err() != nil },
		Secrets: func(rec *record.Record) *redact.Secrets { return secretsOf(opts.Secrets, rec) },
	})
	if err == nil {
		o.outputs.OnStop(o.results.Close)
	}
	return err
}
