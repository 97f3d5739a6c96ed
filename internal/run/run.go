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
	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
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
	tokenizers func() (*tokenizers, error)
	data       dataset.Dataset
	plan       load.Plan
	client     *transport.Client
	codec      endpoint.Codec
	addresses  *addresses
	inputs     *listing // nil = the dataset has no inputs.json
	layout     artifact.Layout
	rawPath    string
	chat       *chatCounter // nil = inputs are counted without a chat template
	pipe       *pipeline.Pipeline
	gate       gate
	meter      *meter
	load       *load.Generator

	closers []func()

	mu     sync.Mutex
	phases []*load.Facts
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
	defer r.close()
	doubts := newCertainty(r.pipe.Put)
	r.meter = startMeter(doubts.known)
	doubts.watch(r.meter.heart)
	r.gate.open(doubts.put)
	hide := r.showProgress()
	result, loadErr := r.load.Run(ctx)
	hide()
	r.gate.shut()
	r.meter.stop()
	doubts.close()
	pipeErr := errors.Join(r.pipe.Close(), r.closeInputs(ctx))
	run := r.summarise(result)
	writeErr := r.write(run, result)
	r.logVerdict(run)
	r.reportFailure(run, result)
	if loadErr != nil {
		return run, loadErr
	}
	return run, errors.Join(pipeErr, writeErr)
}

// close releases everything in the opposite order.
func (r *runner) close() {
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
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
		return fmt.Errorf("--endpoint-type %s is not built yet", r.endpoint.Name)
	}
	if r.metrics, err = metric.NewSet(r.metricOptions()); err != nil {
		return err
	}
	if r.codec, err = r.endpoint.Open(r.settings()); err != nil {
		return err
	}
	r.root = root(seed)
	r.tokenizers = sync.OnceValues(func() (*tokenizers, error) {
		return openTokenizers(ctx, b, r.log, r.note, r.download)
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
	if r.counts() {
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

// counts tells whether the client counts tokens itself.
func (r *runner) counts() bool {
	return !r.cfg.Endpoint.UseServerTokenCount && (r.endpoint.ProducesTokens || r.endpoint.TokenizesInput)
}

// checkSchedule refuses a schedule without times.
func checkSchedule(b *config.Benchmark, f dataset.Facts) error {
	p := b.Profiling()
	if p == nil || p.Type != config.PhaseFixedSchedule || f.UntimedOrigin == "" {
		return nil
	}
	return fmt.Errorf("%s: the first turn has no timestamp, which --fixed-schedule needs", f.UntimedOrigin)
}

// checkTurns refuses users without a second turn to come back for. Generated conversations are checked where their mean is known.
func checkTurns(b *config.Benchmark, d dataset.Dataset) error {
	if b.Dataset().Type == config.DatasetSynthetic {
		return nil
	}
	mean := float64(d.Facts().Turns) / float64(d.Len())
	for i := range b.Phases {
		if b.Phases[i].Type == config.PhaseUserCentric && mean < 2 {
			return fmt.Errorf("--user-centric-rate needs conversations of at least 2 turns; those of %s have %.3g on average", b.Dataset().Path, mean)
		}
	}
	return nil
}

func (r *runner) metricOptions() metric.Options {
	b, e := r.cfg, r.endpoint
	p := b.Profiling()
	o := metric.Options{
		Streaming: b.Endpoint.Streaming && e.Streams, ProducesTokens: e.ProducesTokens, TokenizesInput: e.TokenizesInput,
		ImageInput: e.Images, AudioInput: e.Audio, FixedSchedule: p != nil && p.Type == config.PhaseFixedSchedule,
		ServerTokens: b.Endpoint.UseServerTokenCount, PerChunkUsage: b.Endpoint.PerChunkUsage,
		Thresholds: &metric.Thresholds{
			UsagePct:  b.Environment.Metrics.UsagePctDiffThreshold,
			OSLPct:    b.Environment.Metrics.OSLMismatchPct,
			OSLTokens: float64(b.Environment.Metrics.OSLMismatchMaxTokens),
		},
	}
	for i, s := range b.SLOs {
		if i > 0 {
			o.Goodput += " "
		}
		o.Goodput += s.Tag + ":" + config.FormatFloat(s.Threshold)
	}
	return o
}

// open makes the connections, files and workers of the run.
func (r *runner) open(ctx context.Context) error {
	b := r.cfg
	urls, stop, err := mocks(ctx, b.Endpoint.URLs)
	if err != nil {
		return err
	}
	r.closers = append(r.closers, stop)
	if r.addresses, err = newAddresses(urls, b, r.endpoint); err != nil {
		return err
	}
	connections := transportOptions(b, r.warn)
	warnings, err := machineBudget().check(r.plan, r.addresses.list, connections.Reuse)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		r.warn(w)
	}
	if r.client, err = transport.NewClient(connections); err != nil {
		return err
	}
	r.closers = append(r.closers, r.client.Close)
	if err := r.openFiles(); err != nil {
		return err
	}
	exec := r.newExecutor(connections.Reuse)
	if err := r.checkBodies(ctx, exec.data); err != nil {
		return err
	}
	if r.pipe, err = r.newPipeline(); err != nil {
		return err
	}
	r.load, err = load.New(r.plan, load.Options{
		Source: source{r.data}, Executor: exec, Root: r.root, Waiter: r.waiter(),
		Hooks: load.Hooks{Started: r.phaseBegun, After: r.phaseOver},
	})
	if err == nil {
		err = r.listInputs(exec)
	}
	if err != nil {
		return errors.Join(err, r.pipe.Close())
	}
	return nil
}

// phaseBegun notes in the log that a phase's clock runs. With the first profiling phase the measurement of the client itself begins: what
// a warm-up did is in no verdict.
func (r *runner) phaseBegun(p *load.PhaseInfo, _ int64) {
	r.log.Info("phase begins", "phase", p.Name, "mode", string(p.Mode))
	if !p.Warmup {
		r.meter.phaseStarted()
	}
}

// phaseOver keeps what a phase says about itself.
func (r *runner) phaseOver(f *load.Facts) {
	if !f.Info.Warmup {
		r.meter.phaseEnded()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases = append(r.phases, f)
	r.log.Info("phase complete", "phase", f.Info.Name, "sent", f.Sent, "completed", f.Completed, "errors", f.Errors, "cancelled", f.Cancelled,
		"seconds", float64(f.Ended-f.Started)/1e9, "stopped_by", string(f.StoppedBy))
}
