package run

import (
	"context"
	"log/slog"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/run/message"
	"aiperf/internal/run/view"
)

// observers returns what receives every finished request during the run: the live figures, and at level DEBUG the log.
func observers(ctx context.Context, log *slog.Logger, shown *view.View) []pipeline.Observer {
	list := []pipeline.Observer{shown}
	if log.Enabled(ctx, slog.LevelDebug) {
		list = append(list, requestLog{log: log, trace: log.Enabled(ctx, message.LevelTrace)})
	}
	return list
}

// withOptional returns the list of its arguments; perhaps may be nil.
func withOptional(always, perhaps pipeline.Observer) []pipeline.Observer {
	if perhaps == nil {
		return []pipeline.Observer{always}
	}
	return []pipeline.Observer{always, perhaps}
}

// requestLog writes a line of the log for every finished request.
type requestLog struct {
	log   *slog.Logger
	trace bool // also log how the answer was read
}

// Observe implements pipeline.Observer.
func (l requestLog) Observe(row *metric.Row) {
	m := &row.Meta
	about := []any{
		"id", m.RequestID, "phase", m.PhaseName, "session", m.CorrelationID, "conversation", m.ConversationID, "turn", m.TurnIndex, "model", m.Model,
		"start", time.Unix(0, row.Start).UTC().Format(time.RFC3339Nano), "seconds", float64(row.End-row.Start) / 1e9,
	}
	if row.Err != nil {
		about = append(about, "error", row.Err.Type, "code", row.Err.Code)
	}
	if l.trace {
		about = append(about, "url", m.URLIndex, "gaps", len(row.Gaps), "reads", row.Reads, "read_delay_ns", row.ReadDelay, "coalesced", row.SharedReads)
	}
	l.log.Debug("request", about...)
}
