package run

import (
	"math"
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
func (r *runner) summarise(result *load.Result, used usage) *metric.Run {
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
	run.Validity = metric.Assess(r.clientStats(run, profiling, used))
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

// evidence gathers what the client measured about itself.
func (r *runner) clientStats(run *metric.Run, phases []*load.Facts, used usage) metric.ClientStats {
	s := run.Profiling
	backlog, spilled := r.pipe.Backlog()
	e := metric.ClientStats{
		CancelledByUser: run.Cancelled,
		CPUShare:        used.share(), Cores: used.Cores, GCPauseMax: used.MaxPause, GCPauseTotal: used.TotalPause,
		BacklogMax: int(backlog), BacklogSize: pipelineQueue, Spilled: spilled,
		Valid: s.Valid, Failed: s.Failed, SharedReads: s.SharedReads, OneMessage: s.OneMessage, Messages: messages(s),
		LatencyP50: quantile(s, "request_latency"), TTFTP50: quantile(s, "time_to_first_token"),
	}
	delays := r.client.ReadDelays()
	e.ReadDelays = delays.Count
	e.ReadDelayP50, e.ReadDelayP99 = time.Duration(delays.Quantile(0.5)), time.Duration(delays.Quantile(0.99))
	for _, g := range s.Errors {
		if g.Error.Local {
			e.FileLimitHits += g.Count
		}
	}
	schedule(&e, phases)
	return e
}

// pipelineQueue is how many finished records may wait in memory.
const pipelineQueue = 1024

func quantile(s *metric.Summary, tag string) time.Duration {
	v := s.Value(tag, metric.P50) // display unit: ms
	if math.IsNaN(v) {
		return 0
	}
	return time.Duration(v * float64(time.Millisecond))
}

// messages is the number of content messages: one more than the gaps of each streamed answer.
func messages(s *metric.Summary) int64 {
	n := s.Value("inter_chunk_latency", metric.Count)
	if math.IsNaN(n) {
		return s.Valid
	}
	return s.Valid + int64(n)
}

// schedule adds how well the profiling phases kept their schedules.
func schedule(e *metric.ClientStats, phases []*load.Facts) {
	var lag load.Histogram
	var sent int64
	var seconds, capped, asked, drawn float64
	for _, f := range phases {
		s := &f.Schedule
		e.Reanchors += int(s.Reanchors)
		e.ReanchorLost += time.Duration(s.LostSeconds * float64(time.Second))
		e.TicksSkipped += int(s.TicksSkipped)
		if f.Info.Mode == load.ClosedLoop {
			continue
		}
		e.OpenLoop = true
		lag.Merge(&s.Lag)
		sent += f.Sent
		seconds += s.SendSeconds
		capped += s.CapSeconds
		if f.Info.Mode == load.Rate {
			drawn += float64(s.Ticks) + s.LostArrivals
			asked += s.Expected
		}
	}
	if !e.OpenLoop {
		return
	}
	e.LagP50, e.LagP99, e.LagMax = time.Duration(lag.Quantile(0.5)), time.Duration(lag.Quantile(0.99)), time.Duration(lag.Max)
	if seconds > 0 {
		e.AchievedRate = float64(sent) / seconds
		e.CapShare = capped / seconds
		e.TargetRate, e.DrawnRate = asked/seconds, drawn/seconds
	}
}
