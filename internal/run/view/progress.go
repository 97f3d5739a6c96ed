package view

import (
	"context"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/component"
	"aiperf/internal/run/message"
	"aiperf/internal/workload/load"
)

// Default pauses between two lines of statistics. Next to a dashboard the lines go to the log, as a record of what was shown.
const (
	statsInterval      = 30 * time.Second
	statsIntervalShown = 5 * time.Second
)

// maxSilence is the longest pause of the view that reports every tenth of a phase.
const maxSilence = time.Minute

// statsPause returns the pause between two lines of statistics; 0 = no lines.
func statsPause(cfg *config.Benchmark, shown bool) time.Duration {
	switch s := cfg.Runtime.StatsInterval; {
	case s != nil:
		return s.Duration()
	case shown:
		return statsIntervalShown
	}
	return statsInterval
}

// progressPause is the pause between two updates.
const progressPause = 250 * time.Millisecond

// progress is the component that shows the progress of the load: the live line, if there is a terminal for it, and lines of statistics. These go to
// the log if a live line or dashboard is shown, otherwise to the error stream.
type progress struct {
	component.Passive
	snapshots *snapshotter
	plain     *ui.PlainReporter
	columns   int             // of the live line
	paint     *termdraw.Paint // of the live line
	view      *View
	say       *message.Reporter
	stop      chan struct{}
	done      chan struct{}
}

// NewProgress makes the component. columns is the width of the live line; a nil paint draws it without colours.
func NewProgress(cfg *config.Benchmark, columns int, paint *termdraw.Paint, view *View, say *message.Reporter) *progress {
	p := &progress{snapshots: newSnapshotter(view), columns: max(columns, 20), paint: paint, view: view, say: say, stop: make(chan struct{}), done: make(chan struct{})}
	if p.paint == nil {
		p.paint = termdraw.NewPaint(false, false, false)
	}
	drawn := say.Screen != nil || view.shown != nil
	p.plain = &ui.PlainReporter{Pause: statsPause(cfg, view.shown != nil), Say: func(text string) {
		if drawn {
			say.Log.Info(text)
		} else {
			say.Note("%s", text)
		}
	}, Warn: func(text string) {
		if view.shown != nil { // the dashboard shows the progress
			say.Log.Warn(text)
		} else {
			say.Warn(text)
		}
	}}
	if cfg.Runtime.UI != config.UINone && !drawn && (cfg.Runtime.StatsInterval == nil || p.plain.Pause > 0) {
		p.plain.Steps = true
		if cfg.Runtime.StatsInterval == nil {
			p.plain.Pause = maxSilence
		}
	}
	return p
}

// Start implements component.
func (p *progress) Start(context.Context) error {
	go p.run()
	return nil
}

// Stop implements component.
func (p *progress) Stop(context.Context) error {
	close(p.stop)
	<-p.done
	return nil
}

func (p *progress) run() {
	defer close(p.done)
	pause := progressPause
	if p.plain.Pause > 0 {
		pause = min(pause, p.plain.Pause)
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var s liveview.State
	for {
		select {
		case <-p.stop:
			p.update(&s, time.Now())
			if p.say.Screen != nil {
				p.say.Screen.Clear()
			}
			return
		case now := <-tick.C:
			p.update(&s, now)
		}
	}
}

func (p *progress) update(s *liveview.State, now time.Time) {
	p.snapshots.fill(liveview.View{Width: p.columns}, s)
	p.plain.Report(s, now)
	if p.say.Screen != nil && s.Stage != liveview.Starting {
		row := liveview.Simple(s, p.columns)
		p.say.Screen.Draw(string(row.Append(nil, p.paint)))
	}
}

// progressSnapshot converts the state of the load for the line of progress.
func progressSnapshot(s load.Snapshot) (ui.Snapshot, bool) {
	if s.Info == nil || s.Started == 0 {
		return ui.Snapshot{}, false
	}
	now := clock.Now()
	if s.Ended != 0 {
		now = s.Ended
	}
	return ui.Snapshot{
		Phase: s.Info.Name, Index: s.Info.Index, Warmup: s.Info.Warmup, Cancelled: s.Cancelled, Sessions: s.Phase.Sessions, SessionsDone: s.Finished, Grace: s.Phase.Grace, Sent: s.Sent, Finished: s.Completed + s.Cancelled, Errors: s.Errors, InFlight: s.InFlight(),
		Requests: s.Phase.Requests, Duration: s.Phase.Duration, Elapsed: max(0, time.Duration(now-s.Started)), Sending: s.SentAll == 0, Began: time.Unix(0, clock.Wall(s.Started)),
	}, true
}
