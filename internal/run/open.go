package run

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/telemetry/timeline"
	"aiperf/internal/terminal"
	"aiperf/internal/transport"
	"aiperf/internal/transport/rpc"
)

// opened are the connections, files and workers of a run.
type opened struct {
	urls      []string // of the servers, simulated ones started
	addresses *addresses
	client    *transport.Client
	carrier   carrier
	layout    artifact.Layout
	gate      *gate
	executor  *executor
	probed    *metric.Probe // what one request before the load told of the server; nil = nobody asked
	api       *apiState     // what the API tells; nil = nobody asks
	profiler  *profiler     // of the servers; nil = nobody asks for it
	results   *assembly.Assembly
	prefixes  *metric.Prefixes // of the prompts
	seconds   *timeline.Timeline
	watched   *watched
	streams   *streams
	steering  *steering // of adaptive phases; nil = there is none
	load      *load.Generator
	encodes   func() error // whether the tokenizers could encode every text so far

	held    components // until the run ends: servers, connections, files
	written components // until the last request is in them: results, inputs.json
	beside  components // while the load goes on: the meter, the live view, the log of phases
}

// open goes through the stages that make them. It leaves nothing open on an error.
func open(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, say *reporter) (*opened, error) {
	if err := r.stateRequests(opts); err != nil {
		return nil, err
	}
	o := &opened{encodes: r.encodes, gate: new(gate), written: components{unhurried: true}}
	err := pass(say, o.stages(ctx, cfg, opts, r, say))
	if err != nil {
		o.keepLog(say)
		o.close(ctx, say)
		return nil, err
	}
	return o, nil
}

// stages are those of open, in their order.
func (o *opened) stages(ctx context.Context, cfg *config.Benchmark, opts *Options, r *resolved, say *reporter) []stage {
	return []stage{
		{"api", func() error { return o.startAPI(ctx, cfg, opts, say) }},
		{"servers", func() error { return o.startServers(ctx, cfg) }},
		{"connections", func() error { return o.connect(cfg, r, userAgent(opts.Version), say.warn) }},
		{"artifacts", func() error { return o.takeDir(ctx, cfg, opts, say) }},
		{"data", func() error { return o.holdData(ctx, r, say.warn) }},
		{"executor", func() error {
			o.executor = newExecutor(cfg, opts.Version, r, o.carrier, o.addresses, o.gate.put, say.warn)
			o.executor.follow(opts.Watch)
			if err := o.awaitModels(ctx, cfg, opts, r, say); err != nil {
				return err
			}
			if err := learn(ctx, o.executor, cfg.Models.Asked(), say.warn); err != nil {
				return err
			}
			var err error
			if o.executor.bust, err = newBuster(cfg.Dataset(), leavesRoom(cfg.Dataset(), r.data.Info()), opts.BenchmarkID, lazyTokenizer(ctx, r.tokenizers)); err != nil {
				return err
			}
			return checkBodies(ctx, r, o.executor.data, false, say.warn)
		}},
		{"probe", func() error { return o.probe(ctx, cfg, opts, r, say) }},
		{"hooks", func() error { return o.startHooks(ctx, cfg, opts, r, say) }},
		{"streams", func() error { return o.startStreams(ctx, cfg, opts, r, say) }},
		{"files", func() error { return o.makeFiles(cfg, opts, say) }}, // the last stage that leaves an earlier run alone comes before it
		{"results", func() error { return o.startResults(ctx, cfg, opts, r, say) }},
		{"telemetry", func() error {
			o.watched = &watched{cfg: cfg, opts: opts, urls: o.urls, layout: o.layout, say: say, seconds: o.seconds}
			return nil
		}},
		{"load", func() (err error) {
			o.load, err = o.newLoad(cfg, r, say.view.busy())
			o.streams.load.Store(o.load)
			if o.steering != nil {
				o.steering.load = o.load
			}
			if err == nil {
				o.api.begin(o)
			}
			return err
		}},
		{"inputs", func() error { return o.listInputs(ctx, r, opts, say) }},
	}
}

// bytesGC is the growth of the heap in percent at which garbage is collected while media are made or long rows are read: they fill the heap with
// bytes that hold no pointers, so that a collection costs little, and a heap of twice what is needed would be large.
const bytesGC = 30

// holdData prepares for what the data are like until the run ends: memory for media, and letting go of data that are read while they are used.
func (o *opened) holdData(ctx context.Context, r *resolved, warn func(string)) error {
	if info := r.data.Info(); info.MadeMedia || info.LongRows {
		before := debug.SetGCPercent(bytesGC)
		o.held.opened(func() error { debug.SetGCPercent(before); return nil })
	}
	if g, ok := r.data.(dataset.Growing); ok {
		return o.held.start(ctx, closing{close: func() error {
			err := g.Close()
			r.warnOfData(warn)
			return err
		}})
	}
	return nil
}

// close releases everything in the opposite order.
func (o *opened) close(ctx context.Context, say *reporter) {
	if err := errors.Join(o.written.stop(ctx), o.held.stop(ctx)); err != nil {
		say.tell("aiperf: warning: " + err.Error())
	}
}

