package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/artifact"
	"aiperf/internal/draw"
	"aiperf/internal/runfiles"
	"aiperf/internal/setting"
	"aiperf/internal/terminal"
	"aiperf/internal/ui"
	"aiperf/internal/ui/board"
	"aiperf/internal/ui/dashboard"
	"aiperf/internal/ui/livefile"
)

const watchLong = "Shows a run that goes on in another process, from its artifact directory or that of its series, as the run itself would show it. " +
	"The run is not disturbed, and goes on when this ends. A run that is over, or whose process died, is told of in one line. " +
	"The files may lie on a slow file system: what is shown is as old as they are, and says so.\n\n" +
	"Without a terminal it says how the run goes on in plain lines."

// watchTable is the flags of watch.
func watchTable() *setting.Table {
	rows := rowsOfProfile([2]string{"--ui", "dashboard; none without a terminal"}, [2]string{"--stats-interval", "30"})
	return setting.NewTable(append(rows, setting.Row{
		Flags: []string{"--wait"}, Kind: setting.Float, Unit: "s", Bounds: ">= 0", Default: "0", Help: "how long a run, or its directory, may take to begin, in s",
	}))
}

// watchCommand shows a run of another process.
func (p *Program) watchCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "watch RUN-DIR|SERIES-DIR", short: "live view of a run in another process", long: watchLong, table: watchTable,
		bare: cobra.ShellCompDirectiveFilterDirs, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if len(set.Words) != 1 {
				return fmt.Errorf("watch takes one directory of a run, not %d; see aiperf watch --help", len(set.Words))
			}
			w := &watching{Program: p, root: filepath.Clean(set.Words[0]), pause: 30 * time.Second, read: livefile.Read}
			if list := set.Floats("--stats-interval"); len(list) > 0 {
				w.pause = time.Duration(list[0] * float64(time.Second))
			}
			if list := set.Floats("--wait"); len(list) > 0 {
				w.wait = time.Duration(list[0] * float64(time.Second))
			}
			ctx, done := cmd.Context(), func(status int) int { return status }
			if p.Watch != nil {
				ctx, done = p.Watch(ctx, io.Discard)
			}
			ctx, w.leave = context.WithCancel(ctx)
			defer w.leave()
			status, err := w.watch(ctx, set)
			if status = done(status); err != nil {
				return err
			}
			if status != 0 {
				return exit(status)
			}
			return nil
		},
	})
}

// watching is one run that is watched.
type watching struct {
	*Program
	root  string // that the user named
	pause time.Duration
	wait  time.Duration // how long the run may take to begin
	leave func()        // ends it, and not the run
	read  func(dir string) (*livefile.Told, error)

	mu     sync.Mutex
	dir    string // of the run
	told   *livefile.Told
	listen livefile.Listener
	log    []board.Line
}

// watch follows the run until it is over, or nobody watches any more.
func (w *watching) watch(ctx context.Context, set *setting.CommandLine) (status int, err error) {
	if goes, err := w.begin(ctx); err != nil || !goes {
		return w.conclude(err)
	}
	kind := set.Text("--ui", "dashboard")
	if kind == "dashboard" && w.Dashboard == nil {
		if kind = "none"; set.Has("--ui") {
			w.warnf("%s dashboard needs a terminal; using simple", set.Spelled("--ui"))
			kind = "simple"
		}
	}
	if kind != "dashboard" {
		return w.conclude(w.speak(ctx, kind))
	}
	shown, err := dashboard.Start(dashboard.Options{Terminal: *w.Dashboard, Fill: w.fill, Copy: w.copied, Save: saveHere, Interrupt: w.leave, Follows: true})
	if err != nil {
		return 1, err
	}
	err = w.follow(ctx, func() {})
	if errors.Is(shown.Stop(), dashboard.ErrUnread) { // what is left to say would wait for a reader
		return 0, nil
	}
	return w.conclude(err) // below the view, whatever became of it
}

// watchPause is the pause between two looks at the file of the run.
const watchPause = 250 * time.Millisecond

// errLeft tells that the user has seen enough.
var errLeft = errors.New("left")

// look is what one look at the files found: what the run tells, that there is none, or why nobody knows.
type look struct {
	dir  string
	told *livefile.Told
	err  error
}

// looking looks, in a goroutine of its own: a file system may take as long as it likes, and neither the view nor the user waits for it. below: the run
// may be any that goes on at or below the root.
func (w *watching) looking(dir string, below bool) <-chan look {
	found := make(chan look, 1)
	go func() {
		told, err := w.read(dir)
		if errors.Is(err, fs.ErrNotExist) && below {
			if next := livefile.Find(w.root, time.Now()); next != "" {
				dir = next
				told, err = w.read(dir)
			}
		}
		found <- look{dir, told, err}
	}()
	return found
}

