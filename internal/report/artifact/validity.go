package artifact

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
)

// validityKey is one figure of the validity object. ref points to it: *time.Duration (written in seconds if the key says so, else in ms), *float64,
// *int, *int64, *string or *bool.
type validityKey struct {
	key string
	ref func(*metric.ClientStats) any
}

// validityKeys lists everything that the verdict is based on: a report reads these figures and assesses the run again. Zero values are omitted;
// missing ones are read as zero.
var validityKeys = []validityKey{
	{"open_loop", func(s *metric.ClientStats) any { return &s.OpenLoop }},
	{"cancelled_by_user", func(s *metric.ClientStats) any { return &s.CancelledByUser }},
	{"schedule_lag_p50_ms", func(s *metric.ClientStats) any { return &s.LagP50 }},
	{"schedule_lag_p99_ms", func(s *metric.ClientStats) any { return &s.LagP99 }},
	{"schedule_lag_max_ms", func(s *metric.ClientStats) any { return &s.LagMax }},
	{"client_lag_p99_ms", func(s *metric.ClientStats) any { return &s.OwnLagP99 }},
	{"rate_seconds", func(s *metric.ClientStats) any { return &s.RateSeconds }},
	{"requests_asked_for", func(s *metric.ClientStats) any { return &s.Asked }},
	{"requests_asked_of_remaining_machines", func(s *metric.ClientStats) any { return &s.AskedOfRest }},
	{"arrivals_drawn", func(s *metric.ClientStats) any { return &s.Drawn }},
	{"arrivals_sent", func(s *metric.ClientStats) any { return &s.Sent }},
	{"arrivals_lost_to_client", func(s *metric.ClientStats) any { return &s.Lost.Client }},
	{"arrivals_lost_to_concurrency_cap", func(s *metric.ClientStats) any { return &s.Lost.Cap }},
	{"arrivals_lost_to_session_delays", func(s *metric.ClientStats) any { return &s.Lost.InDelay }},
	{"arrivals_lost_to_prefill_cap", func(s *metric.ClientStats) any { return &s.Lost.Prefill }},
	{"arrivals_lost_to_missing_turns", func(s *metric.ClientStats) any { return &s.Lost.NoTurn }},
	{"late_answers", func(s *metric.ClientStats) any { return &s.LateAnswers }},
	{"time_at_concurrency_cap", func(s *metric.ClientStats) any { return &s.CapShare }},
	{"time_at_concurrency_cap_in_flight", func(s *metric.ClientStats) any { return &s.BusyShare }},
	{"time_at_prefill_cap", func(s *metric.ClientStats) any { return &s.PrefillShare }},
	{"reanchor_count", func(s *metric.ClientStats) any { return &s.Reanchors }},
	{"reanchor_lost_seconds", func(s *metric.ClientStats) any { return &s.ReanchorLost }},
	{"ticks_skipped", func(s *metric.ClientStats) any { return &s.TicksSkipped }},
	{"sent_rate", func(s *metric.ClientStats) any { return &s.SentRate }},
	{"answered_rate", func(s *metric.ClientStats) any { return &s.AnsweredRate }},
	{"early_latency_p50_ms", func(s *metric.ClientStats) any { return &s.EarlyLatency }},
	{"late_latency_p50_ms", func(s *metric.ClientStats) any { return &s.LateLatency }},
	{"slots", func(s *metric.ClientStats) any { return &s.Slots }},
	{"slot_seconds", func(s *metric.ClientStats) any { return &s.SlotTime }},
	{"slot_lost_seconds", func(s *metric.ClientStats) any { return &s.SlotTimeLost }},
	{"slot_unsure_seconds", func(s *metric.ClientStats) any { return &s.SlotTimeUnsure }},
	{"client_cpu_share", func(s *metric.ClientStats) any { return &s.CPUShare }},
	{"client_cores", func(s *metric.ClientStats) any { return &s.Cores }},
	{"client_machine", func(s *metric.ClientStats) any { return &s.Machine }},
	{"client_cpu_ms", func(s *metric.ClientStats) any { return &s.CPUTime }},
	{"run_queue_wait_ms", func(s *metric.ClientStats) any { return &s.ThreadWait }},
	{"cpu_quota_cores", func(s *metric.ClientStats) any { return &s.QuotaCores }},
	{"cpu_quota_period_ms", func(s *metric.ClientStats) any { return &s.QuotaPeriod }},
	{"cpu_quota_periods", func(s *metric.ClientStats) any { return &s.QuotaPeriods }},
	{"cpu_quota_stops", func(s *metric.ClientStats) any { return &s.QuotaStops }},
	{"stall_count", func(s *metric.ClientStats) any { return &s.Stalls }},
	{"stall_longest_ms", func(s *metric.ClientStats) any { return &s.StallLongest }},
	{"stall_total_ms", func(s *metric.ClientStats) any { return &s.StallTotal }},
	{"gc_pause_max_ms", func(s *metric.ClientStats) any { return &s.GCPauseMax }},
	{"gc_pause_total_ms", func(s *metric.ClientStats) any { return &s.GCPauseTotal }},
	{"stamped_reads", func(s *metric.ClientStats) any { return &s.ReadDelays }},
	{"read_delay_p50_ms", func(s *metric.ClientStats) any { return &s.ReadDelayP50 }},
	{"read_delay_p99_ms", func(s *metric.ClientStats) any { return &s.ReadDelayP99 }},
	{"read_rest_max_ms", func(s *metric.ClientStats) any { return &s.LongestRest }},
	{"backlog_max", func(s *metric.ClientStats) any { return &s.BacklogMax }},
	{"backlog_capacity", func(s *metric.ClientStats) any { return &s.BacklogSize }},
	{"spilled_records", func(s *metric.ClientStats) any { return &s.Spilled }},
	{"client_limit_hits", func(s *metric.ClientStats) any { return &s.FileLimitHits }},
	{"valid_requests", func(s *metric.ClientStats) any { return &s.Valid }},
	{"failed_requests", func(s *metric.ClientStats) any { return &s.Failed }},
	{"planned_cancellations", func(s *metric.ClientStats) any { return &s.Planned }},
	{"successful_load_seconds", func(s *metric.ClientStats) any { return &s.RateTime }},
	{"load_seconds", func(s *metric.ClientStats) any { return &s.LoadTime }},
	{"cut_requests", func(s *metric.ClientStats) any { return &s.CutCount }},
	{"cut_request_wait_max_ms", func(s *metric.ClientStats) any { return &s.CutWaited }},
	{"timed_out_requests", func(s *metric.ClientStats) any { return &s.TimedOut }},
	{"timed_out_request_wait_max_ms", func(s *metric.ClientStats) any { return &s.TimeoutWaited }},
	{"planned_cancellation_wait_max_ms", func(s *metric.ClientStats) any { return &s.CancelWaited }},
	{"messages", func(s *metric.ClientStats) any { return &s.Messages }},
	{"coalesced_messages", func(s *metric.ClientStats) any { return &s.SharedReads }},
	{"packet_stamps", func(s *metric.ClientStats) any { return &s.PacketStamps }},
	{"packets_lost", func(s *metric.ClientStats) any { return &s.PacketsLost }},
	{"capture_missing", func(s *metric.ClientStats) any { return &s.CaptureMissing }},
	{"machine_samples", func(s *metric.ClientStats) any { return &s.MachineSamples }},
	{"machine_cpu_percent", func(s *metric.ClientStats) any { return &s.MachineCPU }},
	{"machine_cpu_max_percent", func(s *metric.ClientStats) any { return &s.MachineCPUMax }},
	{"machine_core_max_percent", func(s *metric.ClientStats) any { return &s.MachineCoreMax }},
	{"machine_steal_percent", func(s *metric.ClientStats) any { return &s.Steal }},
	{"machine_steal_max_percent", func(s *metric.ClientStats) any { return &s.StealMax }},
	{"machine_pressure_percent", func(s *metric.ClientStats) any { return &s.Pressure }},
	{"machine_wake_delay_ms", func(s *metric.ClientStats) any { return &s.WakeDelay }},
	{"machine_wakes_late_percent", func(s *metric.ClientStats) any { return &s.WakesLate }},
	{"machine_memory_max_percent", func(s *metric.ClientStats) any { return &s.MemoryMax }},
	{"machine_ports_max_percent", func(s *metric.ClientStats) any { return &s.PortsMax }},
	{"queue_correlation", func(s *metric.ClientStats) any { return &s.QueueCorrelation }},
	{"queue_correlation_seconds", func(s *metric.ClientStats) any { return &s.QueueSeconds }},
	{"tcp_requests", func(s *metric.ClientStats) any { return &s.Paths }},
	{"tcp_remote_requests", func(s *metric.ClientStats) any { return &s.RemotePaths }},
	{"tcp_retransmit_requests", func(s *metric.ClientStats) any { return &s.ResentRequests }},
	{"tcp_retransmits", func(s *metric.ClientStats) any { return &s.ResentSegments }},
	{"tcp_out_of_order_requests", func(s *metric.ClientStats) any { return &s.UnorderedRequests }},
	{"tcp_smoothed_rtt_p50_ms", func(s *metric.ClientStats) any { return &s.SmoothedRTT }},
	{"server_silence_count", func(s *metric.ClientStats) any { return &s.SilenceCount }},
	{"server_silence_longest_ms", func(s *metric.ClientStats) any { return &s.SilenceLongest }},
	{"server_silence_total_ms", func(s *metric.ClientStats) any { return &s.SilenceTotal }},
	{"server_silence_at_seconds", func(s *metric.ClientStats) any { return &s.SilenceAt }},
	{"server_silence_waiting", func(s *metric.ClientStats) any { return &s.SilenceWaiting }},
	{"connecting_mean_ms", func(s *metric.ClientStats) any { return &s.Connecting }},
	{"connecting_share", func(s *metric.ClientStats) any { return &s.ConnectingShare }},
	{"uncounted_requests", func(s *metric.ClientStats) any { return &s.Uncounted }},
	{"unreadable_messages", func(s *metric.ClientStats) any { return &s.UnreadableMessages }},
	{"unreadable_answers", func(s *metric.ClientStats) any { return &s.UnreadableAnswers }},
	{"aborted_answers", func(s *metric.ClientStats) any { return &s.Aborted }},
	{"early_usage_answers", func(s *metric.ClientStats) any { return &s.EarlyUsages }},
	{"missing_usage_answers", func(s *metric.ClientStats) any { return &s.MissingUsages }},
	{"more_choices_answers", func(s *metric.ClientStats) any { return &s.MoreChoices }},
	{"alternating_choices_answers", func(s *metric.ClientStats) any { return &s.AlternatingChoices }},
	{"finish_reason_answers", func(s *metric.ClientStats) any { return &s.FinishReasons }},
	{"one_message_answers", func(s *metric.ClientStats) any { return &s.OneMessage }},
	{"one_read_answers", func(s *metric.ClientStats) any { return &s.OneLump }},
	{"polled_requests", func(s *metric.ClientStats) any { return &s.Polled }},
	{"streamed_answers", func(s *metric.ClientStats) any { return &s.StreamAnswers }},
	{"lumped_answers", func(s *metric.ClientStats) any { return &s.LumpedAnswers }},
	{"lump_events", func(s *metric.ClientStats) any { return &s.LumpEvents }},
	{"lump_interval_ms", func(s *metric.ClientStats) any { return &s.LumpInterval }},
	{"prompt_cache_source", func(s *metric.ClientStats) any { return &s.CacheSource }},
	{"prompt_cache_reported_percent", func(s *metric.ClientStats) any { return &s.CacheReported }},
	{"prompt_cache_expected_percent", func(s *metric.ClientStats) any { return &s.CacheExpected }},
	{"prompt_cache_expected_max_percent", func(s *metric.ClientStats) any { return &s.CacheExpectedMax }},
	{"prompt_cache_counter", func(s *metric.ClientStats) any { return &s.CacheCounter }},
	{"prompt_cache_counter_percent", func(s *metric.ClientStats) any { return &s.CacheCounted }},
	{"same_prompts_earlier", func(s *metric.ClientStats) any { return &s.EarlierRun }},
	{"uncertain_requests", func(s *metric.ClientStats) any { return &s.Uncertain }},
	{"uncertain_first_messages", func(s *metric.ClientStats) any { return &s.UncertainFirst }},
	{"uncertain_gaps", func(s *metric.ClientStats) any { return &s.UncertainGaps }},
	{"first_uncertain_max_ms", func(s *metric.ClientStats) any { return &s.FirstErrorMax }},
	{"gap_uncertain_max_ms", func(s *metric.ClientStats) any { return &s.GapErrorMax }},
}

