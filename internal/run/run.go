// Package run executes one run from a resolved configuration to its result files. It connects dataset, load, endpoint, transport, pipeline and report,
// and owns their lifecycle.
package run

import (
	"context"
	"errors"
	"io"
	"os"

	"aiperf/internal/base/heapgrowth"
	"aiperf/internal/base/programpages"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/livepage"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/run/component"
	"aiperf/internal/run/exec"
	"aiperf/internal/run/exporters"
	"aiperf/internal/run/results"
	"aiperf/internal/run/tracker"
	"aiperf/internal/run/view"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// Options holds the inputs of a run besides its configuration.
type Options struct {
	Version     string // of this program
	BenchmarkID string // "" = a new one
	Info        metric.RunInfo
	Place       string              // of the run in its series, for people: "run 2 of 3"; "" = a single run
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
	// Worker makes the run a part of one on several machines; nil = it is the whole run.
	Worker *Worker
	// Web is the live page, which shows the run; nil = there is none.
	Web *livepage.Server
	// Machines send the load; nil = this process sends it.
	Machines Machines
	// Of is the number of machines among which Check splits the run; 0 = it is not split.
	Of int
	// Together says that these machines are processes of this computer.
	Together bool
	// Observe also receives every row; nil = not needed.
	Observe pipeline.Observer
	// Watch follows the requests of the profiling phases and may end the run; nil = not needed.
	Watch watch.Watcher
}

// Run executes a benchmark and writes its files. An error before the first request leaves only the directory behind; after it there is always a
// report. When the user interrupts the run, the context ends: the run drains and reports what it has.
func Run(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts Options) (*metric.Run, error) {
	defer heapgrowth.Watch()()
	if opts.Worker != nil {
		cfg = opts.Worker.config(cfg)
	}
	if opts.Machines != nil && seed == nil { // every machine draws the same numbers
		seed = config.RandomSeed()
	}
	opts.complete(cfg)
	say := newReporter(ctx, &opts, cfg)
	defer say.showDashboard(opts.Dashboard, cfg.Artifacts.Dir, opts.Web.Link(), seriesLabel(&opts.Info))()
	if opts.Web != nil {
		opts.Web.Begin(livepage.Source{Fill: say.view.Source(), Label: seriesLabel(&opts.Info)})
		defer opts.Web.End("") // of a run without results
	}
	o, err := start(ctx, cfg, seed, &opts, say)
	if err != nil {
		return nil, err
	}
	defer o.close(ctx)
	programpages.Release()
	sent := o.send(ctx)
	if o.opts.Worker != nil {
		return nil, errors.Join(sent.err, sent.outputErr, o.reportToController(sent), o.encodes())
	}
	run, outcome := o.summarize(sent)
	readErr := o.assess(run, sent)
	writeErr := o.write(run, outcome)
	exporters.WithPlugins(ctx, run, exporters.PluginOptions{
		Layout: o.layout, Config: o.opts.InputConfig, Log: func(line string) { o.say.Log.Info(line) }, Warn: o.say.Warn,
	})
	o.publish(ctx, run)
	o.report(run, sent)
	if o.opts.Web != nil {
		o.opts.Web.End(cfg.Artifacts.Dir)
	}
	return run, errors.Join(sent.err, sent.outputErr, readErr, writeErr, o.encodes())
}

// complete sets the options that the caller may omit.
func (opts *Options) complete(cfg *config.Benchmark) {
	if opts.BenchmarkID == "" {
		opts.BenchmarkID = rng.UUID()[24:]
	}
	opts.Secrets = opts.Secrets.With(append(cfg.Secrets(), tracker.Secrets()...)...)
	if opts.Dashboard != nil {
		opts.Progress = 0
	}
}

// sentLoad is what is known once everything was sent and every answer was processed.
type sentLoad struct {
	result    *load.Result // nil if the load did not start
	used      watch.Usage  // resources that the client used
	window    metric.Window
	phases    []*load.PhaseStats // of the profiling phases
	err       error              // the load failed
	outputErr error              // some results could not be written
}

// send sends the requests while all components that watch them run, and waits until every answer is processed.
func (o *runResources) send(ctx context.Context) sentLoad {
	var s sentLoad
	s.result, s.used, s.err = o.runLoad(ctx)
	o.say.view.EndLoad()
	s.outputErr = o.outputs.Stop(ctx)
	if d, ok := o.plan.data.(dataset.Releaser); ok { // the summary needs the memory
		d.Release()
	}
	s.window, s.phases = profilingWindow(s.result)
	return s
}

// summarize computes the metrics of the run and shows them in the last frame of the live view.
func (o *runResources) summarize(s sentLoad) (*metric.Run, results.Outcome) {
	how := outcome(o.cfg, o.opts, s.result, s.window, o.say.File)
	how.GPU, how.NetworkRTT = o.exporters.GPUFigures(s.window), o.exporters.RoundTrip()
	run := o.results.Run(how)
	plan := view.DescribePlan(o.cfg)
	run.Subject = plan.Words()
	o.say.view.ShowFinal(run.Profiling)
	run.Silences = o.silences(s.window)
	if o.adaptive != nil {
		var err error
		if run.Adaptive, err = runfiles.Open(o.cfg.Artifacts.Dir).Adaptive(); err != nil {
			o.say.Warn("the search for the limit cannot be displayed: " + err.Error())
		}
	}
	return run, how
}

// assess adds the verdict to the run: whether the client, the machine and the servers kept the figures exact. It fails if the file
// with the readings of every second cannot be written.
func (o *runResources) assess(run *metric.Run, s sentLoad) error {
	stats := o.stats(s)
	client := watch.ClientStats(run, s.phases, &stats, o.results)
	if o.machines != nil {
		client.SetMachines(o.machines.Machines())
	}
	client.ServerSilences = metric.SumSilences(run.Silences, s.window.From)
	client.ServerPods = serverPods(os.Getenv, s.window, o.say.Warn)
	err := o.exporters.AddObservations(&client, s.window)
	client.CacheUse = o.cacheUse(s.window)
	run.Probe, run.Branches = o.probed, branchStats(s.result)
	run.Keyless = keyless(&o.cfg.Endpoint)
	judge(run, s.result, client, o.cfg.As)
	run.Submit(o.cfg.Scenario, o.cfg.Unlocked || o.opts.Info.VariationIndex != nil)
	return err
}

// write writes the files of the results and of the exporters.
func (o *runResources) write(run *metric.Run, how results.Outcome) error {
	head := o.exporters.FileHead(run)
	o.exporters.AddPhaseFiles(head, how.Phases)
	err := errors.Join(o.results.Write(run, how), o.exporters.Write(run, head, how.Phases))
	if o.machines != nil {
		err = errors.Join(err, artifact.WriteMachines(o.layout, run.Validity.Machines))
	}
	return err
}

// publish passes the results to the API and to the trackers.
func (o *runResources) publish(ctx context.Context, run *metric.Run) {
	o.api.finish(run)
	tracker.Upload(ctx, tracker.Options{
		Config: o.cfg, Version: o.opts.Version, BenchmarkID: o.opts.BenchmarkID, InputConfig: o.opts.InputConfig, Secrets: o.opts.Secrets, Layout: o.layout,
		Say: o.say.Reporter,
	}, run)
}

// report writes the verdict to the log and tells the user why the run has no result, if it has none.
func (o *runResources) report(run *metric.Run, s sentLoad) {
	watch.LogVerdict(o.say.Log, run)
	reportFailure(o.say, run, s.result, o.results.TemplateFailures(), o.opts.Reported, s.err != nil, o.cfg.As)
}

// runLoad sends the requests while all components that watch them run. used holds the resources that the client used.
func (o *runResources) runLoad(ctx context.Context) (result *load.Result, used watch.Usage, err error) {
	m := new(watch.Meter)
	for _, one := range o.watchers(m) {
		if err := o.duringLoad.Start(ctx, one); err != nil {
			return nil, used, errors.Join(err, o.duringLoad.Stop(ctx))
		}
	}
	o.say.view.BeginLoad(o.load, o.exporters, o.health(m))
	o.say.view.Stalls.NotReading = m.Heartbeat.MaxReadDelay
	sending, unwatched := o.api.watch(ctx)
	result, err = o.load.Run(sending)
	err = errors.Join(err, unwatched())
	o.profiler.Finish(ctx)
	o.exporters.Finish(ctx)
	err = errors.Join(err, o.duringLoad.Stop(ctx))
	return result, m.Usage(), err
}

// watchers returns the components that run during the load, in the order of their start.
func (o *runResources) watchers(m *watch.Meter) []component.Component {
	m.Check = o.client.CheckEmptiness
	list := []component.Component{
		o.exporters,
		m,
		o.say.view,
		o.executor.Admit(o.opts.Worker.put(o.results.Put), func() exec.FlightObserver { return m.Heartbeat }, o.say.view.Stalls),
		view.NewProgress(o.cfg, o.opts.Progress, o.opts.Paint, o.say.view, o.say.Reporter),
		watch.PhaseLog{Log: o.say.Log, Warn: o.say.Warn},
		watch.NewLookTimer(o.opts.Watch, o.load),
	}
	if o.adaptive != nil {
		list = append(list, o.adaptive)
	}
	return list
}