// abandon closes a run that was interrupted before it sent anything, and removes the results that it had begun.
func (o *opened) abandon(ctx context.Context, cfg *config.Benchmark, say *reporter) {
	if inputs := o.executor.inputs; inputs != nil {
		inputs.unwanted = true
	}
	err := o.written.stop(ctx)
	_, clearErr := o.layout.Clear(func(path string) bool { return Reads(cfg, path) })
	if err = errors.Join(err, clearErr); err != nil {
		say.tell("aiperf: warning: " + err.Error())
	}
	o.close(ctx, say)
}

// startServers starts the simulated servers.
func (o *opened) startServers(ctx context.Context, cfg *config.Benchmark) error {
	servers := &mockServers{as: cfg.As("endpoint.urls"), asked: cfg.Endpoint.URLs}
	err := o.held.start(ctx, servers)
	o.urls = servers.urls
	for i, asked := range cfg.Endpoint.URLs {
		if err == nil && overGRPC(cfg) && strings.HasPrefix(asked, mockScheme) { // the server speaks both on its port
			o.urls[i] = "grpc" + strings.TrimPrefix(o.urls[i], "http")
		}
	}
	return err
}

// connect makes the client, if this machine can carry its connections.
func (o *opened) connect(cfg *config.Benchmark, r *resolved, agent string, warn func(string)) (err error) {
	if o.addresses, err = newAddresses(o.urls, cfg, r.endpoint); err != nil {
		return err
	}
	connections := Connections(cfg, warn)
	warnings, err := machineBudget().check(r.scenario, o.addresses.list, connections.Reuse, cfg.As)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		warn(w)
	}
	over, client, release, err := carry(cfg, r, connections, agent)
	if err != nil {
		return err
	}
	o.carrier, o.client = over, client
	o.held.opened(func() error { release(); return nil })
	return nil
}

// carry makes what carries requests, and the client below it.
func carry(cfg *config.Benchmark, r *resolved, connections transport.Options, agent string) (over carrier, client *transport.Client, release func(), err error) {
	if overGRPC(cfg) {
		words, ok := r.codec.(endpoint.RPC)
		if !ok {
			return nil, nil, nil, fmt.Errorf("%s %s does not speak gRPC", cfg.As("endpoint.type"), r.endpoint.Name)
		}
		over, err := rpc.NewClient(connections, words, agent)
		if err != nil {
			return nil, nil, nil, err
		}
		return grpc{over}, over.Wire(), over.Close, nil
	}
	if client, err = transport.NewClient(connections); err != nil {
		return nil, nil, nil, inWords(cfg, err)
	}
	return overHTTP{client}, client, client.Close, nil
}

// inWords names a setting of connections as the user does.
func inWords(cfg *config.Benchmark, err error) error {
	var bad *transport.SettingError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", cfg.As("endpoint."+bad.Key), bad.Err)
	}
	return err
}

// newLoad makes what sends the requests when they are due.
func (o *opened) newLoad(cfg *config.Benchmark, r *resolved, busy int) (*load.Generator, error) {
	return load.New(r.scenario, load.Options{
		Source: newSource(r.data), Executor: o.executor, Root: r.root, Waiter: waiter(cfg), Busy: busy,
		Hooks: load.Hooks{Before: o.before, Started: func(p *load.PhaseInfo, _ int64) { o.beside.phaseStart(p) }, After: o.after},
	})
}

// before is what a phase waits for; an error ends the run.
func (o *opened) before(ctx context.Context, p *load.PhaseInfo) error {
	if err := o.profiler.before(ctx, p); err != nil {
		return err
	}
	o.watched.before(ctx, p)
	return nil
}

// after is what follows a phase.
func (o *opened) after(f *load.PhaseStats) {
	o.api.after(f)
	o.beside.phaseEnd(f) // before what may take its time
	o.profiler.after(context.Background(), f)
}

// listInputs begins inputs.json, for the datasets that have one.
func (o *opened) listInputs(ctx context.Context, r *resolved, opts *Options, say *reporter) error {
	f := r.data.Info()
	if f.Trace || f.Verbatim {
		return nil
	}
	inputs := newListing(o.layout.Inputs(), opts.Secrets, o.executor.data, r.codec, say.warn)
	drawn, hints := say.screen != nil || say.view.shown != nil, 0
	inputs.progress = say.view.listing.set
	inputs.tell = func(done, of int) {
		if hints++; hints == 1 || !drawn { // what is drawn shows how far the file is
			say.note("writing %s: %s of %s; Ctrl-C leaves out the rest, the results are complete", inputs.path, terminal.Count(done), terminal.Plural(of, "conversation"))
		}
	}
	o.executor.inputs = inputs
	return o.written.start(ctx, inputs)
}

// waiter sleeps to the instants of the schedule; nil = as exactly as the platform can.
func waiter(cfg *config.Benchmark) clock.Waiter {
	if cfg.Environment.Timing.HighResTimer {
		return nil
	}
	return clock.NewTimerWaiter()
}
