package run

import (
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/clock"
	"aiperf/internal/load"
	"aiperf/internal/metric"
)

// splitPhases lists the phases that need a reducer of their own: those that share their kind with others. Where a kind has one phase, its
// own figures are those of the kind.
func (r *runner) splitPhases() []int {
	kinds := map[bool][]int{}
	for i, p := range r.plan.Phases {
		kinds[p.Warmup] = append(kinds[p.Warmup], i)
	}
	var split []int
	for _, list := range kinds {
		if len(list) > 1 {
			split = append(split, list...)
		}
	}
	return split
}

// writePhases leaves a summary of every phase, and the list of phases, when the run had more than one.
func (r *runner) writePhases(run *metric.Run, result *load.Result) error {
	if result == nil || len(r.plan.Phases) < 2 {
		return nil
	}
	var phases []artifact.Phase
	for _, f := range result.Phases {
		window := metric.Window{From: clock.Wall(f.Started), To: clock.Wall(f.Ended)}
		p := artifact.Phase{Run: *run, Name: f.Info.Name, Index: f.Info.Index, ProfilingIndex: f.Info.Profiling, Warmup: f.Info.Warmup}
		p.Start, p.End = time.Unix(0, window.From), time.Unix(0, window.To)
		p.Run.Warmup, p.Run.Slices, p.Run.Validity = nil, nil, nil
		p.Run.Telemetry, p.Run.TelemetryEndpoints = nil, nil // of the whole run, not of a phase
		p.Run.Cancelled = f.Interrupted
		if !f.Interrupted {
			p.IncompleteReason = ""
		}
		reducer := r.pipe.Phase(f.Info.Index)
		if reducer == nil && f.Info.Warmup {
			reducer = r.pipe.Warmup()
		} else if reducer == nil {
			reducer = r.pipe.Profiling()
		}
		p.Run.Profiling = reducer.Summary(window)
		phases = append(phases, p)
	}
	return artifact.WritePhases(r.layout, phases)
}