// always lists the keys that are written even if they are zero.
var always = map[string]bool{
	"client_cpu_share": true, "client_cores": true, "stall_count": true, "stall_longest_ms": true, "stall_total_ms": true,
	"gc_pause_max_ms": true, "gc_pause_total_ms": true, "stamped_reads": true, "backlog_max": true, "backlog_capacity": true,
	"spilled_records": true, "client_limit_hits": true, "messages": true, "coalesced_messages": true, "one_message_answers": true,
	"uncertain_requests": true,
}

// alwaysOpen lists the keys among always that only apply to a schedule.
var alwaysOpen = map[string]bool{
	"schedule_lag_p50_ms": true, "schedule_lag_p99_ms": true, "schedule_lag_max_ms": true, "time_at_concurrency_cap": true,
	"reanchor_count": true, "reanchor_lost_seconds": true, "ticks_skipped": true,
}

// appendValidity writes the verdict and the figures that it is based on; durations in ms.
func appendValidity(b []byte, v *metric.Validity) []byte {
	o := jsontext.Open(b)
	o.Text("verdict", string(v.Verdict))
	o.Text("reason", v.Reason)
	o.Texts("notes", v.Notes)
	if r := v.TargetRate(); r > 0 && !math.IsInf(r, 0) { // derived from the counts below
		o.Float("target_rate", r)
	}
	if r := v.RestRate(); r > 0 && !math.IsInf(r, 0) {
		o.Float("target_rate_of_remaining_machines", r)
	}
	if r := v.AchievedRate(); r > 0 && !math.IsInf(r, 0) {
		o.Float("achieved_send_rate", r)
	}
	if len(v.Certain) > 0 {
		o.Key("certain_metrics")
		c := jsontext.Open(o.B)
		for i := range v.Certain {
			appendResult(&c, &v.Certain[i])
		}
		o.B = c.Close()
	}
	appendBounds(&o, v.Bounds)
	if len(v.Machines) > 0 {
		if text, err := json.Marshal(entriesOf(v.Machines)); err == nil { // it holds finite numbers and texts only
			o.Raw("machines", text)
		}
	}
	if v.ServerPods != nil {
		if text, err := json.Marshal(v.ServerPods); err == nil { // it holds finite numbers and texts only
			o.Raw("server_pods", text)
		}
	}
	for _, k := range validityKeys {
		appendFigure(&o, k.key, k.ref(&v.ClientStats), always[k.key] || v.OpenLoop && alwaysOpen[k.key] || v.CacheSource != "" && strings.HasPrefix(k.key, "prompt_cache_") && (v.CacheCounter != "" || !strings.HasPrefix(k.key, "prompt_cache_counter")))
	}
	return o.Close()
}

