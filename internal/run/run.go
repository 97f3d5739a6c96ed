// Package run executes one run from a resolved configuration to its result files. It connects dataset, load, endpoint, transport, pipeline and report,
// and owns their lifecycle.
package run

import (
	"context"
	"errors"
	"io"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/run/component"
	"aiperf/internal/run/exec"
	"aiperf/internal/run/view"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/load"
)

// Options holds the inputs of a run besides its configuration.
type Options struct {
	Version     string // of this program
	BenchmarkID string // "" = a new one
	Info        metric.RunInfo
	Err         io.Writer           // for warnings and progress
	Dashboard   *dashboard.Terminal // terminal of the dashboard; nil = no dashboard
	Interactive bool                // a person is watching: a probe is sent by default
	Reported    bool                // the report follows on the screen of Err
	Progress    int                 // columns of the terminal that shows progress; 0 = none
	Paint       *termdraw.Paint     // style of the progress; nil = without colours
	InputConfig []byte              // the configuration as the summary shows it
	Notes       []string            // messages to the user from before the run; the log repeats them
	Warnings    []string
	Secrets     *redact.Secrets // secrets known besides those of the configuration
	// Begin is called once, just before the run writes its first result: from then on it is certain to begin. nil = not needed.
	Begin func() error
	// Observe also receives every row; nil = not needed.
	Observe pipeline.Observer
	// Watch follows the requests of the profiling phases and may end the run; nil = not needed.
	Watch watch.Watcher
}

// Run executes a benchmark and writes its files. An error before the first request leaves only the directory behind; after it there is always a
// report. When the user interrupts the run, the context ends: the run drains and reports what it has.
func Run(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts Options) (*metric.Run, error) {
	if opts.BenchmarkID == "" {
		opts.BenchmarkID = rng.UUID()[24:]
	}
	opts.Secrets = opts.Secrets.With(append(cfg.Secrets(), trackerSecrets()...)...)
	if opts.Dashboard != nil {
		opts.Progress = 0
	}
	say := newReporter(ctx, &opts, cfg)
	if opts.Dashboard != nil {
		if err := say.view.Show(opts.Dashboard, cfg.Artifacts.Dir); err != nil {
			say.Warn("the dashboard cannot be displayed: " + err.Error())
		}
		defer say.view.Hide()
	}
	begun, err := start(ctx, cfg, seed, &opts, say)
	if err != nil {
		return nil, err
	}
	defer begun.close(ctx, say)
	result, used, loadErr := begun.runLoad(ctx, cfg, &opts, say)
	say.view.EndLoad()
	pipeErr := begun.outputs.Stop(ctx)
	window, phases := profilingWindow(result)
	how := outcome(cfg, &opts, result, window, say.File)
	how.GPU, how.NetworkRTT = begun.exporters.GPUFigures(window), begun.exporters.RoundTrip()
	run := begun.results.Run(how)
	plan := view.DescribePlan(cfg)
	run.Subject = plan.Words()
	say.view.ShowFinal(run.Profiling)
	run.Silences = say.view.Stalls.Silences()
	if begun.adaptive != nil {
		var err error
		if run.Sought, err = runfiles.Open(cfg.Artifacts.Dir).Sought(); err != nil {
			say.Warn("the search for the limit cannot be displayed: " + err.Error())
		}
	}
	client := watch.ClientStats(run, phases, used, begun.client, begun.results)
	client.ServerSilences = metric.SumSilences(run.Silences, window.From)
	seenErr := begun.exporters.AddObservations(&client, window)
	client.CacheUse = begun.cacheUse(cfg, &opts, window)
	run.Probe, run.Branches = begun.probed, branchStats(result)
	run.Keyless = keyless(&cfg.Endpoint)
	judge(run, result, client, cfg.As)
	run.Submit(cfg.Scenario, cfg.Unlocked || opts.Info.VariationIndex != nil)
	head := begun.exporters.FileHead(run)
	begun.exporters.AddPhaseFiles(head, how.Phases)
	writeErr := errors.Join(seenErr, begun.results.Write(run, how), begun.exporters.Write(run, head, how.Phases))
	begun.api.finish(run)
	begun.upload(ctx, cfg, &opts, run, say)
	watch.LogVerdict(say.Log, run)
	reportFailure(say, run, result, begun.results.TemplateFailures(), opts.Reported, loadErr != nil, cfg.As)
	if loadErr != nil {
		return run, loadErr
	}
	return run, errors.Join(pipeErr, writeErr, begun.encodes())
}

// runLoad sends the requests while all components that watch them run. used holds the resources that the client used.
func (o *runResources) runLoad(ctx context.Context, cfg *config.Benchmark, opts *Options, say *reporter) (result *load.Result, used watch.Usage, err error) {
	m := new(watch.Meter)
	for _, one := range o.watchers(cfg, m, opts, say) {
		if err := o.duringLoad.Start(ctx, one); err != nil {
			return nil, used, errors.Join(err, o.duringLoad.Stop(ctx))
		}
	}
	say.view.BeginLoad(o.load, o.exporters)
	say.view.Stalls.NotReading = m.Heartbeat.Blind
	sending, unwatched := o.api.watch(ctx)
	result, err = o.load.Run(sending)
	err = errors.Join(err, unwatched())
	o.profiler.Finish(ctx)
	o.exporters.Finish(ctx)
	err = errors.Join(err, o.duringLoad.Stop(ctx))
	return result, m.Usage(), err
}

// watchers returns the components that run during the load, in the order of their start.
func (o *runResources) watchers(cfg *config.Benchmark, m *watch.Meter, opts *Options, say *reporter) []component.Component {
	m.Check = o.client.CheckEmptiness
	list := []component.Component{
		o.exporters,
		m,
		say.view,
		o.executor.Admit(o.results.Put, func() exec.FlightObserver { return m.Heartbeat }, say.view.Stalls),
		view.NewProgress(cfg, opts.Progress, opts.Paint, say.view, say.Reporter),
		watch.PhaseLog{Log: say.Log},
		watch.NewLookTimer(opts.Watch, o.load),
	}
	if o.adaptive != nil {
		list = append(list, o.adaptive)
	}
	return list
}
