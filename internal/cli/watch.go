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

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/report/ui/livefile"
	"aiperf/internal/report/ui/liveview"
)

const watchLong = "Shows a run of another process, from its artifact directory or that of its series, in the same view as the run itself. " +
	"The run is not disturbed and continues after watch exits. A run that has ended, or whose process died, is reported in one line. " +
	"On a slow file system the view is as old as the files, and says so.\n\n" +
	"Without a terminal it prints plain progress lines. With --web it serves the live page instead, for the browser."

// watchTable returns the flags of watch.
func watchTable() *setting.Table {
	rows := rowsOfProfile([2]string{"--ui", "dashboard; none without a terminal"}, [2]string{"--stats-interval", "30"}, [2]string{"--web", "off; port 8090 or a free one"})
	return setting.NewTable(append(rows, setting.Row{
		Flags: []string{"--wait"}, Kind: setting.Float, Unit: "s", Bounds: ">= 0", Default: "0", Help: "longest wait for a run or its directory to appear, in s",
	}))
}

// watchCommand builds the command that shows a run of another process.
func (p *Program) watchCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "watch RUN-DIR|SERIES-DIR", short: "live view of a run in another process", long: watchLong, table: watchTable,
		bare: cobra.ShellCompDirectiveFilterDirs, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if len(set.Words) != 1 {
				return fmt.Errorf("watch takes one directory of a run, not %d; see aiperf watch --help", len(set.Words))
			}
			w := &watchedRun{Program: p, root: filepath.Clean(set.Words[0]), pause: 30 * time.Second, read: livefile.Read}
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
				return exitStatus(status)
			}
			return nil
		},
	})
}

// watchedRun is the run that is watched.
type watchedRun struct {
	*Program
	root  string // directory that the user named
	pause time.Duration
	wait  time.Duration // how long to wait for the run to begin
	leave func()        // stops watching, not the run
	read  func(dir string) (*livefile.LiveState, error)

	mu     sync.Mutex
	dir    string // directory of the run
	state  *livefile.LiveState
	listen livefile.Listener
	log    []liveview.Line

	page *watchedPage // nil = no live page
}

// watch follows the run until it is over, or until the user leaves.
func (w *watchedRun) watch(ctx context.Context, set *setting.CommandLine) (status int, err error) {
	if goes, err := w.begin(ctx); err != nil || !goes {
		return w.conclude(err)
	}
	kind, left := set.Text("--ui", "dashboard"), false
	if set.Has("--web") {
		if w.page, err = w.openPage(ctx, set); err != nil {
			return 1, err
		}
		defer func() { w.page.close(ctx, left || ctx.Err() != nil) }()
		if !set.Has("--ui") {
			kind = "none"
		}
	}
	if kind == "dashboard" && w.Dashboard == nil {
		if kind = "none"; set.Has("--ui") {
			w.warnf("%s dashboard needs a terminal; using simple", set.Spelled("--ui"))
			kind = "simple"
		}
	}
	if kind != "dashboard" {
		err := w.reportLines(ctx, kind)
		left = errors.Is(err, errLeft)
		return w.conclude(err)
	}
	shown, err := dashboard.Start(dashboard.Options{Terminal: *w.Dashboard, Fill: w.fill, Copy: w.logText, Save: saveHere, Interrupt: w.leave, Follows: true})
	if err != nil {
		return 1, err
	}
	err = w.follow(ctx, func() {})
	left = errors.Is(err, errLeft)
	if left { // a terminal that nobody reads may take what restores it and no more: only Stop does not block then
		shown.End(terminal.Text(w.Secrets.Text(w.farewell())))
	}
	if errors.Is(shown.Stop(), dashboard.ErrUnread) || left {
		return 0, nil
	}
	return w.conclude(err) // printed below the view, whatever the result
}

// watchPause is the pause between two reads of the live file.
const watchPause = 250 * time.Millisecond

// errLeft means that the user has left.
var errLeft = errors.New("left")

// liveLook is the result of one read: the state of the run, that there is none, or an error.
type liveLook struct {
	dir   string
	state *livefile.LiveState
	err   error
}