// appendBounds writes the limits of statistics that are not exact: {"TAG": {"STAT": {"low": x, "high": y}}} in the metric's unit. A limit that does
// not exist is omitted.
func appendBounds(o *jsontext.Object, b metric.Bounds) {
	if len(b) == 0 {
		return
	}
	o.Key("bounds")
	tags := jsontext.Open(o.B)
	for _, m := range metric.All() {
		if len(b[m.Tag]) == 0 || m.Hidden() {
			continue
		}
		tags.Key(m.Tag)
		stats := jsontext.Open(tags.B)
		for s := metric.Avg; s < metric.Stats; s++ {
			if r, ok := b[m.Tag][s]; ok {
				stats.Key(s.String())
				limits := jsontext.Open(stats.B)
				limits.Float("low", r.Low)
				if !math.IsInf(r.High, 1) {
					limits.Float("high", r.High)
				}
				stats.B = limits.Close()
			}
		}
		tags.B = stats.Close()
	}
	o.B = tags.Close()
}

func appendFigure(o *jsontext.Object, key string, ref any, zero bool) {
	switch p := ref.(type) {
	case *bool:
		if *p {
			o.Bool(key, true)
		}
	case *string:
		o.TextIfAny(key, *p)
	case *time.Duration:
		if *p != 0 || zero {
			o.Float(key, float64(*p)/unitOf(key))
		}
	case *float64:
		if *p != 0 || zero {
			o.Float(key, *p)
		}
	case *int:
		if *p != 0 || zero {
			o.Int(key, int64(*p))
		}
	case *int64:
		if *p != 0 || zero {
			o.Int(key, *p)
		}
	}
}

