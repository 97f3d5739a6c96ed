package artifact

import (
	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// phaseKinds are the values of benchmark_phase and phase_kind.
const (
	warmupPhase    = "warmup"
	profilingPhase = "profiling"
)

// appendMetadata writes the metadata object of a request. Instants are wall ns; what did not happen is left out.
func appendMetadata(b []byte, r *record.Record) []byte {
	wall := func(at int64) int64 {
		if at == 0 {
			return 0
		}
		return r.Wall(at)
	}
	kind := profilingPhase
	if r.Warmup {
		kind = warmupPhase
	}
	o := open(b)
	o.int("session_num", r.SessionNum)
	o.text("x_request_id", r.RequestID)
	o.text("x_correlation_id", r.CorrelationID)
	o.text("conversation_id", r.ConversationID)
	o.int("turn_index", int64(r.TurnIndex))
	o.instant("scheduled_ns", wall(r.Intended))
	o.instant("credit_issued_ns", wall(r.Issued))
	o.instant("request_start_ns", wall(r.Start))
	o.instant("request_ack_ns", wall(r.Ack))
	o.instant("request_end_ns", wall(r.End))
	o.text("worker_id", r.WorkerID)
	o.text("record_processor_id", r.ProcessorID)
	o.str("benchmark_phase", kind)
	o.int("phase_index", int64(r.PhaseIndex))
	if !r.Warmup && r.ProfilingIndex >= 0 {
		o.int("profiling_index", int64(r.ProfilingIndex))
	}
	name := r.PhaseName
	if name == "" {
		name = kind
	}
	o.str("phase_name", name)
	o.str("phase_kind", kind)
	o.bool("was_cancelled", r.WasCancelled())
	o.instant("cancellation_time_ns", wall(r.CancelledAt))
	o.text("cut_reason", r.Cut)
	if r.TurnTimestamp != nil {
		o.float("turn_timestamp_ms", *r.TurnTimestamp)
	}
	o.bool("context_overflow_skip", false)
	o.int("agent_depth", int64(r.Depth))
	o.text("parent_correlation_id", r.ParentID)
	root := r.RootID
	if root == "" {
		root = r.CorrelationID
	}
	o.text("root_correlation_id", root)
	return o.close()
}

// appendError writes an error_details object.
func appendError(b []byte, e *record.Error) []byte {
	o := open(b)
	if e.Code != 0 {
		o.int("code", int64(e.Code))
	}
	o.text("type", e.Type)
	o.str("message", redact.Text(e.Message))
	o.text("cause", redact.Text(e.Cause))
	if len(e.Chain) > 0 {
		o.key("cause_chain")
		for i, c := range e.Chain {
			o.b = append(o.b, "[,"[min(i, 1)])
			o.b = appendString(o.b, c)
		}
		o.b = append(o.b, ']')
	}
	if e.Local {
		o.bool("local_limit", true)
	}
	return o.close()
}
