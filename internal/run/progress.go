package run

import (
	"context"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/config"
	"aiperf/internal/draw"
	"aiperf/internal/load"
	"aiperf/internal/ui"
	"aiperf/internal/ui/board"
)

// Pauses between two lines of statistics when nobody gave one: in the log beside a dashboard they are what was shown, later.
const (
	statsInterval      = 30 * time.Second
	statsIntervalShown = 5 * time.Second
)

// mostSilent is the longest pause of the view that tells of every tenth of a phase.
const mostSilent = time.Minute

// statsPause is the pause between two lines of statistics; 0 = there are none.
func statsPause(cfg *config.Benchmark, shown bool) time.Duration {
	switch s := cfg.Runtime.StatsInterval; {
	case s != nil:
		return s.Duration()
	case shown:
		return statsIntervalShown
	}
	return statsInterval
}

// progressPause is the pause between two looks.
const progressPause = 250 * time.Millisecond

// progress is the component that shows how the load goes: the live line, if there is a terminal for it, and lines of statistics, into the log,
// and to the error stream where nothing is drawn.
type progress struct {
	passive
	eye     *eye
	teller  *ui.Teller
	columns int         // of the live line
	paint   *draw.Paint // of the live line
	say     *reporter
	stop    chan struct{}
	done    chan struct{}
}

func newProgress(cfg *config.Benchmark, opts *Options, say *reporter) *progress {
	p := &progress{eye: newEye(say.view), columns: max(opts.Progress, 20), paint: opts.Paint, say: say, stop: make(chan struct{}), done: make(chan struct{})}
	if p.paint == nil {
		p.paint = draw.NewPaint(false, false, false)
	}
	drawn := say.screen != nil || say.view.shown != nil
	p.teller = &ui.Teller{Pause: statsPause(cfg, say.view.shown != nil), Say: func(text string) {
		if drawn {
			say.log.Info(text)
		} else {
			say.note("%s", text)
		}
	}, Warn: func(text string) {
		if say.view.shown != nil { // it has a place for it
			say.log.Warn(text)
		} else {
			say.warn(text)
		}
	}}
	if cfg.Runtime.UI != config.UINone && !drawn && (cfg.Runtime.StatsInterval == nil || p.teller.Pause > 0) {
		p.teller.Steps = true
		if cfg.Runtime.StatsInterval == nil {
			p.teller.Pause = mostSilent
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
	if p.teller.Pause > 0 {
		pause = min(pause, p.teller.Pause)
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var s board.State
	for {
		select {
		case <-p.stop:
			p.look(&s, time.Now())
			if p.say.screen != nil {
				p.say.screen.Clear()
			}
			return
		case now := <-tick.C:
			p.look(&s, now)
		}
	}
}

func (p *progress) look(s *board.State, now time.Time) {
	p.eye.fill(board.View{Width: p.columns}, s)
	p.teller.Tell(s, now)
	if p.say.screen != nil && s.Stage != board.Starting {
		row := board.Simple(s, p.columns)
		p.say.screen.Draw(string(row.Append(nil, p.paint)))
	}
}

// snapshot is how the load stands.
func snapshot(s load.Snapshot) (ui.Snapshot, bool) {
	if s.Info == nil || s.Started == 0 {
		return ui.Snapshot{}, false
	}
	now := clock.Now()
	if s.Ended != 0 {
		now = s.Ended
	}
	return ui.Snapshot{
		Phase: s.Info.Name, Index: s.Info.Index, Warmup: s.Info.Warmup, Cancelled: s.Cancelled, Sessions: s.Phase.Sessions, SessionsDone: s.Finished, Grace: s.Phase.Grace, Sent: s.Sent, Finished: s.Completed + s.Cancelled, Errors: s.Errors, InFlight: s.InFlight(),
		Requests: s.Phase.Requests, Duration: s.Phase.Duration, Elapsed: time.Duration(now - s.Started), Sending: s.SentAll == 0, Began: time.Unix(0, clock.Wall(s.Started)),
	}, true
}
