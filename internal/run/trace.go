package run

import (
	"context"
	"log/slog"
	"time"

	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
)

// observers are who sees every finished request while the run goes on: the live figures, and at level DEBUG the log.
func observers(ctx context.Context, log *slog.Logger, shown *liveView) []pipeline.Observer {
	list := []pipeline.Observer{liveFigures{shown}}
	if log.Enabled(ctx, slog.LevelDebug) {
		list = append(list, requestLog{log: log, trace: log.Enabled(ctx, levels["TRACE"])})
	}
	return list
}

// others is a list of an observer and of one that need not be there.
func others(always, perhaps pipeline.Observer) []pipeline.Observer {
	if perhaps == nil {
		return []pipeline.Observer{always}
	}
	return []pipeline.Observer{always, perhaps}
}

// requestLog writes a line of the log for every finished request.
type requestLog struct {
	log   *slog.Logger
	trace bool // tells how the answer was read as well
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

// liveFigures keeps what the views tell of answers.
type liveFigures struct{ *liveView }

// Observe implements pipeline.Observer.
func (f liveFigures) Observe(row *metric.Row) {
	f.running.Add(row)
	if row.Class == metric.Failed {
		f.failed(row)
	}
}
