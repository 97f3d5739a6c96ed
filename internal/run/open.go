package run

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/component"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/exec"
	"aiperf/internal/run/exporters"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/preflight"
	"aiperf/internal/run/results"
	"aiperf/internal/run/watch"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/telemetry/timeline"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// runResources holds the connections, files and workers of a run.
type runResources struct {
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
	load      *load.Generator
	encodes   func() error // returns an error if a tokenizer could not encode a text so far

	untilEnd   component.List // until the run ends: servers, connections, files
	outputs    component.List // until they have the last request: results, inputs.json
	duringLoad component.List // while the load runs: the meter, the live view, the log of phases
}

// open runs the stages that create the resources. On an error it leaves nothing open.
func open(ctx context.Context, cfg *config.Benchmark, opts *Options, r *runPlan, say *reporter) (*runResources, error) {
	if err := r.stateRequests(opts); err != nil {
		return nil, err
	}
	o := &runResources{encodes: r.encodes, outputs: component.List{Unhurried: true}}
	err := runStages(say, o.stages(ctx, cfg, opts, r, say))
	if err != nil {
		o.saveLog(say)
		o.close(ctx, say)
		return nil, err
	}
	return o, nil
}

// stages lists the stages of open in their order.
func (o *runResources) stages(ctx context.Context, cfg *config.Benchmark, opts *Options, r *runPlan, say *reporter) []stage {
	return []stage{
		{"api", func() error { return o.startAPI(ctx, cfg, opts, say) }},
		{"servers", func() error { return o.startServers(ctx, cfg) }},
		{"connections", func() error { return o.connect(cfg, r, connection.UserAgent(opts.Version), say.Warn) }},
		{"artifacts", func() error { return o.claimDir(ctx, cfg, opts, say) }},
		{"data", func() error { return o.holdData(r, say.Warn) }},
		{"executor", func() error {
			o.makeExecutor(cfg, opts, r, say)
			if err := o.preflight.AwaitModels(ctx); err != nil {
				return err
			}
			if err := o.preflight.LearnModels(ctx); err != nil {
				return err
			}
			var err error
			if o.executor.CacheBuster, err = inputs.NewCacheBuster(cfg.Dataset(), inputs.ReservesMarker(cfg.Dataset(), r.data.Info()), opts.BenchmarkID, lazyTokenizer(ctx, r.tokenizers)); err != nil {
				return err
			}
			return inputs.CheckBodies(ctx, o.prepared, r.endpoint, r.codec, false, say.Warn)
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
		{"streams", func() error { return o.startStreams(ctx, cfg, opts, r, say) }},
		{"files", func() error { return o.replaceFiles(cfg, opts, say) }}, // no stage before this one touches the files of an earlier run
		{"results", func() error { return o.startResults(ctx, cfg, opts, r, say) }},
		{"telemetry", func() error {
			o.exporters = exporters.New(exporters.Options{Config: cfg, Version: opts.Version, Secrets: opts.Secrets, URLs: o.urls, Layout: o.layout, Say: say.Reporter, Seconds: o.seconds})
			return nil
		}},
		{"load", func() (err error) {
			o.load, err = o.newLoad(cfg, r, say.view.Busy())
			o.streams.load.Store(o.load)
			if o.adaptive != nil {
				o.adaptive.Load = o.load
			}
			if err == nil {
				o.api.begin(o)
			}
			return err
		}},
		{"inputs", func() error { return o.listInputs(ctx, cfg, r, opts, say) }},
	}
}

// bytesGC is the garbage collector's growth target in percent while media are generated or long rows are read. They fill the heap with bytes without
// pointers: a collection costs little, and a heap of twice the needed size would be large.
const bytesGC = 30

// holdData adapts the run to its data: it sets the memory target for media, and stops the reader of streamed data at the end of the run.
func (o *runResources) holdData(r *runPlan, warn func(string)) error {
	if info := r.data.Info(); info.MadeMedia || info.LongRows {
		before := debug.SetGCPercent(bytesGC)
		o.untilEnd.OnStop(func() error { debug.SetGCPercent(before); return nil })
	}
	if g, ok := r.data.(dataset.OpenEnded); ok {
		o.untilEnd.OnStop(func() error {
			err := g.Close()
			r.warnOfData(warn)
			return err
		})
	}
	return nil
}

// close releases everything in the opposite order.
func (o *runResources) close(ctx context.Context, say *reporter) {
	if err := errors.Join(o.outputs.Stop(ctx), o.untilEnd.Stop(ctx)); err != nil {
		say.Print("aiperf: warning: " + err.Error())
	}
}

// abandon closes a run that was interrupted before it sent anything, and removes the results that it had begun.
func (o *runResources) abandon(ctx context.Context, cfg *config.Benchmark, say *reporter) {
	if file := o.executor.Inputs; file != nil {
		file.Discard()
	}
	err := o.outputs.Stop(ctx)
	_, clearErr := o.layout.Clear(func(path string) bool { return Reads(cfg, path) })
	if err = errors.Join(err, clearErr); err != nil {
		say.Print("aiperf: warning: " + err.Error())
	}
	o.close(ctx, say)
}

// startServers starts the simulated servers.
func (o *runResources) startServers(ctx context.Context, cfg *config.Benchmark) error {
	servers := &mockServers{as: cfg.As("endpoint.urls"), asked: cfg.Endpoint.URLs}
	err := o.untilEnd.Start(ctx, servers)
	o.urls = servers.urls
	for i, asked := range cfg.Endpoint.URLs {
		if err == nil && connection.UsesGRPC(cfg) && strings.HasPrefix(asked, mockserver.Scheme) { // the simulated server accepts HTTP and gRPC on one port
			o.urls[i] = "grpc" + strings.TrimPrefix(o.urls[i], "http")
		}
	}
	return err
}

// connect creates the client, after checking that this machine supports its connections.
func (o *runResources) connect(cfg *config.Benchmark, r *runPlan, agent string, warn func(string)) (err error) {
	if o.addresses, err = connection.NewAddresses(o.urls, cfg, r.endpoint); err != nil {
		return err
	}
	connections := connection.Options(cfg, warn)
	warnings, err := connection.MachineLimits().Check(r.scenario, o.addresses.Targets, connections.Reuse, cfg.As)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		warn(w)
	}
	over, client, release, err := connection.NewClient(cfg, r.endpoint, r.codec, connections, agent)
	if err != nil {
		return err
	}
	o.carrier, o.client = over, client
	o.untilEnd.OnStop(func() error { release(); return nil })
	return nil
}

// newLoad creates the load generator, which sends the requests when they are due.
func (o *runResources) newLoad(cfg *config.Benchmark, r *runPlan, busy int) (*load.Generator, error) {
	return load.New(r.scenario, load.Options{
		Source: inputs.NewSource(r.data), Executor: o.executor, Root: r.root, Waiter: waiter(cfg), Busy: busy,
		Hooks: load.Hooks{Before: o.before, Started: func(p *load.PhaseInfo, _ int64) { o.duringLoad.PhaseStart(p) }, After: o.after},
	})
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
	o.duringLoad.PhaseEnd(f) // runs first, since the steps below may take long
	o.profiler.After(context.Background(), f)
}

// listInputs starts inputs.json for the datasets that have one. It does not overwrite a file of that name that is an input of the run.
func (o *runResources) listInputs(ctx context.Context, cfg *config.Benchmark, r *runPlan, opts *Options, say *reporter) error {
	f := r.data.Info()
	if f.Trace || f.Verbatim {
		return nil
	}
	if Reads(cfg, o.layout.Inputs()) {
		say.Note("%s is not overwritten, because the run reads it", o.layout.Inputs())
		return nil
	}
	file := inputs.NewFileWriter(o.layout.Inputs(), opts.Secrets, o.prepared, r.codec, say.Warn)
	drawn, hints := say.Screen != nil || say.view.Displayed(), 0
	file.Progress = say.view.SetListing
	file.Tell = func(done, of int) {
		if hints++; hints == 1 || !drawn { // a live view shows the progress of the file
			say.Note("writing %s: %s of %s; Ctrl-C skips the rest (the results are complete)", o.layout.Inputs(), terminal.Count(done), terminal.Plural(of, "conversation"))
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

// makeExecutor makes the executor, and what sends requests before the load.
func (o *runResources) makeExecutor(cfg *config.Benchmark, opts *Options, r *runPlan, say *reporter) {
	agent, streaming := connection.UserAgent(opts.Version), r.metrics.Options().Streaming
	o.prepared = inputs.NewPreparedStore(r.data)
	o.executor = exec.New(exec.Options{
		Config: cfg, Agent: agent, Endpoint: r.endpoint, Codec: r.codec, Data: o.prepared, Client: o.carrier, Addresses: o.addresses,
		Streaming: streaming, Phases: r.scenario.Phases, Watcher: opts.Watch, Warn: say.Warn,
	})
	o.preflight = preflight.New(preflight.Options{
		Config: cfg, Endpoint: r.endpoint, Codec: r.codec, Streaming: streaming, Tokenizers: r.tokenizers, Executor: o.executor, Addresses: o.addresses,
		Client: o.carrier, Agent: agent, Secrets: opts.Secrets, Interactive: opts.Interactive, Say: say.Reporter,
	})
}
