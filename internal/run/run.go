// Package run is one run: it wires dataset, load, endpoint, transport, pipeline and report together, from a resolved configuration to
// the files that a run leaves, and owns its lifecycle.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/redact"
	"aiperf/internal/rng"
	"aiperf/internal/transport"
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

// runner is a run with all that is open.
type runner struct {
	cfg  *config.Benchmark
	opts Options
	log  *slog.Logger

	endpoint   *endpoint.Endpoint
	metrics    *metric.Set
	root       *rng.Root
	tokenizers func() (*assembly.Tokenizers, error)
	data       dataset.Dataset
	plan       load.Plan
	client     *transport.Client
	codec      endpoint.Codec
	addresses  *addresses
	inputs     *listing // nil = the dataset has no inputs.json
	layout     artifact.Layout
	results    *assembly.Assembly
	gate       gate
	meter      *meter
	load       *load.Generator

	open   components // until the run ends: servers, connections, files
	beside components // while the load goes on: the meter, the live view, the log of phases

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
	r := &runner{cfg: cfg, opts: opts, live: &ui.Live{}}
	if opts.Progress > 0 {
		r.screen = ui.NewScreen(opts.Err)
		r.opts.Err = r.screen
	}
	r.startLog()
	if err := r.start(ctx, seed); err != nil {
		return nil, err
	}
	defer r.close(ctx)
	result, loadErr := r.runLoad(ctx)
	pipeErr := errors.Join(r.results.Close(), r.closeInputs(ctx))
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
	doubts := newCertainty(r.results.Put)
	r.meter = &meter{after: doubts.known}
	for _, one := range []component{
		closing{close: func() error { doubts.close(); return nil }}, r.meter, admission{runner: r, doubts: doubts}, &progress{runner: r}, phaseLog{log: r.log},
	} {
		if err := r.beside.start(ctx, one); err != nil {
			return nil, errors.Join(err, r.beside.stop(ctx))
		}
	}
	result, err := r.load.Run(ctx)
	return result, errors.Join(err, r.beside.stop(ctx))
}

// close releases everything in the opposite order.
func (r *runner) close(ctx context.Context) {
	if err := r.open.stop(ctx); err != nil {
		r.tell("aiperf: warning: " + err.Error())
	}
}

// prepare resolves everything that may be refused, without writing or sending anything.
func (r *runner) prepare(ctx context.Context, seed *config.Seed) error {
	b := r.cfg
	var notice string
	var err error
	if r.endpoint, notice, err = endpoint.Lookup(b.Endpoint.Type); err != nil {
		return err
	}
	if notice != "" {
		r.warn(notice)
	}
	if !r.endpoint.Built() {
		return fmt.Errorf("%s %s is not built yet", b.As("endpoint.type"), r.endpoint.Name)
	}
	if r.metrics, err = metric.NewSet(assembly.MetricOptions(b, r.endpoint)); err != nil {
		return err
	}
	if r.codec, err = r.endpoint.Open(r.settings()); err != nil {
		return err
	}
	r.root = root(seed)
	r.tokenizers = sync.OnceValues(func() (*assembly.Tokenizers, error) {
		return assembly.OpenTokenizers(ctx, b, r.log, r.note, r.download)
	})
	if r.data, err = openDataset(b, r.endpoint, datasetRoot(b, r.root), lazyTokenizer(ctx, r.tokenizers)); err != nil {
		return err
	}
	for _, w := range r.data.Facts().Warnings {
		r.warn(w)
	}
	r.logDataset()
	if err := checkSchedule(b, r.data.Facts()); err != nil {
		return err
	}
	if err := checkTurns(b, r.data); err != nil {
		return err
	}
	if assembly.Counts(b, r.endpoint) {
		if _, err := r.tokenizers(); err != nil {
			return err
		}
	}
	if err := r.warnOfTemplates(); err != nil {
		return err
	}
	r.plan, err = plan(b)
	return err
}

// waiter sleeps to the instants of the schedule; nil = as exactly as the platform can.
func (r *runner) waiter() clock.Waiter {
	if r.cfg.Environment.Timing.HighResTimer {
		return nil
	}
	return clock.NewTimerWaiter()
}

// root is where everything random is drawn from; nil = a seed of the system's.
func root(seed *config.Seed) *rng.Root {
	if seed == nil {
		return rng.New(nil)
	}
	return rng.NewDecimal(string(*seed))
}

// checkSchedule refuses a schedule without times.
func checkSchedule(b *config.Benchmark, f dataset.Facts) error {
	p := b.Profiling()
	if p == nil || p.Type != config.PhaseFixedSchedule || f.UntimedOrigin == "" {
		return nil
	}
	return fmt.Errorf("%s: the first turn has no timestamp, which %s needs", f.UntimedOrigin, b.As("phases.profiling.type"))
}

// checkTurns refuses users without a second turn to come back for. Generated conversations are checked where their mean is known.
func checkTurns(b *config.Benchmark, d dataset.Dataset) error {
	if b.Dataset().Type == config.DatasetSynthetic {
		return nil
	}
	mean := float64(d.Facts().Turns) / float64(d.Len())
	for i := range b.Phases {
		if b.Phases[i].Type == config.PhaseUserCentric && mean < 2 {
			return fmt.Errorf("%s: users need conversations of at least 2 turns; those of %s have %.3g on average", b.As("phases.profiling.rate"), b.Dataset().Path, mean)
		}
	}
	return nil
}

// openAll makes the connections, files and workers of the run.
func (r *runner) openAll(ctx context.Context) error {
	b := r.cfg
	servers := &mockServers{as: b.As("endpoint.urls"), asked: b.Endpoint.URLs}
	err := r.open.start(ctx, servers)
	if err != nil {
		return err
	}
	if r.addresses, err = newAddresses(servers.urls, b, r.endpoint); err != nil {
		return err
	}
	connections := transportOptions(b, r.warn)
	warnings, err := machineBudget().check(r.plan, r.addresses.list, connections.Reuse, r.cfg.As)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		r.warn(w)
	}
	if r.client, err = transport.NewClient(connections); err != nil {
		return err
	}
	r.open.opened(func() error { r.client.Close(); return nil })
	if err := r.openFiles(); err != nil {
		return err
	}
	exec := r.newExecutor(connections.Reuse)
	if err := r.checkBodies(ctx, exec.data); err != nil {
		return err
	}
	if r.results, err = r.newResults(); err != nil {
		return err
	}
	r.load, err = load.New(r.plan, load.Options{
		Source: source{r.data}, Executor: exec, Root: r.root, Waiter: r.waiter(),
		Hooks: load.Hooks{Started: func(p *load.PhaseInfo, _ int64) { r.beside.phaseStart(p) }, After: r.beside.phaseEnd},
	})
	if err == nil {
		err = r.listInputs(exec)
	}
	if err != nil {
		return errors.Join(err, r.results.Close())
	}
	return nil
}