// unitOf returns the unit of a duration in ns.
func unitOf(key string) float64 {
	if strings.HasSuffix(key, "_seconds") {
		return 1e9
	}
	return 1e6
}

// ReadValidity reads the figures that a verdict was based on from the validity object of a summary. It ignores unknown keys; a value of the wrong type
// is an error that names its key.
func ReadValidity(data []byte) (s metric.ClientStats, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return s, fmt.Errorf("validity: %w", err)
	}
	if raw, ok := values["machines"]; ok {
		if s.Machines, err = readMachines(raw); err != nil {
			return metric.ClientStats{}, err
		}
	}
	if raw, ok := values["server_pods"]; ok {
		if err := json.Unmarshal(raw, &s.ServerPods); err != nil {
			return metric.ClientStats{}, fmt.Errorf("validity: server_pods: %w", err)
		}
	}
	for _, k := range validityKeys {
		raw, ok := values[k.key]
		if !ok {
			continue
		}
		ref := k.ref(&s)
		d, isDuration := ref.(*time.Duration)
		var number float64
		if isDuration {
			ref = &number
		}
		if err := json.Unmarshal(raw, ref); err != nil {
			return metric.ClientStats{}, fmt.Errorf("validity: %s: %w", k.key, err)
		}
		if isDuration {
			*d = time.Duration(math.Round(number * unitOf(k.key)))
		}
	}
	return s, nil
}
