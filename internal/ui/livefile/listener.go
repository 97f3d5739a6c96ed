package livefile

import (
	"fmt"
	"os"
	"time"

	"aiperf/internal/ui/board"
)

// How long a run may say nothing new until it counts as dead: where its process is known to be gone, where that cannot be told, and where there is a
// process of that number, which may be stopped, or another one by now. And how old the file of another machine may be, whose clock is another one,
// until it is one that was left behind.
const (
	goneAfter  = 4 * time.Second // two of its longest pauses
	deadAfter  = time.Minute
	stillAfter = 10 * time.Minute
	leftAfter  = time.Hour
)

// Listener knows what a run has told and when that was news, and judges by that whether the run lives. The clock is the listener's own: that of
// another machine may be wrong.
type Listener struct {
	told *Told
	news time.Time
}

// Hear takes what the run tells now, the same as before or not.
func (l *Listener) Hear(t *Told, now time.Time) {
	if l.told != nil && l.told.PID == t.PID && l.told.Written.Equal(t.Written) {
		return
	}
	l.told, l.news = t, now
	if t.here() && t.Written.Before(now) {
		l.news = t.Written
	}
}

// Silent is how long the run has said nothing new.
func (l *Listener) Silent(now time.Time) time.Duration { return max(0, now.Sub(l.news)) }

// Dead tells whether the run has ended without taking its file away, and how that is known; "" = nobody knows that it has.
func (l *Listener) Dead(now time.Time) (why string) {
	switch silent := l.Silent(now); {
	case l.told == nil:
	case silent > goneAfter && l.told.gone():
		return fmt.Sprintf("its process (%d) is gone", l.told.PID)
	case silent > stillAfter, silent > deadAfter && !l.told.here():
		return fmt.Sprintf("it has said nothing for %s", board.Span(silent))
	}
	return ""
}

// left tells a file that was left behind, as far as one look shows.
func (t *Told) left(now time.Time) bool {
	silent := now.Sub(t.Written)
	return silent > goneAfter && t.gone() || silent > deadAfter && t.here() || silent > leftAfter
}

// here tells whether the run is on this machine.
func (t *Told) here() bool {
	host, err := os.Hostname()
	return err == nil && host == t.Host
}

// gone tells that the process of the run is known to have ended.
func (t *Told) gone() bool { return t.here() && !runs(int(t.PID)) }
