package run

import (
	"context"

	"aiperf/internal/config"
)

// reporter reports the events of a run to the user, and shows the run in its live view.
type reporter struct {
	*messageReporter
	view *liveView
}

// newReporter starts the log and the live view of a run. Messages from before the run come first.
func newReporter(ctx context.Context, o *Options, cfg *config.Benchmark) *reporter {
	view := newLiveView(cfg, o.Secrets, func() bool { return ctx.Err() != nil })
	return &reporter{view: view, messageReporter: newMessageReporter(reporterOptions{
		level: cfg.Logging.Level, err: o.Err, liveLine: o.Progress > 0, notes: o.Notes, warnings: o.Warnings, secrets: o.Secrets, wrap: view.logHandler,
	})}
}
