package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/heapgrowth"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/component"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/exec"
	"aiperf/internal/run/exporters"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/preflight"
	"aiperf/internal/run/results"
	"aiperf/internal/run/simulation"
	"aiperf/internal/run/watch"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/telemetry/timeline"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// runResources holds the connections, files and workers of a run.
type runResources struct {
	cfg  *config.Benchmark
	opts *Options
	plan *runPlan
	say  *reporter

	urls      []string // URLs of the servers, after simulated ones have started
	addresses *connection.Addresses
	client    *transport.Client
	carrier   connection.Client
	layout    artifact.Layout
	prepared  *inputs.PreparedStore
	executor  *exec.Executor
	preflight *preflight.Sender
	probed    *metric.Probe       // result of the request before the load; nil = none was sent
	api       *apiState           // state for the API; nil = there is no API
	profiler  *preflight.Profiler // profiler of the servers; nil = not used
	results   *results.Assembly
	prefixes  *metric.Prefixes // prompts of the run
	seconds   *timeline.Timeline
	exporters *exporters.Collection
	streams   *streams
	adaptive  *watch.AdaptiveLoad // component of adaptive phases; nil = there are none
	load      load.Sender
	machines  MachineLoad    // that send the load; nil = this process does
	sealer    *pieces.Sealer // of a worker; nil = this is the whole run
	encodes   func() error   // returns an error if a tokenizer could not encode a text so far

	untilEnd   component.List // until the run ends: servers, connections, files
	outputs    component.List // until they have the last request: results, inputs.json
	duringLoad component.List // while the load runs: the meter, the live view, the log of phases
}

// open runs the stages that create the resources. On an error it leaves nothing open.
func open(ctx context.Context, cfg *config.Benchmark, opts *Options, r *runPlan, say *reporter) (*runResources, error) {
	if err := r.stateRequests(opts); err != nil {
		return nil, err
	}
	o := &runResources{cfg: cfg, opts: opts, plan: r, say: say, encodes: r.encodes, outputs: component.List{Unhurried: true}}
	err := runStages(say, o.stages(ctx))
	if err != nil {
		o.saveLog()
		o.close(ctx)
		return nil, err
	}
	return o, nil
}

// stages lists the stages of open in their order.
func (o *runResources) stages(ctx context.Context) []stage {
	return []stage{
		{"api", func() error { return o.startAPI(ctx) }},
		{"page", func() error { return o.startPage(ctx) }}, // before the artifact directory: a busy port leaves nothing behind
		{"servers", func() error { return o.startServers(ctx) }},
		{"connections", func() error { return o.connect(connection.UserAgent(o.opts.Version), o.say.Warn) }},
		{"artifacts", func() error { return o.claimDir(ctx) }},
		{"data", func() error { return o.holdData(o.say.Warn) }},
		{"endpoint", func() error {
			stop, err := endpoint.Start(context.WithoutCancel(ctx), o.plan.codec, func(line string) { o.say.Log.Info(line) })
			if err == nil {
				o.untilEnd.OnStop(func() error { _ = stop(); return nil }) // a fault was the error of every request that met it
			}
			return err
		}},
		{"executor", func() error {
			o.makeExecutor()
			if err := o.preflight.AwaitModels(ctx); err != nil {
				return err
			}
			if err := o.preflight.LearnModels(ctx); err != nil {
				return err
			}
			var err error
			if o.executor.CacheBuster, err = inputs.NewCacheBuster(o.cfg.Dataset(), inputs.ReservesMarker(o.cfg.Dataset(), o.plan.data.Info()), o.opts.BenchmarkID, lazyTokenizer(ctx, o.plan.tokenizers)); err != nil {
				return err
			}
			return inputs.CheckBodies(ctx, o.prepared, o.plan.endpoint, o.plan.codec, false, o.say.Warn)
		}},
		{"probe", func() (err error) { o.probed, err = o.preflight.Probe(ctx); return err }},
		{"hooks", func() (err error) {
			var release func()
			o.profiler, release, err = o.preflight.StartHooks(ctx)
			if release != nil {
				o.untilEnd.OnStop(func() error { release(); return nil })
			}
			return err
		}},
		{"machines", func() error {
			if o.opts.Machines == nil {
				return nil
			}
			return o.opts.Machines.Ready(ctx)
		}},
		{"streams", func() error { return o.startStreams(ctx) }},
		{"files", func() error { return o.replaceFiles() }}, // no stage before this one touches the files of an earlier run
		{"results", func() error { return o.startResults(ctx) }},
		{"telemetry", func() error {
			o.exporters = exporters.New(exporters.Options{Config: o.cfg, Version: o.opts.Version, Secrets: o.opts.Secrets, URLs: o.urls, Layout: o.layout, Say: o.say.Reporter, Seconds: o.seconds})
			return nil
		}},
		{"load", func() (err error) {
			if err = o.openIntervals(ctx); err != nil {
				return err
			}
			if o.load, err = o.newLoad(o.say.view.Busy()); err != nil {
				return err
			}
			o.streams.load.Store(&o.load)
			if o.adaptive != nil {
				o.adaptive.Load = o.load
			}
			o.api.begin(o)
			return nil
		}},
		{"inputs", func() error { return o.listInputs(ctx) }},
	}
}