// readPatience is how long files may say what nobody understands: they may be copied in pieces from another machine, or replaced meanwhile.
const readPatience = 10 * time.Second

// trouble is why the files have not been understood, and since when.
type trouble struct {
	err   error
	since time.Time
}

// lasts notes how a look went, and returns the error that has lasted too long.
func (t *trouble) lasts(err error, now time.Time) error {
	switch {
	case err == nil:
		*t = trouble{}
	case errors.Is(err, livefile.ErrVersion):
		return err
	case t.err == nil:
		*t = trouble{err, now}
	case now.Sub(t.since) > readPatience:
		return err
	}
	return nil
}

// begin looks for the run that goes on, and waits for one as long as asked; false = there is none.
func (w *watching) begin(ctx context.Context) (bool, error) {
	w.dir = w.root
	until, bad, told := time.Now().Add(w.wait), trouble{}, false
	for {
		var found look
		select {
		case <-ctx.Done():
			return false, errLeft
		case found = <-w.looking(w.root, true):
		}
		now := time.Now()
		switch {
		case found.err == nil:
			w.take(found.dir, found.told, now)
			if why := w.listen.Dead(now); why != "" {
				return false, deadError(why)
			}
			return true, nil
		case !errors.Is(found.err, fs.ErrNotExist):
			if err := w.place(); err != nil {
				return false, err
			}
			if err := bad.lasts(found.err, now); err != nil {
				return false, err
			}
		case !now.Before(until):
			return false, w.place()
		case !told:
			told = true
			w.line("waiting for a run in " + w.root)
		}
		select {
		case <-ctx.Done():
			return false, errLeft
		case <-time.After(watchPause):
		}
	}
}

// place says what is wrong with the directory that the user named; nil = nothing.
func (w *watching) place() error {
	switch info, err := os.Stat(w.root); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s; --wait SECONDS waits for a run to make it", w.root)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory; watch wants that of a run", w.root)
	}
	return nil
}

// deadError is why a run counts as dead.
type deadError string

func (e deadError) Error() string { return "the run has died: " + string(e) }

// betweenRuns is how long the next run of a series may take to begin.
const betweenRuns = 5 * time.Second

// follow reads what the run tells until it tells no more, and calls each after every look, and where one takes its time.
func (w *watching) follow(ctx context.Context, each func()) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	var (
		gone    time.Time // since when the run is over
		bad     trouble
		pending <-chan look
	)
	for {
		each()
		select {
		case <-ctx.Done():
			return errLeft
		case <-tick.C:
			if pending == nil {
				pending = w.looking(w.dir, w.dir != w.root)
			}
			if why := w.dead(); why != "" {
				return deadError(why)
			}
		case found := <-pending:
			pending = nil
			now := time.Now()
			switch {
			case found.err == nil:
				bad, gone = trouble{}, time.Time{}
				w.take(found.dir, found.told, now)
			case !errors.Is(found.err, fs.ErrNotExist):
				if err := bad.lasts(found.err, now); err != nil {
					return err
				}
			case w.dir == w.root, !gone.IsZero() && now.Sub(gone) > betweenRuns:
				return nil
			case gone.IsZero():
				gone = now
			}
		}
	}
}

// dead tells that the run has ended without a word, and how that is known.
func (w *watching) dead() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listen.Dead(time.Now())
}

// take notes what the run of a directory told, and the lines of its log that are new.
func (w *watching) take(dir string, told *livefile.Told, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir != w.dir { // the next run of a series
		w.dir, w.log, w.told, w.listen = dir, nil, nil, livefile.Listener{}
	}
	w.listen.Hear(told, now)
	lines := told.State.Log
	if w.told != nil && w.told.Run == told.Run && told.Log >= w.told.Log {
		lines = lines[len(lines)-min(len(lines), told.Log-w.told.Log):]
	}
	const most = 2000
	w.log = append(w.log, lines...)
	if len(w.log) > 2*most { // what is shown shares the array
		w.log = append([]board.Line(nil), w.log[len(w.log)-most:]...)
	}
	w.told = told
}

// noNews is how long a run may say nothing until that is told.
const noNews = 4 * time.Second

