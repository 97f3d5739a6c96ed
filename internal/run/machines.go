package run

import (
	"context"
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/load"
)

// Machines are machines that send the load of a run instead of this process, each its share.
type Machines interface {
	// Ready waits until every machine has joined.
	Ready(ctx context.Context) error
	// Load returns the load of a run. Nothing happens before its Run.
	Load(r *MachineRun) (MachineLoad, error)
}

// MachineRun is a run that several machines send.
type MachineRun struct {
	Config      *config.Benchmark // with the addresses of simulated servers
	Given       []string          // addresses of the servers as the user gave them
	Seed        *config.Seed
	Version     string
	BenchmarkID string
	Scenario    load.Scenario
	Hooks       load.Hooks // of phases, on the clock of this process; Before is called when every machine may start the phase
	Results     pieces.Expected
	Accept      func(pieces.Result) // takes a result; it waits for room
	Prompts     *metric.Prefixes    // receives the prompts of the machines
	// CacheCounters reports whether the servers have counters of their prompt caches. It is known once the load starts.
	CacheCounters func() bool
	Layout        artifact.Layout   // of the artifact directory
	Note, Warn    func(text string) // tell the user
	Log           func(text string, about ...any)
}

// MachineLoad is a load that machines send.
type MachineLoad interface {
	load.Sender
	// Stats returns what the machines measured of themselves; valid after Run.
	Stats() watch.MachineStats
	// Complete reports whether every machine has delivered all of its results; valid after Run.
	Complete() bool
	// Quiet returns the quiet times of each machine; valid after Run.
	Quiet() []watch.QuietTimes
	// Machines describes each machine and its part of the run; valid after Run.
	Machines() []metric.Machine
}

// machineLoad makes the load of a run that other machines send.
func (o *runResources) machineLoad(seed *config.Seed) (MachineLoad, error) {
	cfg := *o.cfg
	cfg.Endpoint.URLs = o.urls
	return o.opts.Machines.Load(&MachineRun{
		Config: &cfg, Given: o.cfg.Endpoint.URLs, Seed: seed, Version: o.opts.Version, BenchmarkID: o.opts.BenchmarkID, Scenario: o.plan.scenario,
		Hooks:   o.hooks(),
		Results: o.expected(),
		Accept:  func(r pieces.Result) { o.results.Accept(r.Row, r.Lines, r.Ends) },
		Prompts: o.prefixes, CacheCounters: o.exporters.CountsCache,
		Layout: o.layout, Note: func(text string) { o.say.Note("%s", text) }, Warn: o.say.Warn, Log: o.say.Log.Info,
	})
}

// expected returns what is known about the results of machines.
func (o *runResources) expected() pieces.Expected {
	return pieces.Expected{Metrics: o.plan.metrics, Phases: len(o.plan.scenario.Phases), Files: len(o.results.Files())}
}

// stats returns what the machine that sends the requests measured of itself.
func (o *runResources) stats(s sentLoad) watch.MachineStats {
	if o.machines != nil {
		return o.machines.Stats()
	}
	return watch.StatsOf(s.used, o.client, o.results, o.exporters.MachineUse(s.window))
}

// silences returns the stalls of the servers, by the wall clock. Where the report of a machine is missing, its data may have arrived during those of
// the others: then nothing is said.
func (o *runResources) silences(window metric.Window) []metric.ServerSilence {
	switch {
	case o.machines == nil:
		return o.say.view.Stalls.Silences()
	case !o.machines.Complete():
		return nil
	}
	return watch.SharedStalls(o.machines.Quiet(), window)
}

// MachineLostError is the error of a run that ended because a machine was lost.
type MachineLostError struct{ Machine, Why string }

func (e *MachineLostError) Error() string {
	return fmt.Sprintf("machine %s was lost (%s), and the run ends with the first loss", e.Machine, e.Why)
}

// health returns the reader of the client's state while the load runs; nil if other machines send it.
func (o *runResources) health(m *watch.Meter) *watch.Health {
	if o.opts.Machines != nil {
		return nil
	}
	return &watch.Health{Meter: m, Client: o.client}
}
