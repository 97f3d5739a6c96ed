package watch

import (
	"context"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/run/component"
	"aiperf/internal/workload/load"
)

// Watcher follows the requests of the profiling phases during a run and may end it. Many goroutines call its methods, which must not block. Instants
// are ns of the wall clock.
type Watcher interface {
	Sent(id string, at int64)
	First(id string, at int64) // first content of a streamed answer
	Ended(id string, at int64) // end of a request; its row comes a moment later
	// Looks returns when Look is called, in ascending order, as times since the start of the first profiling phase.
	Looks() []time.Duration
	// Look reports whether the run may end. If so, nothing more is sent and requests in flight are cancelled.
	Look(start int64, after time.Duration) (enough bool)
}

// WatchedLoad is the part of the load that a watcher needs.
type WatchedLoad interface {
	Snapshot() load.Snapshot
	Finish()
}

// lookTimer is the component that calls Look at the requested times and ends the load when Look returns true.
type lookTimer struct {
	component.Passive
	watcher Watcher // nil = no watcher
	load    WatchedLoad
	once    sync.Once
	stop    chan struct{}
	done    sync.WaitGroup
}

// NewLookTimer returns the component that calls Look of a watcher at the times that the watcher asks for, and ends the load when Look returns true. w may be nil.
func NewLookTimer(w Watcher, of WatchedLoad) component.Component {
	return &lookTimer{watcher: w, load: of, stop: make(chan struct{})}
}

// PhaseStart implements component.
func (l *lookTimer) PhaseStart(p *load.PhaseInfo) {
	if l.watcher != nil && !p.Warmup {
		l.once.Do(func() {
			started := l.load.Snapshot().Started
			l.done.Go(func() { l.run(started) })
		})
	}
}

// Stop implements component.
func (l *lookTimer) Stop(context.Context) error {
	close(l.stop)
	l.done.Wait()
	return nil
}

func (l *lookTimer) run(started int64) {
	for _, after := range l.watcher.Looks() {
		timer := time.NewTimer(after - time.Duration(clock.Now()-started))
		select {
		case <-l.stop:
			timer.Stop()
			return
		case <-timer.C:
		}
		if l.watcher.Look(clock.Wall(started), after) {
			l.load.Finish()
			return
		}
	}
}
