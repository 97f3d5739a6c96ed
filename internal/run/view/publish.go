package view

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aiperf/internal/report/artifact"
	"aiperf/internal/report/ui/livefile"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/component"
)

// Pauses between two writes of the live file, and how long the end of a run waits for a file system that does not respond.
const (
	publishPause    = 250 * time.Millisecond
	maxPublishPause = 2 * time.Second
	publishFactor   = 20 // pause as a multiple of the time that a snapshot and its write take
	removeLimit     = 500 * time.Millisecond
)

// publisher is the component that writes the live file, in which other processes see the progress of the run. It has its own goroutine: nothing waits
// for the file.
type publisher struct {
	component.Passive
	snapshots *snapshotter
	dir       string
	version   string
	id        string // id of the run
	stop      chan struct{}
	done      chan struct{}
}

// NewPublisher returns the component that writes the live file of a view into a directory.
func NewPublisher(view *View, dir, version, id string) component.Component {
	return &publisher{snapshots: newSnapshotter(view), dir: dir, version: version, id: id, stop: make(chan struct{}), done: make(chan struct{})}
}

// Start implements component.
func (p *publisher) Start(context.Context) error {
	go p.run()
	return nil
}

// Stop implements component: it removes the file.
func (p *publisher) Stop(context.Context) error {
	close(p.stop)
	select {
	case <-p.done:
	case <-time.After(removeLimit):
	}
	return nil
}

func (p *publisher) run() {
	defer close(p.done)
	path := filepath.Join(p.dir, livefile.Name)
	live := livefile.LiveState{Version: p.version, Run: p.id, PID: int64(os.Getpid())}
	live.Host, _ = os.Hostname() // without a host name it is unknown whether the process still exists
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			_ = os.Remove(path) // a file that stays counts as a run that died, and the next run replaces it
			return
		case from := <-timer.C:
			p.update(&live)
			_ = artifact.WriteFile(path, live.Bytes()) // an error only means that nobody can watch the run
			timer.Reset(min(max(publishPause, publishFactor*time.Since(from)), maxPublishPause))
		}
	}
}

// sharedLines is the number of log lines in the file; the last ones are kept.
const sharedLines = 100

func (p *publisher) update(live *livefile.LiveState) {
	live.Written = time.Now()
	s := &live.State
	const widest = 200
	p.snapshots.fill(liveview.View{Width: widest, All: true}, s)
	p.snapshots.mu.Lock()
	live.Log = p.snapshots.logged
	p.snapshots.mu.Unlock()
	s.Log = slices.Clone(s.Log[max(0, len(s.Log)-sharedLines):]) // the encoder modifies what it visits, and the log belongs to the view
}
