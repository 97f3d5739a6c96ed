// Package run is one run: it wires dataset, load, endpoint, transport, pipeline and report together, from a resolved configuration to
// the files that a run leaves, and owns its lifecycle.
package run

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/rng"
	"aiperf/internal/ui"
)

// Options are what a run gets beside its configuration.
type Options struct {
	Version     string // of this program
	BenchmarkID string // "" = a new one
	Info        metric.RunInfo
	Err         io.Writer // warnings and progress
	Progress    int       // columns of the terminal that shows progress, 0 = none does
	InputConfig []byte    // the configuration as the summary shows it
	Notes       []string  // what the user was told before the run; the log repeats it
	Warnings    []string
	Secrets     *redact.Secrets // that are known besides those of the configuration
}

// runner is one run: what it was asked for, and what its stages (stages.go) made of that.
type runner struct {
	cfg  *config.Benchmark
	opts Options
	seed *config.Seed
	log  *slog.Logger

	resolved
	opened

	open    components // until the run ends: servers, connections, files
	written components // until the last request is in them: results, inputs.json
	beside  components // while the load goes on: the meter, the live view, the log of phases

	gate   gate
	meter  *meter
	events events     // where the log goes
	screen *ui.Screen // the error stream, where it shows the live line; nil = it shows none
	live   *ui.Live   // what finished requests tell while the run goes on
}

// Run carries a benchmark out and writes its files. Before the first request an error leaves nothing behind but the directory; afterwards
// there is always a report. The context's end is the user's interruption: the run drains and reports what it has.
func Run(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts Options) (*metric.Run, error) {
	if opts.BenchmarkID == "" {
		opts.BenchmarkID = rng.UUID()[24:]
	}
	opts.Secrets = opts.Secrets.With(cfg.Secrets()...)
	r := &runner{cfg: cfg, opts: opts, seed: seed, written: components{unhurried: true}, live: &ui.Live{}}
	if opts.Progress > 0 {
		r.screen = ui.NewScreen(opts.Err)
		r.opts.Err = r.screen
	}
	r.startLog()
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	defer r.close(ctx)
	result, loadErr := r.runLoad(ctx)
	pipeErr := r.written.stop(ctx)
	how := r.outcome(result)
	run := r.summarise(result, how)
	writeErr := r.results.Write(run, how)
	r.logVerdict(run)
	r.reportFailure(run, result)
	if loadErr != nil {
		return run, loadErr
	}
	return run, errors.Join(pipeErr, writeErr)
}

// runLoad sends the requests, with everything running that watches them.
func (r *runner) runLoad(ctx context.Context) (*load.Result, error) {
	for _, one := range r.watchers() {
		if err := r.beside.start(ctx, one); err != nil {
			return nil, errors.Join(err, r.beside.stop(ctx))
		}
	}
	result, err := r.load.Run(ctx)
	return result, errors.Join(err, r.beside.stop(ctx))
}

// watchers are the components beside the load, in the order in which they start.
func (r *runner) watchers() []component {
	doubts := newCertainty(r.results.Put)
	r.meter = &meter{after: doubts.known}
	return []component{
		closing{close: func() error { doubts.close(); return nil }},
		r.meter,
		admission{runner: r, doubts: doubts},
		&progress{runner: r},
		phaseLog{log: r.log},
	}
}

// close releases everything in the opposite order.
func (r *runner) close(ctx context.Context) {
	if err := errors.Join(r.written.stop(ctx), r.open.stop(ctx)); err != nil {
		r.tell("aiperf: warning: " + err.Error())
	}
}
