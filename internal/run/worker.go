package run

import (
	"errors"
	"fmt"

	"aiperf/internal/base/binenc"
	"aiperf/internal/config"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/load"
)

// Worker makes a run the part of a run that one of several machines sends. Its results go to the machine that merges them; its files hold only its
// own requests. It reads no telemetry, sends no probe, calls no hooks of the server, offers no API and uploads nothing: the controller does.
type Worker struct {
	Share       load.Share
	Coordinator load.Coordinator
	// WallOffset returns the controller's wall time (Unix ns) at an instant of package clock, minus that instant; nil = the clock of this machine.
	WallOffset func(at int64) int64
	// Sink receives the sealed results. After the last piece, which has the statistics of the phases (WorkerPhases), nothing more comes.
	Sink pieces.Sink
	// Control is called once before the first phase, with the generator, whose Fence, StopAt, MoveAt, EndAt and Snapshots the worker may use; nil = not
	// needed.
	Control func(*load.Generator)
}

// config returns the settings of the run without what only the controller does.
func (w *Worker) config(cfg *config.Benchmark) *config.Benchmark {
	own, no, port := *cfg, false, 0
	own.GPUTelemetry.Enabled, own.ServerMetrics.Enabled, own.NetworkLatency.Enabled = false, false, false
	own.OTel, own.MLflow, own.WandB = config.OTel{}, config.MLflow{}, config.WandB{}
	own.Endpoint.Probe, own.Endpoint.ResetKVCache, own.Endpoint.ServerProfiler = &no, nil, nil
	own.Runtime.APIPort, own.Runtime.MetricsListen, own.Runtime.Web = &port, "", ""
	own.Environment.UI.LiveFile = false
	return &own
}

// put stamps a finished request with the controller's wall clock and passes it on.
func (w *Worker) put(next func(*record.Record)) func(*record.Record) {
	if w == nil || w.WallOffset == nil {
		return next
	}
	return func(rec *record.Record) {
		rec.WallOffset = w.WallOffset(rec.Start)
		next(rec)
	}
}

// closeSealer sends the last piece, with the statistics of the phases.
func (o *runResources) closeSealer(result *load.Result) error {
	if o.sealer == nil {
		return nil
	}
	c := binenc.NewWriter(nil)
	var phases []*load.PhaseStats
	if result != nil {
		phases = result.Phases
	}
	visitPhases(c, &phases)
	if err := errors.Join(c.Err(), o.sealer.Close(c.Bytes())); err != nil {
		return fmt.Errorf("the controller did not get all results: %w", err)
	}
	return nil
}

func visitPhases(c *binenc.Coder, phases *[]*load.PhaseStats) {
	binenc.Slice(c, phases, func(c *binenc.Coder, f **load.PhaseStats) {
		if c.Reading() {
			*f = new(load.PhaseStats)
		}
		(*f).Visit(c)
	})
}

// WorkerPhases reads the statistics of the phases of a worker from its last piece (pieces.State.About). Their instants are on the clock of the
// worker.
func WorkerPhases(about []byte) ([]*load.PhaseStats, error) {
	var phases []*load.PhaseStats
	c := binenc.NewReader(about)
	visitPhases(c, &phases)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the statistics", len(c.Bytes()))
	}
	if c.Err() != nil {
		return nil, fmt.Errorf("the statistics of a worker cannot be read: %w", c.Err())
	}
	return phases, nil
}