// readAsync reads the files in a separate goroutine: a slow file system blocks neither the view nor the user. below: find any running run in or below
// the root.
func (w *watchedRun) readAsync(dir string, below bool) <-chan liveLook {
	found := make(chan liveLook, 1)
	go func() {
		told, err := w.read(dir)
		if errors.Is(err, fs.ErrNotExist) && below {
			if next := livefile.Find(w.root, time.Now()); next != "" {
				dir = next
				told, err = w.read(dir)
			}
		}
		found <- liveLook{dir, told, err}
	}()
	return found
}

// readPatience is how long unreadable files are tolerated: they may be in the middle of a copy from another machine, or of a replacement.
const readPatience = 10 * time.Second

// liveTrouble is the last read error, and since when it lasts.
type liveTrouble struct {
	err   error
	since time.Time
}

// lasts records the result of a read, and returns an error that has lasted too long.
func (t *liveTrouble) lasts(err error, now time.Time) error {
	switch {
	case err == nil:
		*t = liveTrouble{}
	case errors.Is(err, livefile.ErrVersion):
		return err
	case t.err == nil:
		*t = liveTrouble{err, now}
	case now.Sub(t.since) > readPatience:
		return err
	}
	return nil
}

// begin finds the running run, and waits for one as long as requested; false = there is none.
func (w *watchedRun) begin(ctx context.Context) (bool, error) {
	w.dir = w.root
	until, bad, told := time.Now().Add(w.wait), liveTrouble{}, false
	for {
		var found liveLook
		select {
		case <-ctx.Done():
			return false, errLeft
		case found = <-w.readAsync(w.root, true):
		}
		now := time.Now()
		switch {
		case found.err == nil:
			w.storeState(found.dir, found.state, now)
			if why := w.listen.Dead(now); why != "" {
				return false, deadError(why)
			}
			return true, nil
		case !errors.Is(found.err, fs.ErrNotExist):
			if err := w.checkRoot(); err != nil {
				return false, err
			}
			if err := bad.lasts(found.err, now); err != nil {
				return false, err
			}
		case !now.Before(until):
			return false, w.checkRoot()
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

// checkRoot returns what is wrong with the directory that the user named; nil = nothing.
func (w *watchedRun) checkRoot() error {
	switch info, err := os.Stat(w.root); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; wait for a run to create it with --wait SECONDS", boundedfile.Missing(w.root))
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory; watch needs the directory of a run", w.root)
	}
	return nil
}

// deadError is why a run counts as dead.
type deadError string

func (e deadError) Error() string { return "the run has died: " + string(e) }

// betweenRuns is how long the next run of a series may take to begin.
const betweenRuns = 5 * time.Second

// follow reads the state of the run until its end. It calls each after every read, and also while a read is slow.
func (w *watchedRun) follow(ctx context.Context, each func()) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	var (
		gone    time.Time // since when the run is over
		bad     liveTrouble
		pending <-chan liveLook
	)
	for {
		each()
		w.page.follow()
		select {
		case <-ctx.Done():
			return errLeft
		case <-tick.C:
			if pending == nil {
				pending = w.readAsync(w.dir, w.dir != w.root)
			}
			switch why := w.deathEvidence(); {
			case why != "" && !gone.IsZero(): // it had removed its file: this was the last run of a series
				return nil
			case why != "":
				return deadError(why)
			}
		case found := <-pending:
			pending = nil
			now := time.Now()
			switch {
			case found.err == nil:
				bad, gone = liveTrouble{}, time.Time{}
				w.storeState(found.dir, found.state, now)
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

// deathEvidence returns the evidence that the run has ended without removing its file; "" = it is alive.
func (w *watchedRun) deathEvidence() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listen.Dead(time.Now())
}

// storeState stores the state of the run in a directory, and the new lines of its log.
func (w *watchedRun) storeState(dir string, told *livefile.LiveState, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if dir != w.dir { // the next run of a series
		w.dir, w.log, w.state, w.listen = dir, nil, nil, livefile.Listener{}
	}
	w.listen.Hear(told, now)
	lines := told.State.Log
	if w.state != nil && w.state.Run == told.Run && told.Log >= w.state.Log {
		lines = lines[len(lines)-min(len(lines), told.Log-w.state.Log):]
	}
	const most = 2000
	w.log = append(w.log, lines...)
	if len(w.log) > 2*most { // the views share the array, so it is copied
		w.log = append([]liveview.Line(nil), w.log[len(w.log)-most:]...)
	}
	w.state = told
}

// noNews is how long a run may be silent before that is reported.
const noNews = 4 * time.Second

// fill fills in the state for the view.
func (w *watchedRun) fill(v liveview.View, s *liveview.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*s = w.state.State
	s.Log = w.log
	s.Fit(v.Width)
	if silent := w.listen.Silent(time.Now()); silent > noNews {
		s.NoNews = silent
	}
}

// logText returns the log, for the clipboard.
func (w *watchedRun) logText() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return liveview.LogText(w.log)
}

// saveHere stores an image of the screen in the working directory, because the directory of the run belongs to the run.
func saveHere(name string, content []byte) (string, error) {
	return name, artifact.WriteFile(name, content)
}

// reportLines reports the run in plain lines, or in one line of a terminal.
func (w *watchedRun) reportLines(ctx context.Context, kind string) error {
	teller := &ui.PlainReporter{Pause: w.pause, Say: func(text string) { w.line(text) }, Warn: func(text string) { w.line("warning: " + text) }}
	drawn := kind == "simple" && w.Progress > 0
	if kind == "simple" && !drawn {
		teller.Steps = true
	}
	screen, paint := ui.NewScreen(w.Err), w.Paint
	var s liveview.State
	w.fill(liveview.View{}, &s)
	if s.Stage != liveview.Starting && !drawn {
		w.line(liveview.Sentence(&s))
	}
	silent := false
	err := w.follow(ctx, func() {
		w.fill(liveview.View{Width: w.Progress}, &s)
		if now := s.NoNews > 0; now != silent && !drawn {
			if silent = now; now {
				w.line(fmt.Sprintf("warning: no update from the run for %.0f s", s.NoNews.Seconds()))
			}
		}
		if drawn {
			row := liveview.Simple(&s, w.Progress)
			screen.Draw(string(row.Append(nil, paint)))
			return
		}
		teller.Report(&s, time.Now())
	})
	if drawn {
		screen.Clear()
	}
	return err
}

func (w *watchedRun) line(text string) {
	fmt.Fprintln(w.Out, terminal.Text(w.Secrets.Text(text)))
	w.flush()
}

// farewell says how to see a run again that its viewer leaves.
func (w *watchedRun) farewell() string {
	return "the run in " + w.dir + " continues; show it again with: aiperf watch " + w.root
}

// conclude reports how the run ended.
func (w *watchedRun) conclude(err error) (int, error) {
	var dead deadError
	switch {
	case errors.Is(err, errLeft):
		w.line(w.farewell())
		return 0, nil
	case errors.As(err, &dead):
		return 1, fmt.Errorf("%s: %w; the files it wrote before are readable; its log: %s", w.dir, err, artifact.NewLayout(w.dir, "").Log())
	case err != nil:
		return 1, err
	}
	return w.finished()
}

// finished reports the finished run from its files; files of another run are ignored.
func (w *watchedRun) finished() (int, error) {
	layout := artifact.NewLayout(w.dir, "")
	runs, err := runfiles.Find([]string{w.dir}, func(string, ...any) {})
	_, noLog := os.Stat(layout.Log())
	if w.state != nil {
		runs = slices.DeleteFunc(runs, func(r *runfiles.Run) bool {
			s, err := r.Summary()
			return err != nil || s.BenchmarkID != w.state.Run
		})
	}
	switch {
	case err == nil && len(runs) > 0:
		for _, r := range runs {
			w.line(finishedRun(r))
		}
	case w.state != nil && w.state.State.Stage == liveview.Starting:
		return 1, fmt.Errorf("%s: the run ended before its first request", w.dir)
	case w.state != nil && noLog == nil:
		w.line("the run in " + w.dir + " has ended; its log: " + layout.Log())
	case noLog == nil:
		return 1, fmt.Errorf("%s: the run has ended and left no results under the usual names; its log: %s", w.dir, layout.Log())
	default:
		return 1, fmt.Errorf("%s contains no run, and no run is in progress below it; wait for one with --wait SECONDS", w.dir)
	}
	return 0, nil
}

// finishedRun describes a finished run in one line.
func finishedRun(r *runfiles.Run) string {
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
		parts = append(parts, termdraw.Round(rate)+" requests/s")
	}
	return strings.Join(parts, ", ") + "; its report: " + artifact.NewLayout(r.Dir, "").Console()
}
