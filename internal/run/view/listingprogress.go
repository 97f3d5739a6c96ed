package view

import (
	"sync"
	"time"

	"aiperf/internal/report/ui/liveview"
)

// listingProgress is the progress of inputs.json while the run waits for it. The FileWriter sets it, views read it.
type listingProgress struct {
	mu    sync.Mutex
	began time.Time // start of the wait
	from  int       // conversations written before began
	done  int
	of    int // 0 = the run does not wait for the file
}

// set stores the number of written conversations. The first call starts the clock of the estimate.
func (l *listingProgress) set(done, of int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.began.IsZero() {
		l.began, l.from = time.Now(), done
	}
	l.done, l.of = done, of
}

// fill adds the written share of the file and the estimated remaining time to a state of the last stage. It changes nothing once the file is complete.
func (l *listingProgress) fill(s *liveview.State, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Writing = liveview.WriteProgress{}
	if s.Stage != liveview.Processing || l.done >= l.of {
		return
	}
	s.Writing = liveview.WriteProgress{Done: int64(l.done), Of: int64(l.of)}
	s.Share, s.Known, s.Counts.ETA = float64(l.done)/float64(l.of), true, -1
	if written := l.done - l.from; written > 0 {
		s.Counts.ETA = time.Duration(float64(now.Sub(l.began)) * float64(l.of-l.done) / float64(written))
	}
}

// SetListing shows how many conversations inputs.json lists so far.
func (v *View) SetListing(done, of int) { v.listing.set(done, of) }
