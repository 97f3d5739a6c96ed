package artifact

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/record"
)

// phaseKinds are the values of benchmark_phase and phase_kind.
const (
	warmupPhase    = "warmup"
	profilingPhase = "profiling"
)

// appendMetadata writes the metadata object of a request. Instants are wall ns; instants that never happened are omitted.
func appendMetadata(b []byte, r *record.Record) []byte {
	wall := wallClock(r)
	kind := profilingPhase
	if r.Warmup {
		kind = warmupPhase
	}
	o := jsontext.Open(b)
	o.Int("session_num", r.SessionNum)
	o.TextIfAny("x_request_id", r.RequestID)
	o.TextIfAny("x_correlation_id", r.CorrelationID)
	o.TextIfAny("conversation_id", r.ConversationID)
	o.Int("turn_index", int64(r.TurnIndex))
	o.IntIfPositive("url_index", int64(r.URLIndex))
	o.IntIfPositive("scheduled_ns", wall(r.Intended))
	o.IntIfPositive("credit_issued_ns", wall(r.Issued))
	o.IntIfPositive("request_start_ns", wall(r.Start))
	o.IntIfPositive("request_ack_ns", wall(r.Ack))
	o.IntIfPositive("request_end_ns", wall(r.End))
	o.TextIfAny("worker_id", r.WorkerID)
	o.TextIfAny("record_processor_id", r.ProcessorID)
	o.Text("benchmark_phase", kind)
	o.Int("phase_index", int64(r.PhaseIndex))
	if !r.Warmup && r.ProfilingIndex >= 0 {
		o.Int("profiling_index", int64(r.ProfilingIndex))
	}
	name := r.PhaseName
	if name == "" {
		name = kind
	}
	o.Text("phase_name", name)
	o.Text("phase_kind", kind)
	o.Bool("was_cancelled", r.WasCancelled())
	o.IntIfPositive("cancellation_time_ns", wall(r.CancelledAt))
	o.TextIfAny("cut_reason", r.Cut)
	if r.AudioSeconds > 0 {
		o.Float("audio_seconds", r.AudioSeconds)
	}
	if r.TurnTimestamp != nil {
		o.Float("turn_timestamp_ms", *r.TurnTimestamp)
	}
	o.Bool("context_overflow_skip", false)
	o.Int("agent_depth", int64(r.Depth))
	o.TextIfAny("parent_correlation_id", r.ParentID)
	root := r.RootID
	if root == "" {
		root = r.CorrelationID
	}
	o.TextIfAny("root_correlation_id", root)
	return o.Close()
}

// wallClock returns a function that converts instants of a record to Unix ns. 0 means that the event never happened and stays 0.
func wallClock(r *record.Record) func(at int64) int64 {
	return func(at int64) int64 {
		if at == 0 {
			return 0
		}
		return r.Wall(at)
	}
}

// appendError writes an error_details object.
func appendError(b []byte, e *record.Error) []byte {
	o := jsontext.Open(b)
	if e.Code != 0 {
		o.Int("code", int64(e.Code))
	}
	o.TextIfAny("type", e.Type)
	o.Text("message", redact.Text(e.Message))
	o.TextIfAny("cause", redact.Text(e.Cause))
	if len(e.Chain) > 0 {
		o.Texts("cause_chain", e.Chain)
	}
	if e.Local {
		o.Bool("local_limit", true)
	}
	return o.Close()
}
