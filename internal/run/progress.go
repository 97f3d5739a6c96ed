package run

import (
	"context"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/load"
	"aiperf/internal/ui"
)

// statsInterval is the pause between two lines of statistics when nobody gave one.
const statsInterval = 30 * time.Second

// statsPause is the pause between two lines of statistics; 0 = there are none.
func statsPause(cfg *config.Benchmark) time.Duration {
	if s := cfg.Runtime.StatsInterval; s != nil {
		return s.Duration()
	}
	return statsInterval
}

// progress is the component that shows how the load goes: the live line, if there is a terminal for it, and the lines of statistics, into
// the log, and to the error stream where nothing is drawn.
type progress struct {
	passive
	load    *load.Generator
	live    *ui.Running
	pause   time.Duration // between two lines; 0 = there are none
	columns int           // of the live line
	say     *reporter
	shown   []*ui.Progress
}

// Start implements component.
func (p *progress) Start(context.Context) error {
	look := func() (ui.Snapshot, bool) { return snapshot(p.load.Snapshot(), p.live) }
	if p.say.screen != nil {
		p.shown = append(p.shown, ui.Start(p.say.screen, p.columns, look))
	}
	if p.pause > 0 {
		p.shown = append(p.shown, ui.Lines(p.pause, look, func(line string) {
			if p.say.screen == nil && p.say.view.shown == nil {
				p.say.note("%s", line)
			} else {
				p.say.log.Info(line)
			}
		}))
	}
	return nil
}

// Stop implements component.
func (p *progress) Stop(context.Context) error {
	for _, one := range p.shown {
		one.Stop()
	}
	return nil
}

// snapshot is how the load stands, and what the answers say.
func snapshot(s load.Snapshot, live *ui.Running) (ui.Snapshot, bool) {
	if s.Info == nil || s.Started == 0 {
		return ui.Snapshot{}, false
	}
	now := clock.Now()
	if s.Ended != 0 {
		now = s.Ended
	}
	shown := ui.Snapshot{
		Phase: s.Info.Name, Index: s.Info.Index, Warmup: s.Info.Warmup, Cancelled: s.Cancelled, Sessions: s.Phase.Sessions, SessionsDone: s.Finished, Grace: s.Phase.Grace, Sent: s.Sent, Finished: s.Completed + s.Cancelled, Errors: s.Errors, InFlight: s.InFlight(),
		Requests: s.Phase.Requests, Duration: s.Phase.Duration, Elapsed: time.Duration(now - s.Started), Sending: s.SentAll == 0,
	}
	live.Line(s.Info.Index, &shown)
	return shown, true
}