// bytesGrowth is the growth of the heap, in percent, while media are generated or long rows are read. They fill the heap with bytes without
// pointers: a collection costs little, and a heap of twice the needed size would be large.
const bytesGrowth = 30

// holdData adapts the run to its data: it sets the memory target for media, and ends work in the background at the end of the run: the reader of
// streamed data, and the generation of media.
func (o *runResources) holdData(warn func(string)) error {
	if info := o.plan.data.Info(); info.MadeMedia || info.LongRows {
		restore := heapgrowth.Limit(bytesGrowth)
		o.untilEnd.OnStop(func() error { restore(); return nil })
	}
	if c, ok := o.plan.data.(io.Closer); ok {
		o.untilEnd.OnStop(func() error {
			err := c.Close()
			if _, grows := o.plan.data.(dataset.OpenEnded); grows {
				o.plan.warnOfData(warn)
			}
			return err
		})
	}
	return nil
}

// close releases everything in the opposite order.
func (o *runResources) close(ctx context.Context) {
	if err := errors.Join(o.outputs.Stop(ctx), o.untilEnd.Stop(ctx)); err != nil {
		o.say.Print("aiperf: warning: " + err.Error())
	}
}

// abandon closes a run that was interrupted before it sent anything, and removes the results that it had begun.
func (o *runResources) abandon(ctx context.Context) {
	if file := o.executor.Inputs; file != nil {
		file.Discard()
	}
	err := o.outputs.Stop(ctx)
	_, clearErr := o.layout.Clear(func(path string) bool { return Reads(o.cfg, path) })
	if err = errors.Join(err, clearErr); err != nil {
		o.say.Print("aiperf: warning: " + err.Error())
	}
	o.close(ctx)
}

// startServers starts the simulated servers.
func (o *runResources) startServers(ctx context.Context) error {
	servers := &simulation.Servers{Setting: o.cfg.As("endpoint.urls"), Given: o.cfg.Endpoint.URLs}
	err := o.untilEnd.Start(ctx, servers)
	o.urls = servers.URLs
	for i, asked := range o.cfg.Endpoint.URLs {
		if err == nil && connection.UsesGRPC(o.cfg) && strings.HasPrefix(asked, mockserver.Scheme) { // the simulated server accepts HTTP and gRPC on one port
			o.urls[i] = "grpc" + strings.TrimPrefix(o.urls[i], "http")
		}
	}
	return err
}

// connect creates the client, after checking that this machine supports its connections.
func (o *runResources) connect(agent string, warn func(string)) (err error) {
	if o.addresses, err = connection.NewAddresses(o.urls, o.cfg, o.plan.endpoint); err != nil {
		return err
	}
	connections := connection.Options(o.cfg, warn)
	if o.opts.Machines == nil {
		limits := connection.MachineLimits()
		if w := o.opts.Worker; w != nil {
			limits = limits.SharedBy(w.Together)
		}
		warnings, err := limits.Check(o.share(), o.addresses.Targets, connections, o.cfg.As)
		if err != nil {
			return err
		}
		for _, w := range warnings {
			warn(w)
		}
	}
	over, client, release, err := connection.NewClient(o.cfg, o.plan.endpoint, o.plan.codec, connections, agent)
	if err != nil {
		return err
	}
	o.carrier, o.client = over, client
	o.untilEnd.OnStop(func() error { release(); return nil })
	return nil
}

// share returns the scenario of the run, or this worker's part of it.
func (o *runResources) share() load.Scenario {
	scenario := o.plan.scenario
	if w := o.opts.Worker; w != nil {
		scenario.Share = w.Share
	}
	return scenario
}

// hooks returns what happens around the phases of the load.
func (o *runResources) hooks() load.Hooks {
	return load.Hooks{Before: o.before, Started: func(p *load.PhaseInfo, _ int64) { o.duringLoad.PhaseStart(p) }, After: o.after}
}

// newLoad creates the load, which sends the requests when they are due.
func (o *runResources) newLoad(busy int) (load.Sender, error) {
	if o.opts.Machines != nil {
		var err error
		o.machines, err = o.machineLoad(o.plan.seed)
		return o.machines, err
	}
	options := load.Options{
		Source: inputs.NewSource(o.plan.data), Executor: o.executor, Root: o.plan.root, Waiter: waiter(o.cfg), Busy: busy, Hooks: o.hooks(),
	}
	w := o.opts.Worker
	if w != nil {
		options.Coordinator = w.Coordinator
	}
	g, err := load.New(o.share(), options)
	if err == nil && w != nil && w.Control != nil {
		w.Control(g)
	}
	return g, err
}

