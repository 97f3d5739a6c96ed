// Package reanalyze makes the report of a run again from its raw export, without a server: the same assembly as of a live run, fed from
// a file, by the settings that the run's own summary names.
package reanalyze

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"aiperf/internal/accuracy"
	"aiperf/internal/accuracy/grade"
	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/runfiles"
	"aiperf/internal/setting"
)

// Options say what to read, where to write, and what is not to be as the run had it: nil and "" leave a setting alone.
type Options struct {
	Input  Found  // one of Find
	Dir    string // artifact directory of the report
	Prefix string // of the file names

	Endpoint      *endpoint.Endpoint // of a run that says nothing: what the payloads tell
	Streaming     *bool              // likewise
	ServerTokens  *bool
	PerChunkUsage *bool
	ShowTrace     *bool
	Goodput       *string  // objectives, "TAG:VALUE TAG:VALUE"
	SliceSeconds  *float64 // length of a time slice
	Tokenizer     string   // of a run that says nothing: the one inside the program
	Revision      string   // of the tokenizer
	Grader        string   // of the answers to a benchmark; "" = the run's own
	DatasetPath   string   // copy of the benchmark's data set; "" = as the run had it
	// Info tells what the user should know; nil = nobody listens.
	Info func(format string, args ...any)

	Version    string
	CLICommand string
	Spell      setting.Spell // words the settings that errors speak of
}

// Result is a report that was made.
type Result struct {
	Run    *metric.Run
	Layout artifact.Layout
	Config *config.Benchmark // the settings that it was made by
}

// Report reads the raw export and writes what the run wrote: records, summaries, slices, phases. The caller prints the console.
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
	if r.Run.Validity != nil {
		r.Run.Branches, r.Run.Probe = src.prior.Branches, src.prior.Probe
		r.Run.Validity.Observe(r.Run.Probe)
	}
	if r.Run.Sought, err = runfiles.Open(src.Dir).Sought(); err != nil && o.Info != nil {
		o.Info("how the load sought its limit is not shown: %v", err)
	}
	return r, errors.Join(results.Write(r.Run, how), src.carryOver(r))
}

// assemble feeds every request of the export to an assembly.
func (o *Options) assemble(ctx context.Context, cfg *config.Benchmark, src *source, layout artifact.Layout) (*assembly.Assembly, error) {
	choice := assembly.MetricOptions(cfg, o.Endpoint)
	choice.EmptyOutput = src.python
	if o.Goodput != nil {
		choice.Goodput = *o.Goodput
	}
	set, err := metric.NewSelection(choice)
	if err != nil {
		return nil, err
	}
	reading := assembly.CodecSettings(cfg, choice.Streaming)
	reading.ReadOnly = true
	codec, err := o.Endpoint.Open(reading)
	if err != nil {
		return nil, err
	}
	grades := o.grades(ctx, cfg)
	a, err := assembly.New(assembly.Options{
		Config: cfg, Endpoint: o.Endpoint, Codec: codec, Metrics: set, Layout: layout, BenchmarkID: src.prior.BenchmarkID, Phases: src.phases,
		Decode: decoder(o.Endpoint, codec, src.python), Grades: grades, Hurry: func() bool { return ctx.Err() != nil },
		Tokenizers: func() (*assembly.Tokenizers, error) {
			return assembly.OpenTokenizers(ctx, cfg, slog.New(slog.DiscardHandler), o.Info, nil)
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

// grades are what judges the answers again; nil = the run asked no benchmark, or its problems cannot be had, which is told.
func (o *Options) grades(ctx context.Context, cfg *config.Benchmark) *accuracy.Grades {
	a := cfg.Accuracy
	if a == nil {
		return nil
	}
	if o.Grader != "" {
		a.Grader = o.Grader
	}
	if o.DatasetPath != "" {
		a.DatasetPath = o.DatasetPath
	}
	cfg.Spelling = o.Spell
	set, err := assembly.Problems(ctx, cfg, nil, nil)
	if err == nil {
		var grader *grade.Grader
		if grader, err = assembly.Grader(ctx, cfg); err == nil {
			return accuracy.NewGrades(ctx, set, grader, nil)
		}
	}
	if o.Info != nil {
		o.Info("the answers are not graded again: %v", err)
	}
	return nil
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
