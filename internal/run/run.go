// Package run is one run: it wires dataset, load, endpoint, transport, pipeline and report together, from a resolved configuration to
// the files that a run leaves, and owns its lifecycle.
package run

import (
	"context"
	"errors"
	"io"

	"aiperf/internal/config"
	"aiperf/internal/draw"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
	"aiperf/internal/redact"
	"aiperf/internal/rng"
	"aiperf/internal/runfiles"
	"aiperf/internal/ui/dashboard"
)

// Options are what a run gets beside its configuration.
type Options struct {
	Version     string // of this program
	BenchmarkID string // "" = a new one
	Info        metric.RunInfo
	Err         io.Writer           // warnings and progress
	Dashboard   *dashboard.Terminal // where a dashboard is shown; nil = nowhere
	Interactive bool                // somebody watches: a probe is sent unless the settings say otherwise
	Reported    bool                // its report follows on the screen of Err
	Progress    int                 // columns of the terminal that shows progress, 0 = none does
	Paint       *draw.Paint         // how progress is drawn there; nil = without colours
	InputConfig []byte              // the configuration as the summary shows it
	Notes       []string            // what the user was told before the run; the log repeats it
	Warnings    []string
	Secrets     *redact.Secrets // that are known besides those of the configuration
	// Begin is called once, when the run is about to write its first result: from then on it is certain to begin. nil = nobody waits for that.
	Begin func() error
	// Observe sees every row as well; nil = nobody does.
	Observe pipeline.Observer
	// Watch follows the requests of the profiling phases and may end the run; nil = nobody does.
	Watch Watcher
}

// Run carries a benchmark out and writes its files. Before the first request an error leaves nothing behind but the directory; afterwards
// there is always a report. The context's end is the user's interruption: the run drains and reports what it has.
func Run(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts Options) (*metric.Run, error) {
	if opts.BenchmarkID == "" {
		opts.BenchmarkID = rng.UUID()[24:]
	}
	opts.Secrets = opts.Secrets.With(append(cfg.Secrets(), trackerSecrets()...)...)
	if opts.Dashboard != nil {
		opts.Progress = 0
	}
	say := newReporter(ctx, cfg.Logging.Level, &opts, cfg)
	if opts.Dashboard != nil {
		if err := say.view.show(opts.Dashboard, cfg.Artifacts.Dir); err != nil {
			say.warn("the dashboard cannot be shown: " + err.Error())
		}
		defer say.view.hide()
	}
	begun, err := start(ctx, cfg, seed, &opts, say)
	if err != nil {
		return nil, err
	}
	defer begun.close(ctx, say)
	result, used, loadErr := begun.runLoad(ctx, cfg, &opts, say)
	say.view.ended()
	pipeErr := begun.written.stop(ctx)
	window, phases := profilingWindow(result)
	how := outcome(cfg, &opts, result, window, say.file)
	how.GPU, how.NetworkRTT = begun.watched.gpuFigures(window), begun.watched.roundTrip()
	run := begun.results.Run(how)
	plan := planWords(cfg)
	run.Subject = plan.Words()
	say.view.conclude(run.Profiling)
	run.Silences = say.view.pulse.silences()
	if begun.steering != nil {
		var err error
		if run.Sought, err = runfiles.Open(cfg.Artifacts.Dir).Sought(); err != nil {
			say.warn("the search for the limit cannot be shown: " + err.Error())
		}
	}
	client := clientStats(run, phases, used, begun.client, begun.results)
	client.Silences = metric.SumSilences(run.Silences, window.From)
	seenErr := begun.watched.witness(&client, window)
	client.CacheUse = begun.cacheUse(cfg, &opts, window)
	run.Probe, run.Branches = begun.probed, branchStats(result)
	run.Keyless = keyless(&cfg.Endpoint)
	judge(run, result, client, cfg.As)
	run.Submit(cfg.Scenario, cfg.Unlocked || opts.Info.VariationIndex != nil)
	head := begun.watched.head(run)
	begun.watched.phaseFiles(head, how.Phases)
	writeErr := errors.Join(seenErr, begun.results.Write(run, how), begun.watched.write(run, head, how.Phases))
	begun.api.over(run)
	begun.upload(ctx, cfg, &opts, run, say)
	logVerdict(say.log, run)
	reportFailure(say, run, result, begun.results.TemplateFailures(), opts.Reported, loadErr != nil, cfg.As)
	if loadErr != nil {
		return run, loadErr
	}
	return run, errors.Join(pipeErr, writeErr, begun.encodes())
}

// runLoad sends the requests, with everything running that watches them. used is what the client needed for it.
func (o *opened) runLoad(ctx context.Context, cfg *config.Benchmark, opts *Options, say *reporter) (result *load.Result, used usage, err error) {
	m := new(meter)
	for _, one := range o.watchers(cfg, m, opts, say) {
		if err := o.beside.start(ctx, one); err != nil {
			return nil, used, errors.Join(err, o.beside.stop(ctx))
		}
	}
	say.view.begin(o.load, o.watched)
	say.view.pulse.blind = m.heart.Blind
	o.executor.pulse = say.view.pulse
	sending, unwatched := o.api.watch(ctx)
	result, err = o.load.Run(sending)
	err = errors.Join(err, unwatched())
	o.profiler.over(ctx)
	o.watched.finish(ctx)
	err = errors.Join(err, o.beside.stop(ctx))
	return result, m.usage(), err
}

// watchers are the components beside the load, in the order in which they start.
func (o *opened) watchers(cfg *config.Benchmark, m *meter, opts *Options, say *reporter) []component {
	m.check = o.client.CheckEmptiness
	list := []component{
		o.watched,
		m,
		say.view,
		admission{gate: o.gate, put: o.results.Put, meter: m, executor: o.executor},
		newProgress(cfg, opts, say),
		phaseLog{log: say.log},
		newLooks(opts.Watch, o.load),
	}
	if o.steering != nil {
		list = append(list, o.steering)
	}
	return list
}
