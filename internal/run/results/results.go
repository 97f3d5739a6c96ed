package results

import (
	"encoding/json"
	"errors"
	"time"

	"aiperf/internal/base/heapgrowth"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
)

// reduceGrowth is the growth of the heap, in percent, while a run is reduced. Reducing makes sorted copies of whole columns, and a collection can no longer
// disturb the measurement.
const reduceGrowth = 25

// Outcome holds the facts about a run besides its requests.
type Outcome struct {
	Version          string // of the program that made the run
	Info             metric.RunInfo
	InputConfig      json.RawMessage
	GPU              *metric.GPUTelemetry // nil = GPUs were not collected
	NetworkRTT       float64              // of the network, ns; 0 = neither measured nor given
	Window           metric.Window        // of the profiling phases, wall clock; zero = the span of the requests
	Phases           []Phase              // in the order in which they ran
	Cancelled        bool
	IncompleteReason string // "" = complete
	LogFile          string
}

// Run reduces the finished requests. Close must be called first. The caller adds the verdict.
func (a *Assembly) Run(o Outcome) *metric.Run {
	defer heapgrowth.Limit(reduceGrowth)()
	reducer := a.pipe.Profiling()
	run := &metric.Run{
		Version: o.Version, BenchmarkID: a.BenchmarkID, Title: a.Endpoint.Title, Info: o.Info, InputConfig: o.InputConfig, GPU: o.GPU,
		Cancelled: o.Cancelled, IncompleteReason: o.IncompleteReason,
		Profiling: reducer.Summary(o.Window), Course: reducer.Course(o.Window), Slowest: a.slowest.List,
		ShowTrace: a.Config.Artifacts.ShowTraceTiming, LogFile: o.LogFile,
	}
	if upstream, own, err := config.SplitInputConfig(o.InputConfig); err == nil { // otherwise the configuration belongs to another tool
		run.InputConfig, run.OwnConfig = upstream, own
	}
	run.Info.BenchmarkID = a.BenchmarkID
	if a.Config.Artifacts.OldFiles != "" {
		run.Brand = "GenAI-Perf"
	}
	if a.Grades != nil {
		run.Accuracy = a.Grades.Results()
	}
	run.Profiling.AddEfficiency(o.GPU, a.concurrency())
	if o.NetworkRTT > 0 {
		reducer.AddNetwork(run.Profiling, o.NetworkRTT)
	}
	if o.Window.To > o.Window.From {
		run.Start, run.End = time.Unix(0, o.Window.From), time.Unix(0, o.Window.To)
	}
	for _, p := range o.Phases {
		if p.Warmup {
			run.Warmup = a.pipe.Warmup().Summary(metric.Window{})
			break
		}
	}
	if d := a.Config.Artifacts.SliceDuration; d != nil {
		run.Slices = reducer.Slices(float64(*d))
	}
	return run
}

// concurrency returns the number of users of the measured phase; 0 = not fixed.
func (a *Assembly) concurrency() int {
	if p := a.Config.Profiling(); p != nil && p.Concurrency != nil {
		return *p.Concurrency
	}
	return 0
}

// Write writes the files that are made after a run; all errors are returned together.
func (a *Assembly) Write(run *metric.Run, o Outcome) error {
	return errors.Join(artifact.WriteReport(a.Layout, run, a.rawPath), a.writePhases(run, o))
}

// writePhases writes a summary of every phase and the list of phases, if the run had more than one, or was to have more than its warm-up.
func (a *Assembly) writePhases(run *metric.Run, o Outcome) error {
	if len(a.Phases) == 0 || len(a.Phases) == 1 && !a.Phases[0].Warmup {
		return nil
	}
	var phases []artifact.Phase
	for _, f := range o.Phases {
		p := artifact.Phase{Run: *run, Name: f.Name, Index: f.Index, ProfilingIndex: f.Profiling, Warmup: f.Warmup, Watched: f.Watched}
		p.Start, p.End = time.Unix(0, f.Window.From), time.Unix(0, f.Window.To)
		p.Run.Warmup, p.Run.Slices, p.Run.Validity, p.Run.Accuracy = nil, nil, nil, nil
		p.Run.GPU, p.Run.Course = nil, nil // they belong to the whole run, not to a phase
		p.Run.Slowest, p.Run.Silences = nil, nil
		p.Run.Cancelled = f.Cancelled
		if !f.Cancelled {
			p.IncompleteReason = ""
		}
		reducer := a.pipe.Phase(f.Index)
		if reducer == nil && f.Warmup {
			reducer = a.pipe.Warmup()
		} else if reducer == nil {
			reducer = a.pipe.Profiling()
		}
		p.Run.Profiling = reducer.Summary(f.Window)
		phases = append(phases, p)
	}
	return artifact.WritePhases(a.Layout, phases)
}