// openIntervals starts the plug-ins that draw the intervals of phases. The log has their seeds, with which the same intervals can be drawn again.
func (o *runResources) openIntervals(ctx context.Context) error {
	phases := o.cfg.PhasesSent()
	for i := range o.plan.scenario.Phases {
		p := &o.plan.scenario.Phases[i]
		if p.Pattern != load.External {
			continue
		}
		e, _, err := phases[i].Type.Plugin()
		if err != nil {
			return err
		}
		seed := load.SeedOf(o.plan.root, p.Name)
		p.Intervals, err = load.OpenIntervals(ctx, &e, p.Rate, seed, func(line string) { o.say.Log.Info(line) })
		if err != nil {
			return fmt.Errorf("%s: %w", o.cfg.As("phases."+p.Name+".type"), err)
		}
		o.say.Log.Info("arrival pattern", "phase", p.Name, "plug-in", e.ID(), "rate", p.Rate, "seed", seed)
		o.untilEnd.OnStop(p.Intervals.Close)
	}
	return nil
}

// before runs what must be done before a phase; an error ends the run.
func (o *runResources) before(ctx context.Context, p *load.PhaseInfo) error {
	if err := o.profiler.Before(ctx, p); err != nil {
		return err
	}
	o.exporters.Before(ctx, p)
	return nil
}

// after runs what follows a phase.
func (o *runResources) after(f *load.PhaseStats) {
	o.api.after(f)
	o.streams.after(f)
	o.duringLoad.PhaseEnd(f) // runs first, since the steps below may take long
	if w := o.opts.Worker; w != nil && w.Phase != nil {
		w.Phase(f)
	}
	o.profiler.After(context.Background(), f)
}

// listInputs starts inputs.json for the datasets that have one. It does not overwrite a file of that name that is an input of the run.
func (o *runResources) listInputs(ctx context.Context) error {
	f := o.plan.data.Info()
	if f.Trace || f.Verbatim || o.opts.Worker != nil { // of several machines, the controller writes it
		return nil
	}
	if Reads(o.cfg, o.layout.Inputs()) {
		o.say.Note("%s is not overwritten, because the run reads it", o.layout.Inputs())
		return nil
	}
	file := inputs.NewFileWriter(o.layout.Inputs(), o.opts.Secrets, o.prepared, o.plan.codec, o.say.Warn)
	drawn, hints := o.say.Screen != nil || o.say.view.Displayed(), 0
	file.Progress = o.say.view.SetListing
	file.Tell = func(done, of int) {
		if hints++; hints == 1 || !drawn { // a live view shows the progress of the file
			o.say.Note("writing %s: %s of %s; Ctrl-C skips the rest (the results are complete)", o.layout.Inputs(), terminal.Count(done), terminal.Plural(of, "conversation"))
		}
	}
	o.executor.Inputs = file
	return o.outputs.Start(ctx, file)
}

// waiter returns the waiter for the instants of the schedule; nil = the most exact one of the platform.
func waiter(cfg *config.Benchmark) clock.Waiter {
	if cfg.Environment.Timing.HighResTimer {
		return nil
	}
	return clock.NewTimerWaiter()
}

// workerName returns the name of this machine in the records of a run on several; "" = it is the only one.
func (o *runResources) workerName() string {
	if w := o.opts.Worker; w != nil {
		return w.Name
	}
	return ""
}

// makeExecutor makes the executor, and what sends requests before the load.
func (o *runResources) makeExecutor() {
	agent, streaming := connection.UserAgent(o.opts.Version), o.plan.metrics.Options().Streaming
	o.prepared = inputs.NewPreparedStore(o.plan.data)
	o.executor = exec.New(exec.Options{
		Config: o.cfg, Agent: agent, Endpoint: o.plan.endpoint, Codec: o.plan.codec, Data: o.prepared, Client: o.carrier, Addresses: o.addresses,
		Streaming: streaming, Phases: o.plan.scenario.Phases, Watcher: o.opts.Watch, Worker: o.workerName(), Warn: o.say.Warn,
	})
	o.preflight = preflight.New(preflight.Options{
		Config: o.cfg, Endpoint: o.plan.endpoint, Codec: o.plan.codec, Streaming: streaming, Tokenizers: o.plan.tokenizers, Executor: o.executor, Addresses: o.addresses,
		Client: o.carrier, Agent: agent, Secrets: o.opts.Secrets, Interactive: o.opts.Interactive, Say: o.say.Reporter,
	})
}
