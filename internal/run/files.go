package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pieces"
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
func (o *runResources) claimDir(ctx context.Context) error {
	a := &o.cfg.Artifacts
	o.layout = artifact.NewLayout(a.Dir, a.Prefix)
	o.layout.Secrets = o.opts.Secrets
	o.layout.NoJSON = !a.Summary.Has("json")
	if err := o.checkInputsSpared(); err != nil {
		return err
	}
	if err := o.makeDirs(); err != nil {
		return err
	}
	release, err := artifact.Claim(o.layout.Dir)
	if err != nil {
		return fmt.Errorf("%s %w", o.cfg.As("artifacts.dir"), err)
	}
	o.untilEnd.OnStop(func() error { release(); return nil })
	if err := artifact.Writable(filepath.Dir(o.layout.Log())); err != nil { // reported before the run waits for a server
		return fmt.Errorf("%s %s: %w", o.cfg.As("artifacts.dir"), a.Dir, err)
	}
	if !o.cfg.Environment.UI.LiveFile {
		return nil
	}
	return o.untilEnd.Start(ctx, view.NewPublisher(o.say.view, o.layout.Dir, o.opts.Version, o.opts.BenchmarkID))
}

// checkInputsSpared returns an error if a result file would overwrite an input file of the run.
func (o *runResources) checkInputsSpared() error {
	l := o.layout
	written := []string{l.SummaryJSON(), l.SummaryCSV(), l.Records(), l.Console(), l.SlicesCSV(), l.SlicesJSON()}
	if o.cfg.Artifacts.Raw {
		written = append(written, l.Raw())
	}
	for _, path := range written {
		if Reads(o.cfg, path) {
			return fmt.Errorf("%s %s: the run reads %s and would overwrite it with its results; choose another directory", o.cfg.As("artifacts.dir"), o.cfg.Artifacts.Dir, path)
		}
	}
	return nil
}

// makeDirs creates the artifact directory and that of the log.
func (o *runResources) makeDirs() error {
	a := &o.cfg.Artifacts
	err := artifact.MakeDir(a.Dir, a.Raw || a.Trace)
	if err == nil {
		err = artifact.MakeDir(filepath.Dir(o.layout.Log()), false)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.cfg.As("artifacts.dir"), a.Dir, err)
	}
	return nil
}

// replaceFiles replaces the files that an earlier run left under the same names, and starts the log file.
func (o *runResources) replaceFiles() error {
	if o.opts.Begin != nil {
		if err := o.opts.Begin(); err != nil {
			return err
		}
	}
	if err := o.makeDirs(); err != nil { // Begin may have removed them
		return err
	}
	n, err := o.layout.Clear(func(path string) bool { return Reads(o.cfg, path) })
	if n > 0 {
		o.say.Note("removed %s of an earlier run from %s", terminal.Plural(n, "file"), o.layout.Dir)
	}
	if err != nil {
		return fmt.Errorf("%s %w", o.cfg.As("artifacts.dir"), err)
	}
	f, err := os.Create(o.layout.Log())
	if err != nil {
		return fmt.Errorf("%s %s: %w", o.cfg.As("artifacts.dir"), o.cfg.Artifacts.Dir, err)
	}
	o.untilEnd.OnStop(f.Close)
	if err := inputs.WriteUserFiles(o.cfg, o.layout.Dir); err != nil {
		return err
	}
	o.say.OpenFile(f, o.layout.Log())
	o.say.Log.Info("run", "version", o.opts.Version, "benchmark_id", o.opts.BenchmarkID, "command", o.opts.Info.CLICommand)
	return nil
}

// saveLog writes the log of a run that never began, unless an earlier run left its own log there.
func (o *runResources) saveLog() {
	if o.say.File != "" || o.layout.Dir == "" {
		return
	}
	f, err := os.OpenFile(o.layout.Log(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return // it belongs to an earlier run, or cannot be written: the caller reports the error in any case
	}
	o.say.OpenFile(f, o.layout.Log())
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
func (o *runResources) startResults(ctx context.Context) (err error) {
	var phases []results.Phase
	profiling := 0
	for i, p := range o.plan.scenario.Phases {
		one := results.Phase{Name: p.Name, Index: i, Profiling: -1, Warmup: p.Warmup}
		if !p.Warmup {
			one.Profiling = profiling
			profiling++
		}
		phases = append(phases, one)
	}
	o.seconds = timeline.New(o.layout.Dir)
	var grades *accuracy.Grades
	if o.plan.problems != nil {
		var tell func(string)
		if o.cfg.Accuracy.Verbose {
			tell = o.say.Print
		}
		if grades, err = o.startGrades(context.WithoutCancel(ctx), tell); err != nil { // an interrupted run still grades the answers it has
			return err
		}
	}
	o.adaptive = watch.NewAdaptiveLoad(o.cfg, o.opts.BenchmarkID, o.layout, o.opts.Secrets, o.say.Log.Info)
	o.prefixes = o.newPrefixes()
	var forward func(*metric.Row, []byte, []int)
	if w := o.opts.Worker; w != nil {
		o.sealer = pieces.NewSealer(w.Sink)
		o.untilEnd.OnStop(func() error { o.sealer.Stop(); return nil })
		forward = o.sealer.Add
	}
	o.results, err = results.New(results.Options{
		Prefixes: o.prefixes, Forward: forward,
		Config: o.cfg, Endpoint: o.plan.endpoint, Codec: o.plan.codec, Metrics: o.plan.metrics, Tokenizers: o.plan.tokenizers, Layout: o.layout,
		BenchmarkID: o.opts.BenchmarkID, Phases: phases, Raw: true, Grades: grades, Observers: slices.Concat(observers(ctx, o.say.Log, o.say.view), o.streams.observers, o.adaptive.Observers(), withOptional(o.seconds, o.opts.Observe)), Clean: transport.CleanError,
		Hurry:   func() bool { return ctx.Err() != nil },
		Secrets: func(rec *record.Record) *redact.Secrets { return secretsOf(o.opts.Secrets, rec) },
	})
	if err != nil {
		return err
	}
	o.outputs.OnStop(o.results.Close)
	if w := o.opts.Worker; w != nil && w.Opened != nil {
		w.Opened(o.expected(), o.results.Files())
	}
	return nil
}

// startGrades starts the grader of the answers. It ends after the last grade.
func (o *runResources) startGrades(ctx context.Context, tell func(string)) (*accuracy.Grades, error) {
	stop, err := o.plan.grader.Start(ctx, func(line string) { o.say.Log.Info(line) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.cfg.As("accuracy.grader"), err)
	}
	o.outputs.OnStop(func() error {
		_ = stop() // a grader at fault has failed its calls, which were reported
		return nil
	})
	grades := accuracy.NewGrades(ctx, o.plan.problems, o.plan.grader, tell)
	grades.Warn = o.say.Warn
	return grades, nil
}
