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
	told *LiveState
	news time.Time
}

// Hear processes the present content of the file, which may be unchanged.
func (l *Listener) Hear(t *LiveState, now time.Time) {
	if l.told != nil && l.told.PID == t.PID && l.told.Written.Equal(t.Written) {
		return
	}
	l.told, l.news = t, now
	if t.here() && t.Written.Before(now) {
		l.news = t.Written
	}
}

// Silent returns how long the file has not changed.
func (l *Listener) Silent(now time.Time) time.Duration { return max(0, now.Sub(l.news)) }

// Dead returns why the run must have ended without removing its file; "" = it may be alive.
func (l *Listener) Dead(now time.Time) (why string) {
	switch silent := l.Silent(now); {
	case l.told == nil:
	case silent > goneAfter && l.told.gone():
		return fmt.Sprintf("its process (%d) does not exist any more", l.told.PID)
	case silent > stillAfter, silent > deadAfter && !l.told.here():
		return fmt.Sprintf("it has written nothing for %s", liveview.Span(silent))
	}
	return ""
}

// left reports whether a file looks like one that was left behind.
func (t *LiveState) left(now time.Time) bool {
	silent := now.Sub(t.Written)
	return silent > goneAfter && t.gone() || silent > deadAfter && t.here() || silent > leftAfter
}

// here reports whether the run is on this machine.
func (t *LiveState) here() bool {
	host, err := os.Hostname()
	return err == nil && host == t.Host
}

// gone reports whether the process of the run has certainly ended.
func (t *LiveState) gone() bool { return t.here() && !runs(int(t.PID)) }
