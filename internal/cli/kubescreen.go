package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/report/ui/livefile"
	"aiperf/internal/report/ui/liveview"
	"aiperf/internal/run/kube"
)

// screenPause is the pause between two requests for the state of a run on a cluster.
const screenPause = 500 * time.Millisecond

// deferredOutput is an output that can be withheld, for example while a full-screen view is shown.
type deferredOutput struct {
	out io.Writer

	mu       sync.Mutex
	withheld bool
	text     bytes.Buffer
}

// Write implements io.Writer.
func (d *deferredOutput) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.withheld {
		return d.text.Write(b)
	}
	return d.out.Write(b)
}

func (d *deferredOutput) withhold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.withheld = true
}

// release writes what was withheld.
func (d *deferredOutput) release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.withheld = false
	_, err := d.text.WriteTo(d.out)
	return err
}

// clusterScreen is the full-screen view of a run on a cluster. It begins when the run publishes its state.
type clusterScreen struct {
	*watchedRun
	follower  *kube.Follower
	run       *kube.Run
	output    *deferredOutput
	interrupt func()
	stopping  func() bool // reports whether the user has stopped the run; nil = the view is only that of a viewer
	results   string      // folder for the files of the run on this computer; "" = they stay where they are
	begin     beginView
	end       func() // nil = the run has published nothing yet
}

// beginView shows a view on a terminal until end is called.
type beginView func(dashboard.Options) (end func(), err error)

func fullScreen(o dashboard.Options) (end func(), err error) {
	d, err := dashboard.Start(o)
	if err != nil {
		return nil, err
	}
	return func() { _ = d.Stop() }, nil // a broken view must not end the run
}

// showRun shows a run on a cluster until the returned function is called. That prints the output of the run that was withheld. interrupt is called for Ctrl-C;
// stopping reports whether the user has stopped the run, and is nil if the view cannot stop it. dir is the folder for its files; "" = they are not fetched.
func (p *Program) showRun(ctx context.Context, f *kube.Follower, run *kube.Run, interrupt func(), stopping func() bool, dir string, begin beginView) (hide func() error) {
	s := &clusterScreen{
		watchedRun: &watchedRun{Program: p, root: run.Name, dir: run.Name}, follower: f, run: run, output: &deferredOutput{out: f.Out}, interrupt: interrupt, stopping: stopping, results: dir, begin: begin,
	}
	f.Out = s.output
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.poll(ctx)
	}()
	return func() error {
		cancel()
		<-ended
		if s.end != nil {
			s.end()
		}
		return s.output.release()
	}
}

// poll asks for the state of the run until the context ends, or until there cannot be a view.
func (s *clusterScreen) poll(ctx context.Context) {
	connector := kube.NewConnector(s.follower.Cluster, s.run)
	defer connector.Close()
	for {
		remote, err := connector.Remote(ctx)
		var state *livefile.LiveState
		if err == nil {
			state, err = remote.Live(ctx)
		}
		if err == nil {
			err = s.show(state)
		}
		if errors.Is(err, livefile.ErrVersion) || errors.Is(err, errNoScreen) {
			s.warnf("no live view: %v", err)
			return
		}
		select { // other errors are those of a network, or of a run between two parts
		case <-ctx.Done():
			return
		case <-time.After(screenPause):
		}
	}
}

// errNoScreen means that the terminal shows no view.
var errNoScreen = errors.New("the terminal shows none")

// show stores a state; the first one begins the view.
func (s *clusterScreen) show(state *livefile.LiveState) error {
	s.storeState(state.Run, state, time.Now())
	if s.end != nil {
		return nil
	}
	s.output.withhold()
	end, err := s.begin(dashboard.Options{Terminal: *s.Dashboard, Fill: s.fillStopping, Copy: s.logText, Save: saveHere, Interrupt: s.interrupt, Follows: s.stopping == nil})
	if err != nil {
		return errors.Join(errNoScreen, err, s.output.release())
	}
	s.end = end
	return nil
}

// fillStopping fills in the state, which may not know yet that the user has stopped the run.
func (s *clusterScreen) fillStopping(v liveview.View, state *liveview.State) {
	s.fill(v, state)
	state.Plan.Results = cmp.Or(s.results, state.Plan.Results)
	state.Stopping = state.Stopping || s.stopping != nil && s.stopping()
}

// interruptSelf sends this process the signal of Ctrl-C, which a full-screen view receives as a key.
func interruptSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(os.Interrupt)
	}
}
