// Package dashboard shows the board on a terminal of its own: the full screen, keys, mouse, resize, clipboard. What is shown is package board's;
// this is what stands between it and bubbletea.
package dashboard

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"aiperf/internal/draw"
	"aiperf/internal/terminal"
	"aiperf/internal/ui/board"
)

// Options say where a dashboard is shown and what it shows.
type Options struct {
	Terminal
	// Fill brings the state up to the instant for what is shown of it. It is called by one goroutine, four times a second.
	Fill func(v board.View, s *board.State)
	// Interrupt is Ctrl+C, as from the shell.
	Interrupt func()
	// Save keeps a picture of the screen under a name and says where; nil = it cannot be kept.
	Save func(name string, content []byte) (path string, err error)
	// Copy is the whole log, for the clipboard.
	Copy    func() string
	Follows bool // the run is in another process
}

// Terminal is where a dashboard is shown.
type Terminal struct {
	In, Out *os.File
	Err     *terminal.Writer // what is written there meanwhile appears afterwards; nil = nobody writes
	Environ []string
	Paint   *draw.Paint
}

// Usable tells whether a dashboard can be shown: both ends are terminals, and this process may use them.
func (t *Terminal) Usable() bool {
	return t.In != nil && t.Out != nil && term.IsTerminal(int(t.In.Fd())) && term.IsTerminal(int(t.Out.Fd())) && foreground(int(t.In.Fd()))
}

// Dashboard is one that is shown.
type Dashboard struct {
	options Options
	program *tea.Program
	begun   time.Time
	before  *term.State
	out     *paced
	release func()
	keeper  *keeper
	done    chan struct{}
	once    sync.Once
	err     error // of the program, once done
	stopped error // what Stop returns
}

// replyTime is how long a terminal may take to answer what it is asked at the start: a view that ends sooner waits, or the answers land on the
// prompt.
const replyTime = 150 * time.Millisecond

// patience is how long the view may take to end: a terminal that reads nothing never lets it.
const patience = time.Second

// frames is the most that the screen is written a second: states come four times, the first frame waits for one such period.
const frames = 25

// Start shows one. What was written to the terminal before stays below it.
func Start(o Options) (*Dashboard, error) {
	d := &Dashboard{options: o, begun: time.Now(), done: make(chan struct{}), out: &paced{File: o.Out}}
	var err error
	if d.before, err = term.GetState(int(o.In.Fd())); err != nil {
		return nil, err
	}
	if o.Err != nil {
		o.Err.Aside()
	}
	d.release = terminal.Guard(d.giveBack)
	d.keeper = keep(&o.Terminal)
	d.keeper.say(wordShown)
	d.out.ready = d.keeper.await
	m := &model{options: &d.options, keeper: d.keeper, slow: d.out.slow, every: tick, onLight: o.Paint.OnLight()}
	d.program = tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(d.out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler(), tea.WithFPS(frames))
	go func() {
		defer close(d.done)
		_, d.err = d.program.Run()
	}()
	return d, nil
}

// ErrUnread tells that nobody reads the terminal: it takes nothing more, and whoever writes to it waits.
var ErrUnread = errors.New("the terminal takes nothing")

// Stop gives the terminal back, and waits a little for a terminal that does not read.
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
			terminal.Restore()
			d.stopped = ErrUnread
			return
		}
		d.stopped = d.err
		d.release()
		d.keeper.release()
		discardInput(int(d.options.In.Fd()))
		if d.options.Err != nil {
			d.options.Err.Resume()
		}
	})
	return d.stopped
}

// reset is what a terminal forgets of a view: synchronised output, the other screen, a hidden cursor, mouse, pasted text, key protocols, colours.
const reset = "\x1b[?2026l\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[>4m\x1b[0m"

// giveBack restores the terminal without the help of the program, which may hang or be about to end.
func (d *Dashboard) giveBack() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(d.options.Out, reset)
		d.keeper.release() // until then it writes the same if this process ends
		if d.options.Err != nil {
			d.options.Err.Resume()
		}
	}()
	_ = term.Restore(int(d.options.In.Fd()), d.before)
	select {
	case <-written:
	case <-time.After(200 * time.Millisecond):
	}
}

// paced is the terminal; it knows how long it took to write the last frame. The first write waits until it may.
type paced struct {
	*os.File
	ready func()
	took  atomic.Int64
}

// Write implements io.Writer.
func (p *paced) Write(b []byte) (int, error) {
	p.ready()
	from := time.Now()
	n, err := p.File.Write(b)
	p.took.Store(int64(time.Since(from)))
	return n, err
}

// slowWrite is how long a frame may take to be written on a line that is fast enough.
const slowWrite = 50 * time.Millisecond

// slow tells whether the line is slow.
func (p *paced) slow() bool { return time.Duration(p.took.Load()) > slowWrite }
