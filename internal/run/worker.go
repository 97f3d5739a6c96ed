package run

import (
	"errors"
	"fmt"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/watch"
	"aiperf/internal/workload/load"
)

// Worker makes a run the part of a run that one of several machines sends. Its results go to the controller, which writes the files. It reads no
// telemetry, sends no probe, calls no hooks of the server, offers no API and uploads nothing: the controller does.
type Worker struct {
	Name        string // of this machine in the records
	Share       load.Share
	Together    int // machines of the run that are processes of this computer; 0 = unknown
	Coordinator load.Coordinator
	// CacheCounters says that the controller reads counters of the servers' prompt caches.
	CacheCounters bool
	// WallOffset returns the controller's wall time (Unix ns) at an instant of package clock, minus that instant; nil = the clock of this machine.
	WallOffset func(at int64) int64
	// Sink receives the sealed results. After the last piece, which holds a WorkerReport, nothing more comes.
	Sink pieces.Sink
	// Opened is called once before the first result, with what a reader of the pieces must know and the files of the run's entries; nil = not needed.
	Opened func(x pieces.Expected, files []string)
	// Phase receives every phase that this machine has completed; nil = not needed. Its instants are on the clock of this machine.
	Phase func(*load.PhaseStats)
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
	own.Environment.UI.LiveFile, own.Runtime.UI = false, config.UINone
	own.Endpoint.WaitForModelTimeout = 0
	own.Artifacts.Summary, own.Artifacts.UserFiles, own.Artifacts.OldFiles = nil, nil, ""
	return &own
}

// wall returns the controller's wall time (Unix ns) at an instant of package clock.
func (w *Worker) wall(at int64) int64 {
	if w.WallOffset == nil {
		return clock.Wall(at)
	}
	return at + w.WallOffset(at)
}

// put stamps a finished request with the controller's wall clock and passes it on.
func (w *Worker) put(next func(*record.Record)) func(*record.Record) {
	if w == nil || w.WallOffset == nil {
		return next
	}
	return func(rec *record.Record) {
		own := rec.WallOffset
		rec.WallOffset = w.WallOffset(rec.Start)
		rec.ClockOffset = own - rec.WallOffset
		next(rec)
	}
}

// WorkerReport is what a worker says about itself in its last piece.
type WorkerReport struct {
	Phases      []*load.PhaseStats // instants on the clock of the worker
	Stats       watch.MachineStats
	Quiet       watch.QuietTimes // by the controller's wall clock
	Prompts     *metric.Prefixes // nil = the run sends no prompts
	Interrupted bool
	Fenced      bool                   // it lost sight of the controller and ended its part
	Unreachable *load.UnreachableError // no connection could be made; nil = there were connections
	Error       string                 // why its part of the load failed; "" = it did not
}

func (r *WorkerReport) visit(c *binenc.Coder) {
	binenc.Slice(c, &r.Phases, func(c *binenc.Coder, f **load.PhaseStats) {
		if c.Reading() {
			*f = new(load.PhaseStats)
		}
		(*f).Visit(c)
	})
	r.Stats.Visit(c)
	r.Quiet.Visit(c)
	binenc.Pointer(c, &r.Prompts, func(c *binenc.Coder, p *metric.Prefixes) { p.Visit(c) })
	c.Bool(&r.Interrupted)
	c.Bool(&r.Fenced)
	binenc.Pointer(c, &r.Unreachable, func(c *binenc.Coder, u *load.UnreachableError) { binenc.Value(c, u) })
	c.String(&r.Error)
}

// ReadWorkerReport reads the report of a worker from its last piece (pieces.Account.About).
func ReadWorkerReport(about []byte) (*WorkerReport, error) {
	r, c := new(WorkerReport), binenc.NewReader(about)
	r.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the report", len(c.Bytes()))
	}
	if c.Err() != nil {
		return nil, fmt.Errorf("the report of a worker cannot be read: %w", c.Err())
	}
	return r, nil
}

// reportToController sends the last piece, with the report of this worker.
func (o *runResources) reportToController(s sentLoad) error {
	r := &WorkerReport{
		Stats: watch.StatsOf(s.used, o.client, o.results, o.exporters.MachineUse(s.window)), Quiet: o.say.view.Stalls.QuietTimes(o.opts.Worker.wall), Prompts: o.prefixes,
	}
	if s.result != nil {
		r.Phases, r.Interrupted, r.Fenced, r.Unreachable = s.result.Phases, s.result.Interrupted, s.result.Fenced, s.result.Unreachable
	}
	if s.err != nil {
		r.Error = s.err.Error()
	}
	c := binenc.NewWriter(nil)
	r.visit(c)
	if err := errors.Join(c.Err(), o.sealer.Close(c.Bytes())); err != nil {
		return fmt.Errorf("the controller did not get all results: %w", err)
	}
	return nil
}
