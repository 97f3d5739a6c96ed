package run

import (
	"context"

	"aiperf/internal/config"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/run/message"
	"aiperf/internal/run/view"
)

// reporter reports the events of a run to the user, and shows the run in its live view.
type reporter struct {
	*message.Reporter
	view *view.View
}

// newReporter starts the log and the live view of a run. Messages from before the run come first.
func newReporter(ctx context.Context, o *Options, cfg *config.Benchmark) *reporter {
	shown := view.New(cfg, o.Secrets, func() bool { return ctx.Err() != nil })
	shown.SetPlace(o.Place)
	return &reporter{view: shown, Reporter: message.New(message.Options{
		Level: cfg.Logging.Level, Err: o.Err, LiveLine: o.Progress > 0, Notes: o.Notes, Warnings: o.Warnings, Secrets: o.Secrets, Wrap: shown.LogHandler,
	})}
}

// showDashboard shows the live view on a terminal, if there is one for it. web is the address of the live page, label what distinguishes the run in
// its series. hide restores the terminal.
func (say *reporter) showDashboard(on *dashboard.Terminal, dir, web, label string) (hide func()) {
	if on == nil {
		return func() {}
	}
	if err := say.view.Show(on, dir, web, label); err != nil {
		say.Warn("the dashboard cannot be displayed: " + err.Error())
	}
	return say.view.Hide
}
