package run

import (
	"runtime/debug"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/load"
	"aiperf/internal/metric"
)

// reduceGC is the collector's target while a run is reduced: it makes sorted copies of whole columns, and nothing is measured any more that
// a collection could disturb.
const reduceGC = 25

// summarise reduces the finished run.
func (r *runner) summarise(result *load.Result) *metric.Run {
	defer debug.SetGCPercent(debug.SetGCPercent(reduceGC))
	window, profiling := profilingWindow(result)
	reducer := r.pipe.Profiling()
	info := r.opts.Info
	info.BenchmarkID = r.opts.BenchmarkID
	run := &metric.Run{
		Version: r.opts.Version, BenchmarkID: r.opts.BenchmarkID, Title: r.endpoint.Title, Info: info,
		InputConfig: r.opts.InputConfig,
		Profiling:   reducer.Summary(window),
		ShowTrace:   r.cfg.Artifacts.ShowTraceTiming,
	}
	if r.cfg.GPUTelemetry.Enabled {
		run.TelemetryEndpoints = []string{}
	}
	if window.To > window.From {
		run.Start, run.End = time.Unix(0, window.From), time.Unix(0, window.To)
	}
	if result != nil {
		run.Cancelled = result.Interrupted
		switch {
		case result.Interrupted:
			run.IncompleteReason = "Run cancelled before all records were processed."
		case result.TooManyFail:
			run.IncompleteReason = "Run aborted: " + load.ErrFailures.Error() + "."
		case result.Unreachable != nil:
			run.IncompleteReason = "Run aborted: " + unreachable(result.Unreachable, run.Profiling) + "."
		}
	}
	if hasWarmup(result) {
		run.Warmup = r.pipe.Warmup().Summary(metric.Window{})
	}
	if d := r.cfg.Artifacts.SliceDuration; d != nil {
		run.Slices = reducer.Slices(float64(*d))
	}
	run.Validity = metric.Assess(r.clientStats(run, profiling))
	run.Validity.Certain = run.Profiling.Certain
	return run
}

func hasWarmup(result *load.Result) bool {
	if result == nil {
		return false
	}
	for _, f := range result.Phases {
		if f.Info.Warmup {
			return true
		}
	}
	return false
}

// profilingWindow is the wall time from the start of the first profiling phase to the end of the last, and their facts.
func profilingWindow(result *load.Result) (metric.Window, []*load.Facts) {
	var w metric.Window
	var list []*load.Facts
	if result == nil {
		return w, nil
	}
	for _, f := range result.Phases {
		if f.Info.Warmup || f.Started == 0 {
			continue
		}
		list = append(list, f)
		if w.From == 0 || clock.Wall(f.Started) < w.From {
			w.From = clock.Wall(f.Started)
		}
		if f.Ended != 0 {
			w.To = max(w.To, clock.Wall(f.Ended))
		}
	}
	return w, list
}
