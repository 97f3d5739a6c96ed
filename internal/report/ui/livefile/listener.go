package livefile

import (
	"fmt"
	"os"
	"time"

	"aiperf/internal/report/ui/liveview"
)

// How long a run may be silent until it counts as dead: if its process has certainly ended, if that is unknown, and if a process with its number
// exists. That process may be stopped, or be a different one. And the age from which a file of another machine, with another clock, counts as left
// behind.
const (
	goneAfter  = 4 * time.Second // twice the longest pause between two writes
	deadAfter  = time.Minute
	stillAfter = 10 * time.Minute
	leftAfter  = time.Hour
)

// Listener decides whether a run is alive: it stores what the run last wrote and when that changed. It uses only the clock of this machine, since that
// of another machine may be wrong.
type Listener struct {
	state    *LiveState
	lastNews time.Time
}

// Hear processes the present content of the file, which may be unchanged.
func (l *Listener) Hear(t *LiveState, now time.Time) {
	if l.state != nil && l.state.PID == t.PID && l.state.Written.Equal(t.Written) {
		return
	}
	l.state, l.lastNews = t, now
	if t.onThisMachine() && t.Written.Before(now) {
		l.lastNews = t.Written
	}
}

// Silent returns how long the file has not changed.
func (l *Listener) Silent(now time.Time) time.Duration { return max(0, now.Sub(l.lastNews)) }

// Dead returns why the run must have ended without removing its file; "" = it may be alive.
func (l *Listener) Dead(now time.Time) (why string) {
	switch silent := l.Silent(now); {
	case l.state == nil:
	case silent > goneAfter && l.state.processEnded():
		return fmt.Sprintf("its process (%d) does not exist any more", l.state.PID)
	case silent > stillAfter, silent > deadAfter && !l.state.onThisMachine():
		return fmt.Sprintf("it has written nothing for %s", liveview.Span(silent))
	}
	return ""
}

// isStale reports whether a file looks like one that was left behind.
func (t *LiveState) isStale(now time.Time) bool {
	silent := now.Sub(t.Written)
	return silent > goneAfter && t.processEnded() || silent > deadAfter && t.onThisMachine() || silent > leftAfter
}

// onThisMachine reports whether the run is on this machine.
func (t *LiveState) onThisMachine() bool {
	host, err := os.Hostname()
	return err == nil && host == t.Host
}

// processEnded reports whether the process of the run has certainly ended.
func (t *LiveState) processEnded() bool { return t.onThisMachine() && !runs(int(t.PID)) }
