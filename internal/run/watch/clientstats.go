package watch

import (
	"math"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/run/results"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// pipelineQueue is the largest number of finished records that wait in memory.
const pipelineQueue = 1024

// ClientStats collects the client's measurements of itself during the profiling phases.
func ClientStats(run *metric.Run, phases []*load.PhaseStats, used Usage, client *transport.Client, results *results.Assembly) metric.ClientStats {
	s := run.Profiling
	backlog, spilled := results.Backlog()
	e := metric.ClientStats{
		CPUShare: used.share(), Cores: used.Cores, Machine: fingerprint(), CPUTime: used.CPU, GCPauseMax: used.MaxPause, GCPauseTotal: used.TotalPause,
		ThreadWait: used.Stalls.ThreadWait, Stalls: used.Stalls.Count, StallLongest: used.Stalls.Longest, StallTotal: used.Stalls.Total, WakeDelay: used.Stalls.WakeDelay, WakesLate: 100 * used.Stalls.WakesLate,
		BacklogMax: int(backlog), BacklogSize: pipelineQueue, Spilled: spilled,
		Valid: s.Valid, Failed: s.Failed, SharedReads: s.SharedReads, OneMessage: s.OneMessage, Uncounted: s.Uncounted, Messages: messages(s),
	}
	delays := client.ReadDelays()
	e.ReadDelays = delays.Count
	e.ReadDelayP50, e.ReadDelayP99 = time.Duration(delays.Quantile(0.5)), time.Duration(delays.Quantile(0.99))
	e.LongestRest = client.Stats().LongestRest
	captured := client.CaptureStats()
	e.PacketsLost, e.CaptureMissing = int64(captured.Lost), captured.Missing
	for _, g := range s.Errors {
		if g.Error.Local {
			e.FileLimitHits += g.Count
		}
	}
	e.ScheduleStats = scheduleStats(s, phases)
	e.SlotUse = slotUse(phases)
	e.CancelledByUser = run.Cancelled
	e.Certainty = s.Certainty
	e.LumpStats = results.Profiling().Lumps()
	e.PathUse = results.Profiling().Paths()
	if e.OpenLoop {
		e.Trend = results.Profiling().Trend()
	}
	return e
}

// messages returns the number of content messages: each streamed answer has one more than it has gaps.
func messages(s *metric.Summary) int64 {
	n := s.Value("inter_chunk_latency", metric.Count)
	if math.IsNaN(n) {
		return s.Valid
	}
	return s.Valid + int64(n)
}

// scheduleStats reports how well the profiling phases kept their schedules. The lags are those of the metric, so that a report shows only one p99 of
// the schedule lag.
func scheduleStats(s *metric.Summary, phases []*load.PhaseStats) metric.ScheduleStats {
	var e metric.ScheduleStats
	var own load.Histogram
	var caps load.Caps
	var issued int64
	for _, f := range phases {
		p := &f.Schedule
		if f.Info.Mode == load.ClosedLoop {
			continue
		}
		e.OpenLoop = true
		own.Merge(&p.Own)
		issued += p.Lag.Count
		e.Reanchors += int(p.Reanchors)
		e.ReanchorLost += time.Duration(p.LostSeconds * float64(time.Second))
		e.TicksSkipped += int(p.TicksSkipped)
		e.LateAnswers += p.LateAnswers
		steady := &p.Steady
		e.RateSeconds += steady.Seconds
		caps.Add(steady.Caps)
		e.Asked += steady.Expected
		e.Drawn += steady.Drawn
		e.Sent += steady.Sent
		e.Lost.Client += steady.Lost.Client
		e.Lost.Cap += steady.Lost.Cap
		e.Lost.InDelay += steady.Lost.InDelay
		e.Lost.Prefill += steady.Lost.Prefill
		e.Lost.NoTurn += steady.Lost.NoTurn
	}
	if !e.OpenLoop {
		return e
	}
	e.LagP50, e.LagP99, e.LagMax = lagStat(s, metric.P50), lagStat(s, metric.P99), lagStat(s, metric.Max)
	e.OwnLagP99 = min(time.Duration(own.Quantile(0.99)), e.LagMax)
	if own.Count == issued && e.LateAnswers == 0 { // no request waited for anything else, so both distributions are the same
		e.OwnLagP99 = e.LagP99
	}
	if e.RateSeconds > 0 {
		e.CapShare = caps.Seconds / e.RateSeconds
		e.BusyShare = caps.BusySeconds / e.RateSeconds
		e.PrefillShare = caps.PrefillSeconds / e.RateSeconds
	}
	return e
}

// lagStat returns a statistic of the schedule lag; 0 if the metric is missing.
func lagStat(s *metric.Summary, stat metric.Stat) time.Duration {
	v := s.Value("schedule_lag", stat)
	if math.IsNaN(v) {
		return 0
	}
	return time.Duration(math.Round(v * float64(time.Millisecond)))
}
