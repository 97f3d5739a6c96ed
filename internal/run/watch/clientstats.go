package watch

import (
	"math"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/results"
	"aiperf/internal/workload/load"
)

// pipelineQueue is the largest number of finished records that wait in memory.
const pipelineQueue = 1024

// ClientStats collects the client's measurements of itself during the profiling phases. m are those of the machine that sent the requests.
func ClientStats(run *metric.Run, phases []*load.PhaseStats, m *MachineStats, results *results.Assembly) metric.ClientStats {
	s := run.Profiling
	e := metric.ClientStats{
		CPUShare: m.CPUShare, Cores: m.Cores, Machine: m.Machine, CPUTime: m.CPU, GCPauseMax: m.MaxPause, GCPauseTotal: m.TotalPause,
		ThreadWait: m.Stalls.ThreadWait, Stalls: m.Stalls.Count, StallLongest: m.Stalls.Longest, StallTotal: m.Stalls.Total, WakeDelay: m.Stalls.WakeDelay, WakesLate: 100 * m.Stalls.WakesLate,
		BacklogMax: int(m.BacklogMax), BacklogSize: pipelineQueue, Spilled: m.Spilled, MachineUse: m.MachineUse, QuotaUse: m.Quota,
		Valid: s.Valid, Failed: s.Failed, Planned: s.PlannedCancellations(), SharedReads: s.SharedReads, OneMessage: s.OneMessage, Uncounted: s.Uncounted, Messages: messages(s),
		ReadDelays: m.ReadDelays.Count, ReadDelayP50: time.Duration(m.ReadDelays.Quantile(0.5)), ReadDelayP99: time.Duration(m.ReadDelays.Quantile(0.99)),
		PacketsLost: m.PacketsLost, CaptureMissing: m.CaptureMissing, LongestRest: m.LongestRest,
	}
	for _, g := range s.Errors {
		if g.Error.Local {
			e.FileLimitHits += g.Count
		}
	}
	e.ScheduleStats = scheduleStats(s, phases)
	e.SlotUse = slotUse(phases)
	e.CancelledByUser = run.Cancelled
	e.Certainty, e.CutUse, e.TimeoutUse, e.RateUse, e.AnswerUse = s.Certainty, s.CutUse, s.TimeoutUse, s.RateUse, s.AnswerUse
	e.CancelUse = s.CancelUse
	if results.Endpoint.FollowsUp {
		e.Polled = s.Valid
	}
	e.LumpStats = results.Profiling().Lumps()
	e.PathUse = results.Profiling().Paths()
	if results.Config.Endpoint.ConnectionReuse != config.ReuseNever { // otherwise a request starts before its connection
		e.ConnectionUse = connectionUse(s)
	}
	if e.OpenLoop {
		e.Trend = results.Profiling().Trend()
	}
	return e
}

// connectionUse compares the time for new connections with the latency.
func connectionUse(s *metric.Summary) (u metric.ConnectionUse) {
	connecting, latency := s.Value("http_req_connection_overhead", metric.Avg), s.Value("request_latency", metric.Avg)
	if connecting > 0 && latency > 0 { // false for NaN
		u.Connecting, u.ConnectingShare = time.Duration(connecting*float64(time.Millisecond)), connecting/latency
	}
	return u
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
		if f.Info.Mode != load.AgenticReplay { // all lanes of a replay are always in use, and nothing that is due waits for one
			caps.Add(steady.Caps)
		}
		e.Asked += max(steady.Expected, steady.Planned)
		if steady.Planned > 0 { // several machines
			e.AskedOfRest += steady.Expected
		}
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