// fill makes the state that is shown.
func (w *watching) fill(v board.View, s *board.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*s = w.told.State
	s.Log = w.log
	s.Fit(v.Width)
	if silent := w.listen.Silent(time.Now()); silent > noNews {
		s.NoNews = silent
	}
}

// copied is the log, for the clipboard.
func (w *watching) copied() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return board.LogText(w.log)
}

// saveHere keeps a picture of the screen in the working directory: the run's own is the run's.
func saveHere(name string, content []byte) (string, error) {
	return name, artifact.WriteFile(name, content)
}

// speak follows the run in plain lines, or in one line of a terminal.
func (w *watching) speak(ctx context.Context, kind string) error {
	teller := &ui.Teller{Pause: w.pause, Say: func(text string) { w.line(text) }, Warn: func(text string) { w.line("warning: " + text) }}
	drawn := kind == "simple" && w.Progress > 0
	if kind == "simple" && !drawn {
		teller.Steps = true
	}
	screen, paint := ui.NewScreen(w.Err), w.Paint
	var s board.State
	w.fill(board.View{}, &s)
	if s.Stage != board.Starting && !drawn {
		w.line(board.Sentence(&s))
	}
	silent := false
	err := w.follow(ctx, func() {
		w.fill(board.View{Width: w.Progress}, &s)
		if now := s.NoNews > 0; now != silent && !drawn {
			if silent = now; now {
				w.line(fmt.Sprintf("warning: no news of the run for %.0f s", s.NoNews.Seconds()))
			}
		}
		if drawn {
			row := board.Simple(&s, w.Progress)
			screen.Draw(string(row.Append(nil, paint)))
			return
		}
		teller.Tell(&s, time.Now())
	})
	if drawn {
		screen.Clear()
	}
	return err
}

func (w *watching) line(text string) {
	fmt.Fprintln(w.Out, terminal.Text(w.Secrets.Text(text)))
	w.flush()
}

// conclude says how it ended.
func (w *watching) conclude(err error) (int, error) {
	var dead deadError
	switch {
	case errors.Is(err, errLeft):
		w.line("the run in " + w.dir + " goes on; aiperf watch " + w.root + " shows it again")
		return 0, nil
	case errors.As(err, &dead):
		return 1, fmt.Errorf("%s: %w; what it wrote until then is readable, its log: %s", w.dir, err, artifact.NewLayout(w.dir, "").Log())
	case err != nil:
		return 1, err
	}
	return w.finished()
}

// finished tells of the run that has left the directory, from its files; those of another run are not its own.
func (w *watching) finished() (int, error) {
	layout := artifact.NewLayout(w.dir, "")
	runs, err := runfiles.Find([]string{w.dir}, func(string, ...any) {})
	_, noLog := os.Stat(layout.Log())
	if w.told != nil {
		runs = slices.DeleteFunc(runs, func(r *runfiles.Run) bool {
			s, err := r.Summary()
			return err != nil || s.BenchmarkID != w.told.Run
		})
	}
	switch {
	case err == nil && len(runs) > 0:
		for _, r := range runs {
			w.line(over(r))
		}
	case w.told != nil && w.told.State.Stage == board.Starting:
		return 1, fmt.Errorf("%s: the run ended before its first request", w.dir)
	case w.told != nil && noLog == nil:
		w.line("the run in " + w.dir + " is over; its log: " + layout.Log())
	case noLog == nil:
		return 1, fmt.Errorf("%s: the run is over and left no results under the usual names; its log: %s", w.dir, layout.Log())
	default:
		return 1, fmt.Errorf("%s holds no run, and no run goes on below it; --wait SECONDS waits for one", w.dir)
	}
	return 0, nil
}

// over is a finished run in one line.
func over(r *runfiles.Run) string {
	text := "the run in " + r.Dir + " is over"
	s, err := r.Summary()
	if err != nil {
		return text
	}
	how := "complete"
	switch {
	case s.Cancelled:
		how = "cancelled early"
	case !s.Complete:
		how = strings.TrimSuffix(s.IncompleteReason, ".")
	}
	parts := []string{text + ": " + how}
	for _, f := range []struct{ tag, noun string }{{"request_count", "request"}, {"error_request_count", "error"}} {
		if n, ok := s.Stat(f.tag, "avg"); ok {
			parts = append(parts, terminal.Plural(int64(n), f.noun))
		}
	}
	if rate, ok := s.Stat("request_throughput", "avg"); ok {
		parts = append(parts, draw.Round(rate)+" requests/s")
	}
	return strings.Join(parts, ", ") + "; its report: " + artifact.NewLayout(r.Dir, "").Console()
}
