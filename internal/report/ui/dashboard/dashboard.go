// Package dashboard shows the live view on a full-screen terminal: keys, mouse, resize, clipboard. Package liveview draws the view; this package
// connects it to bubbletea.
package dashboard

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

// Options says where a dashboard is shown and what it shows.
type Options struct {
	Terminal
	// Fill updates the state with what the view shows. One goroutine calls it, four times a second.
	Fill func(v liveview.View, s *liveview.State)
	// Interrupt is called for Ctrl+C, like the signal of a shell.
	Interrupt func()
	// Save stores an image of the screen under a name and returns its path; nil = it cannot be stored.
	Save func(name string, content []byte) (path string, err error)
	// Copy returns the whole log, for the clipboard.
	Copy    func() string
	Web     string // address of the live page of the run; "" = there is none
	Follows bool   // the run is in another process
}

// Terminal holds the streams of a dashboard.
type Terminal struct {
	In, Out *os.File
	Err     *terminal.Writer // text written there while the dashboard is shown appears afterwards; nil = not used
	Environ []string
	Paint   *termdraw.Paint
}

// Usable reports whether a dashboard can be shown: both streams are terminals, and this process is in the foreground.
func (t *Terminal) Usable() bool {
	return t.In != nil && t.Out != nil && term.IsTerminal(int(t.In.Fd())) && term.IsTerminal(int(t.Out.Fd())) && foreground(int(t.In.Fd()))
}

// Dashboard is a dashboard on the screen.
type Dashboard struct {
	options    Options
	program    *tea.Program
	begun      time.Time
	savedModes *term.State
	out        *pacedWriter
	release    func()
	keeper     *keeper
	done       chan struct{}
	once       sync.Once
	err        error  // of the program, valid after done
	stopped    error  // result of Stop
	ending     string // line below the view; "" = none
}

// replyTime is how long a terminal may take to answer the queries at the start. A view that ends sooner waits for it, so that the answers do not
// appear at the prompt.
const replyTime = 150 * time.Millisecond

// patience is how long the view may take to end: a terminal that does not read would block it forever.
const patience = time.Second

// frames is the largest number of screen updates per second. States come four times a second, and the first frame waits for one update period.
const frames = 25

// Start shows a dashboard. Text that was on the terminal before stays above it.
func Start(o Options) (*Dashboard, error) {
	d := &Dashboard{options: o, begun: time.Now(), done: make(chan struct{}), out: newPacedWriter(o.Out)}
	var err error
	if d.savedModes, err = term.GetState(int(o.In.Fd())); err != nil {
		return nil, err
	}
	if o.Err != nil {
		o.Err.Defer()
	}
	d.release = terminal.Guard(d.giveBack)
	d.keeper = keep(&o.Terminal)
	d.keeper.say(wordShown)
	d.out.ready = d.keeper.await
	m := &model{options: &d.options, keeper: d.keeper, slow: d.out.slow, behind: d.out.behind, every: tick, onLight: o.Paint.OnLight()}
	d.program = tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(d.out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(), tea.WithFPS(frames))
	go func() {
		defer close(d.done)
		_, d.err = d.program.Run()
	}()
	return d, nil
}

// ErrUnread means that nobody reads the terminal: it accepts no output, and writes to it block.
var ErrUnread = errors.New("the terminal accepts no output")

// End sets a line that Stop writes below the view.
func (d *Dashboard) End(line string) { d.ending = line + "\n" }

// Stop restores the terminal. It waits only patience for a terminal that does not read.
func (d *Dashboard) Stop() error {
	d.once.Do(func() {
		select {
		case <-d.done:
		case <-time.After(max(0, replyTime-time.Since(d.begun))):
		}
		go d.program.Quit()
		select {
		case <-d.done:
		case <-time.After(patience):
		}
		if d.ending != "" {
			d.out.add([]byte(d.ending)) // unlike Write it does not wait
		}
		if !d.out.drained(patience) {
			terminal.Restore()
			d.stopped = ErrUnread
			return
		}
		d.stopped = d.err
		d.release()
		d.keeper.release()
		discardInput(int(d.options.In.Fd()))
		if d.options.Err != nil && !waitFor(d.resume(), patience) { // later messages are stored until the terminal reads
			d.stopped = ErrUnread
		}
	})
	return d.stopped
}

// resume writes what was stored for the terminal while the view had it. It returns what is closed when that is written.
func (d *Dashboard) resume() <-chan struct{} {
	written := make(chan struct{})
	go func() {
		defer close(written)
		d.options.Err.Resume()
	}()
	return written
}

// reset ends all modes that a view sets: synchronised output, alternate screen, hidden cursor, mouse, bracketed paste, key protocols, colours.
const reset = "\x1b[?2026l\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[>4m\x1b[0m"

// giveBack restores the terminal without the program, which may hang or be about to exit.
func (d *Dashboard) giveBack() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(d.options.Out, reset)
		d.keeper.release() // until then the keeper writes the same if this process dies
		if d.options.Err != nil {
			d.options.Err.Resume()
		}
	}()
	_ = term.Restore(int(d.options.In.Fd()), d.savedModes)
	select {
	case <-written:
	case <-time.After(200 * time.Millisecond):
	}
}
