package run

import (
	"sync"
	"time"

	"aiperf/internal/ui/board"
)

// listingProgress is how far inputs.json is while the run waits for it. The listing sets it, views read it.
type listingProgress struct {
	mu    sync.Mutex
	began time.Time // when the run began to wait
	from  int       // conversations written by then
	done  int
	of    int // 0 = the run does not wait for the file
}

// set takes note of the conversations that are written. The first call starts the clock of the estimate.
func (l *listingProgress) set(done, of int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.began.IsZero() {
		l.began, l.from = time.Now(), done
	}
	l.done, l.of = done, of
}

// fill puts the share of the file and the time that it still needs into a state of the last stage. It leaves the state of a whole file alone.
func (l *listingProgress) fill(s *board.State, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Writing = board.Writing{}
	if s.Stage != board.Processing || l.done >= l.of {
		return
	}
	s.Writing = board.Writing{Done: int64(l.done), Of: int64(l.of)}
	s.Share, s.Known, s.Counts.ETA = float64(l.done)/float64(l.of), true, -1
	if written := l.done - l.from; written > 0 {
		s.Counts.ETA = time.Duration(float64(now.Sub(l.began)) * float64(l.of-l.done) / float64(written))
	}
}
