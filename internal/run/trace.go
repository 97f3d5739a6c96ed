package run

import (
	"context"
	"log/slog"
	"time"

	"aiperf/internal/metric"
)

// seen writes a line of the log for every finished request at level DEBUG, and how its answer was read as well at TRACE; nil when the log
// takes neither.
func (r *runner) seen() func(*metric.Row) {
	if !r.log.Enabled(context.Background(), slog.LevelDebug) {
		return nil
	}
	trace := r.log.Enabled(context.Background(), levels["TRACE"])
	return func(row *metric.Row) {
		m := &row.Meta
		about := []any{
			"id", m.RequestID, "phase", m.PhaseName, "session", m.CorrelationID, "conversation", m.ConversationID, "turn", m.TurnIndex, "model", m.Model,
			"start", time.Unix(0, row.Start).UTC().Format(time.RFC3339Nano), "seconds", float64(row.End-row.Start) / 1e9,
		}
		if row.Err != nil {
			about = append(about, "error", row.Err.Type, "code", row.Err.Code)
		}
		if trace {
			about = append(about, "url", m.URLIndex, "gaps", len(row.Gaps), "reads", row.Reads, "read_delay_ns", row.ReadDelay, "coalesced", row.SharedReads)
		}
		r.log.Debug("request", about...)
	}
}
