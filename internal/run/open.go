package run

import (
	"context"

	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/clock"
	"aiperf/internal/load"
	"aiperf/internal/transport"
)

// opened is what the stages of opening make.
type opened struct {
	urls      []string // of the servers, simulated ones started
	addresses *addresses
	client    *transport.Client
	reuse     transport.Reuse
	layout    artifact.Layout
	executor  *executor
	results   *assembly.Assembly
	load      *load.Generator
}

func (r *runner) openServers(ctx context.Context) error {
	servers := &mockServers{as: r.cfg.As("endpoint.urls"), asked: r.cfg.Endpoint.URLs}
	err := r.open.start(ctx, servers)
	r.urls = servers.urls
	return err
}

func (r *runner) openConnections(context.Context) (err error) {
	if r.addresses, err = newAddresses(r.urls, r.cfg, r.endpoint); err != nil {
		return err
	}
	connections := transportOptions(r.cfg, r.warn)
	r.reuse = connections.Reuse
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
	return nil
}

// openExecutor makes what sends requests, and tries the bodies that it will send.
func (r *runner) openExecutor(ctx context.Context) error {
	r.executor = r.newExecutor(r.reuse)
	return r.checkBodies(ctx, r.executor.data)
}

func (r *runner) openResults(ctx context.Context) (err error) {
	if r.results, err = r.newResults(ctx); err != nil {
		return err
	}
	r.written.opened(r.results.Close)
	return nil
}

func (r *runner) openLoad(context.Context) (err error) {
	r.load, err = load.New(r.plan, load.Options{
		Source: newSource(r.data), Executor: r.executor, Root: r.root, Waiter: r.waiter(),
		Hooks: load.Hooks{Started: func(p *load.PhaseInfo, _ int64) { r.beside.phaseStart(p) }, After: r.beside.phaseEnd},
	})
	return err
}

// openInputs begins inputs.json, for the datasets that have one.
func (r *runner) openInputs(ctx context.Context) error {
	f := r.data.Facts()
	if f.Trace || f.Verbatim {
		return nil
	}
	inputs := newListing(r.layout.Inputs(), r.opts.Secrets, r.executor.data, r.codec, r.warn)
	r.executor.inputs = inputs
	return r.written.start(ctx, inputs)
}

// waiter sleeps to the instants of the schedule; nil = as exactly as the platform can.
func (r *runner) waiter() clock.Waiter {
	if r.cfg.Environment.Timing.HighResTimer {
		return nil
	}
	return clock.NewTimerWaiter()
}
