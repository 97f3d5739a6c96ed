package run

import (
	"context"
	"log/slog"
	"math"
	"time"

	"aiperf/internal/metric"
)

// seen keeps the live figures, and writes a line of the log for every finished request at level DEBUG, and how its answer was read as well
// at TRACE.
func (r *runner) seen() func(*metric.Row) {
	if !r.log.Enabled(context.Background(), slog.LevelDebug) {
		return r.count
	}
	trace := r.log.Enabled(context.Background(), levels["TRACE"])
	return func(row *metric.Row) {
		r.count(row)
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

// count adds a valid answer to the live figures.
func (r *runner) count(row *metric.Row) {
	if row.Class != metric.Valid {
		return
	}
	value := func(tag string) float64 {
		if v, ok := row.Value(tag); ok {
			return v
		}
		return math.NaN()
	}
	r.live.Add(row.Meta.PhaseIndex, value("time_to_first_token"), value("request_latency"), value("output_sequence_length"))
}
