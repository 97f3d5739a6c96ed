package run

import (
	"context"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/load"
	"aiperf/internal/ui"
)

// statsInterval is the pause between two lines of statistics when nobody gave one.
const statsInterval = 30 * time.Second

// progress is the component that shows how the load goes: the live line, if there is a terminal for it, and the lines of statistics, into
// the log, and to the error stream where nothing is drawn.
type progress struct {
	passive
	*runner
	shown []*ui.Progress
}

// Start implements component.
func (p *progress) Start(context.Context) error {
	r := p.runner
	look := func() (ui.Snapshot, bool) { return r.snapshot(r.load.Snapshot()) }
	pause := statsInterval
	if s := r.cfg.Runtime.StatsInterval; s != nil {
		pause = s.Duration()
	}
	if r.screen != nil {
		p.shown = append(p.shown, ui.Start(r.screen, r.opts.Progress, look))
	}
	if pause > 0 {
		p.shown = append(p.shown, ui.Lines(pause, look, func(line string) {
			if r.screen == nil {
				r.note("%s", line)
			} else {
				r.log.Info(line)
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

func (r *runner) snapshot(s load.Snapshot) (ui.Snapshot, bool) {
	if s.Info == nil || s.Started == 0 {
		return ui.Snapshot{}, false
	}
	now := clock.Now()
	if s.Ended != 0 {
		now = s.Ended
	}
	shown := ui.Snapshot{
		Phase: s.Info.Name, Sent: s.Sent, Finished: s.Completed + s.Cancelled, Errors: s.Errors, InFlight: s.InFlight(),
		Requests: s.Phase.Requests, Duration: s.Phase.Duration, Elapsed: time.Duration(now - s.Started), Sending: s.SentAll == 0,
	}
	r.live.Fill(s.Info.Index, &shown)
	return shown, true
}
