package artifact

import (
	"time"

	"aiperf/internal/metric"
)

// appendValidity writes the verdict and what it rests on; durations in ms.
func appendValidity(b []byte, v *metric.Validity) []byte {
	o := open(b)
	o.str("verdict", string(v.Verdict))
	o.str("reason", v.Reason)
	o.key("notes")
	o.b = append(o.b, '[')
	for i, n := range v.Notes {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, n)
	}
	o.b = append(o.b, ']')
	ms := func(key string, d time.Duration) { o.float(key, float64(d)/1e6) }
	if v.OpenLoop {
		ms("schedule_lag_p50_ms", v.LagP50)
		ms("schedule_lag_p99_ms", v.LagP99)
		ms("schedule_lag_max_ms", v.LagMax)
	}
	if v.TargetRate > 0 {
		o.float("target_rate", v.TargetRate)
	}
	if v.AchievedRate > 0 {
		o.float("achieved_send_rate", v.AchievedRate)
	}
	if v.OpenLoop {
		o.float("time_at_concurrency_cap", v.CapShare)
		o.int("reanchor_count", int64(v.Reanchors))
		o.float("reanchor_lost_seconds", v.ReanchorLost.Seconds())
		o.int("ticks_skipped", int64(v.TicksSkipped))
	}
	o.float("client_cpu_share", v.CPUShare)
	o.int("client_cores", int64(v.Cores))
	ms("gc_pause_max_ms", v.GCPauseMax)
	ms("gc_pause_total_ms", v.GCPauseTotal)
	o.int("stamped_reads", v.ReadDelays)
	if v.ReadDelays > 0 {
		ms("read_delay_p50_ms", v.ReadDelayP50)
		ms("read_delay_p99_ms", v.ReadDelayP99)
	}
	o.int("backlog_max", int64(v.BacklogMax))
	o.int("backlog_capacity", int64(v.BacklogSize))
	o.int("spilled_records", v.Spilled)
	o.int("client_limit_hits", v.FileLimitHits)
	o.int("messages", v.Messages)
	o.int("coalesced_messages", v.SharedReads)
	o.int("one_message_answers", v.OneMessage)
	return o.close()
}
