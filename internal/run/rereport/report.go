// Package rereport makes the report of a run again from its raw export, without a server. It uses the same assembly as a live run, fed from a file,
// with the settings that the run's own summary names.
package rereport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/run/exporters"
	"aiperf/internal/run/results"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/accuracy"
)

// Options selects what to read and where to write, and overrides settings of the run. nil and "" keep a setting as it was.
type Options struct {
	Input  RunFiles // a result of Find
	Dir    string   // artifact directory of the report
	Prefix string   // of the file names

	Endpoint      *endpoint.Endpoint // if the run does not name it; nil = found from the payloads
	Streaming     *bool              // likewise
	ServerTokens  *bool
	PerChunkUsage *bool
	ShowTrace     *bool
	Goodput       *string  // objectives, "TAG:VALUE TAG:VALUE"
	SliceSeconds  *float64 // length of a time slice
	Tokenizer     string   // if the run names none; "" = the built-in one
	Revision      string   // of the tokenizer
	Grader        string   // for the answers to a benchmark; "" = that of the run
	DatasetPath   string   // copy of the benchmark's dataset; "" = that of the run
	// Info receives messages to the user; nil = they are dropped.
	Info func(format string, args ...any)

	Version    string
	CLICommand string
	Spell      setting.Spell // spells the settings in errors
}

// Result is a finished report.
type Result struct {
	Run    *metric.Run
	Layout artifact.Layout
	Config *config.Benchmark // settings of the report
}

// Report reads the raw export and writes the files of the run: records, summaries, slices, phases. The caller prints the console report.
func Report(ctx context.Context, o Options) (*Result, error) {
	for _, f := range o.Input.Raw {
		if same(filepath.Dir(f), o.Dir) || same(o.Input.Dir, o.Dir) {
			return nil, fmt.Errorf("%s %s is the directory of the raw export itself: its files would be overwritten", o.Spell.As("artifacts.dir"), o.Dir)
		}
	}
	src, err := openSource(o.Input)
	if err != nil {
		return nil, err
	}
	if src.prior.problem != "" {
		o.info("%s", src.prior.problem)
	}
	cfg, err := o.settings(src)
	if err != nil {
		return nil, err
	}
	if !o.Endpoint.Built() {
		return nil, fmt.Errorf("report: %s %s is not built yet", o.Spell.As("endpoint.type"), o.Endpoint.Name)
	}
	r := &Result{Layout: artifact.NewLayout(o.Dir, cfg.Artifacts.Prefix), Config: cfg}
	release, err := artifact.Claim(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s %w", o.Spell.As("artifacts.dir"), err)
	}
	defer release()
	if _, err := r.Layout.Clear(func(string) bool { return false }); err != nil {
		return nil, fmt.Errorf("%s %w", o.Spell.As("artifacts.dir"), err)
	}
	results, err := o.assemble(ctx, cfg, src, r.Layout)
	if err != nil {
		return nil, err
	}
	how := src.outcome(results)
	how.Version = o.Version
	if how.Info.CLICommand == "" {
		how.Info.CLICommand = o.CLICommand
	}
	r.Run = results.Run(how)
	if s := src.prior.Metadata; s != nil && s.Scenario != "" {
		r.Run.Submission = s
	}
	if r.Run.Validity, err = src.prior.validity(r.Run.Profiling); err != nil {
		return nil, fmt.Errorf("report: the summary of the run: %w", err)
	}
	if r.Run.Profiling != nil {
		if lack := src.prior.lacks(r.Run.Profiling); lack != "" {
			o.info("%s", lack)
		}
	}
	if r.Run.Validity != nil {
		r.Run.Branches, r.Run.Probe = src.prior.Branches, src.prior.Probe
		r.Run.Validity.Observe(r.Run.Probe)
	}
	if r.Run.Adaptive, err = runfiles.Open(src.Dir).Adaptive(); err != nil && o.Info != nil {
		o.Info("the history of the load search is not shown: %v", err)
	}
	err = errors.Join(results.Write(r.Run, how), src.carryOver(r))
	say := func(text string) { o.info("%s", text) }
	exporters.WithPlugins(ctx, r.Run, exporters.PluginOptions{Layout: r.Layout, Config: how.InputConfig, Log: say, Warn: say})
	return r, err
}

// assemble feeds every request of the export to an assembly.
func (o *Options) assemble(ctx context.Context, cfg *config.Benchmark, src *source, layout artifact.Layout) (*results.Assembly, error) {
	choice := results.MetricOptions(cfg, o.Endpoint)
	choice.EmptyOutput = src.python
	if o.Goodput != nil {
		choice.Goodput = *o.Goodput
	}
	set, err := metric.NewSelection(choice)
	if err != nil {
		return nil, err
	}
	reading := results.CodecSettings(cfg, choice.Streaming)
	reading.ReadOnly = true
	codec, err := o.Endpoint.Codec(reading)
	if err != nil {
		return nil, err
	}
	end, err := endpoint.Start(ctx, codec, func(line string) { o.info("%s", line) })
	if err != nil {
		return nil, err
	}
	defer func() { _ = end() }() // a fault was the error of every request that met it
	grades, stop := o.grades(ctx, cfg)
	defer stop()
	a, err := results.New(results.Options{
		Config: cfg, Endpoint: o.Endpoint, Codec: codec, Metrics: set, Layout: layout, BenchmarkID: src.prior.BenchmarkID, Phases: src.phases,
		Decode: decoder(o.Endpoint, codec, src.python), Grades: grades, Hurry: func() bool { return ctx.Err() != nil },
		Tokenizers: func() (*results.Tokenizers, error) {
			return results.OpenTokenizers(ctx, cfg, slog.New(slog.DiscardHandler), o.Info, nil)
		},
	})
	if err != nil {
		return nil, err
	}
	err = src.each(func(rec *record.Record) error {
		a.Feed(rec)
		return ctx.Err()
	})
	return a, errors.Join(err, a.Close())
}

// grades returns the grader for the answers, and a function that ends it. It returns nil if the run used no benchmark, or if the answers cannot be
// graded, which it reports.
func (o *Options) grades(ctx context.Context, cfg *config.Benchmark) (grades *accuracy.Grades, stop func()) {
	a := cfg.Accuracy
	if a == nil {
		return nil, func() {}
	}
	if o.Grader != "" {
		a.Grader = o.Grader
	}
	if o.DatasetPath != "" {
		a.DatasetPath = o.DatasetPath
	}
	cfg.Spelling = o.Spell
	grades, end, err := o.openGrades(ctx, cfg)
	if err != nil {
		o.info("the answers are not graded again: %v", err)
		return nil, func() {}
	}
	return grades, func() { _ = end() } // a grader at fault has failed its calls, which were reported
}

// openGrades loads the problems and starts the grader.
func (o *Options) openGrades(ctx context.Context, cfg *config.Benchmark) (*accuracy.Grades, func() error, error) {
	set, err := results.Problems(ctx, cfg, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	grader, err := results.Grader(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	stop, err := grader.Start(ctx, func(line string) { o.info("%s", line) })
	if err != nil {
		return nil, nil, err
	}
	grades := accuracy.NewGrades(ctx, set, grader, nil)
	grades.Warn = func(text string) { o.info("%s", text) }
	return grades, stop, nil
}

// info reports a message to the user.
func (o *Options) info(format string, args ...any) {
	if o.Info != nil {
		o.Info(format, args...)
	}
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
