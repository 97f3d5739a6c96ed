package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/ui/board"
	"aiperf/internal/ui/livefile"
)

// Pauses of the file that other processes read, and how long the end of a run waits for a file system that takes nothing.
const (
	publishPause = 250 * time.Millisecond
	publishMost  = 2 * time.Second
	publishShare = 20 // times what a look and a write take
	unpublish    = 500 * time.Millisecond
)

// publisher is the component that keeps the file in which other processes see how the run goes on. It has a goroutine of its own: nothing waits
// for the file.
type publisher struct {
	passive
	eye     *eye
	dir     string
	version string
	id      string // of the run
	stop    chan struct{}
	done    chan struct{}
}

func newPublisher(view *liveView, dir, version, id string) *publisher {
	return &publisher{eye: newEye(view), dir: dir, version: version, id: id, stop: make(chan struct{}), done: make(chan struct{})}
}

// Start implements component.
func (p *publisher) Start(context.Context) error {
	go p.run()
	return nil
}

// Stop implements component: the run is over, and so is the file.
func (p *publisher) Stop(context.Context) error {
	close(p.stop)
	select {
	case <-p.done:
	case <-time.After(unpublish):
	}
	return nil
}

func (p *publisher) run() {
	defer close(p.done)
	path := filepath.Join(p.dir, livefile.Name)
	told := livefile.Told{Version: p.version, Run: p.id, PID: int64(os.Getpid())}
	told.Host, _ = os.Hostname() // without one nobody can tell that the process is gone
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			_ = os.Remove(path) // what is left behind counts as a run that died, and the next one replaces it
			return
		case from := <-timer.C:
			p.look(&told)
			_ = artifact.WriteFile(path, told.Bytes()) // without it nobody can watch; the run has no other need of it
			timer.Reset(min(max(publishPause, publishShare*time.Since(from)), publishMost))
		}
	}
}

// sharedLines are the last lines of the log that the file has.
const sharedLines = 100

func (p *publisher) look(told *livefile.Told) {
	told.Written = time.Now()
	s := &told.State
	const widest = 200
	p.eye.fill(board.View{Width: widest, All: true}, s)
	p.eye.mu.Lock()
	told.Log = p.eye.told
	p.eye.mu.Unlock()
	s.Log = slices.Clone(s.Log[max(0, len(s.Log)-sharedLines):]) // a coder writes to what it visits, and the log is the view's
}
