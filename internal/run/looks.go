package run

import (
	"context"
	"sync"
	"time"

	"aiperf/internal/clock"
	"aiperf/internal/load"
)

// Watcher follows the requests of the profiling phases while a run goes on, and may end it. Many goroutines call its methods, which must not wait;
// instants are ns of the wall clock.
type Watcher interface {
	Sent(id string, at int64)
	First(id string, at int64) // the first content of a streamed answer
	Ended(id string, at int64) // its row comes a moment later
	// Looks are when Look is called, counted from the start of the first profiling phase, in their order.
	Looks() []time.Duration
	// Look tells whether the run may end: nothing more is sent then, and what is in flight is cut.
	Look(start int64, after time.Duration) (enough bool)
}

// follow has somebody told of every request.
func (e *executor) follow(w Watcher) {
	if w != nil {
		e.watcher, e.firstToken = w, true
	}
}

// watchable is the load as looks see it.
type watchable interface {
	Snapshot() load.Snapshot
	Finish()
}

// looks is the component that has a watcher look at its instants, and ends the load when that has seen enough.
type looks struct {
	passive
	watcher Watcher // nil = nobody looks
	load    watchable
	once    sync.Once
	stop    chan struct{}
	done    sync.WaitGroup
}

func newLooks(w Watcher, of watchable) *looks {
	return &looks{watcher: w, load: of, stop: make(chan struct{})}
}

// PhaseStart implements component.
func (l *looks) PhaseStart(p *load.PhaseInfo) {
	if l.watcher != nil && !p.Warmup {
		l.once.Do(func() {
			started := l.load.Snapshot().Started
			l.done.Go(func() { l.run(started) })
		})
	}
}

// Stop implements component.
func (l *looks) Stop(context.Context) error {
	close(l.stop)
	l.done.Wait()
	return nil
}

func (l *looks) run(started int64) {
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
