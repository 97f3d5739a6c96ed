package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aiperf/internal/accuracy"
	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/record"
	"aiperf/internal/redact"
	"aiperf/internal/telemetry/timeline"
	"aiperf/internal/transport"
)

// makeFiles makes the artifact directory and the log.
func (o *opened) makeFiles(ctx context.Context, cfg *config.Benchmark, opts *Options, say *reporter) error {
	a := &cfg.Artifacts
	o.layout = artifact.NewLayout(a.Dir, a.Prefix)
	o.layout.Secrets = opts.Secrets
	o.layout.NoJSON = !a.Summary.Has("json")
	if err := artifact.MakeDir(a.Dir, a.Raw || a.Trace); err != nil {
		return fmt.Errorf("%s %s: %w", cfg.As("artifacts.dir"), a.Dir, err)
	}
	if err := o.claim(cfg, say); err != nil {
		return fmt.Errorf("%s %w", cfg.As("artifacts.dir"), err)
	}
	if err := artifact.MakeDir(filepath.Dir(o.layout.Log()), false); err != nil {
		return fmt.Errorf("%s %s: %w", cfg.As("artifacts.dir"), a.Dir, err)
	}
	f, err := os.Create(o.layout.Log())
	if err != nil {
		return fmt.Errorf("%s %s: %w", cfg.As("artifacts.dir"), a.Dir, err)
	}
	o.held.opened(f.Close)
	if err := writeUserFiles(cfg, o.layout.Dir); err != nil {
		return err
	}
	say.into(f, o.layout.Log())
	say.log.Info("run", "version", opts.Version, "benchmark_id", opts.BenchmarkID, "command", opts.Info.CLICommand)
	if !cfg.Environment.UI.LiveFile {
		return nil
	}
	return o.held.start(ctx, newPublisher(say.view, o.layout.Dir, opts.Version))
}

// claim takes the directory for this run and removes what an earlier run left there under the names of this one.
func (o *opened) claim(cfg *config.Benchmark, say *reporter) error {
	release, err := artifact.Claim(o.layout.Dir)
	if err != nil {
		return err
	}
	o.held.opened(func() error { release(); return nil })
	n, err := o.layout.Clear(func(path string) bool { return reads(cfg, path) })
	if n > 0 {
		say.note("removed the files of an earlier run from %s (%d)", o.layout.Dir, n)
	}
	return err
}

// reads tells whether a file is one that this run reads.
func reads(cfg *config.Benchmark, path string) bool {
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

// startResults starts what makes the results of finished requests.
func (o *opened) startResults(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, say *reporter) (err error) {
	var phases []assembly.Phase
	profiling := 0
	for i, p := range r.scenario.Phases {
		one := assembly.Phase{Name: p.Name, Index: i, Profiling: -1, Warmup: p.Warmup}
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
			tell = say.tell
		}
		grades = accuracy.NewGrades(context.WithoutCancel(ctx), r.problems, r.grader, tell) // an interrupted run grades what has come
	}
	o.steering = newSteering(cfg, opts.BenchmarkID, o.layout, opts.Secrets, say.log.Info)
	o.results, err = assembly.New(assembly.Options{
		Config: cfg, Endpoint: r.endpoint, Codec: r.codec, Metrics: r.metrics, Tokenizers: r.tokenizers, Layout: o.layout,
		BenchmarkID: opts.BenchmarkID, Phases: phases, Raw: true, Grades: grades, Observers: slices.Concat(observers(ctx, say.log, say.view), o.streams.observers, o.steering.observers(), others(o.seconds, opts.Observe)), Clean: transport.CleanError,
		Secrets: func(rec *record.Record) *redact.Secrets { return secretsOf(opts.Secrets, rec) },
	})
	if err == nil {
		o.written.opened(o.results.Close)
	}
	return err
}
