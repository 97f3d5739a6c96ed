package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
	"The run is not disturbed, and goes on when this ends. A run that is over, or whose process died, is told of in one line.\n\n" +
	"Without a terminal it says how the run goes on in plain lines."

// watchTable is the flags of watch.
func watchTable() *setting.Table {
	return setting.NewTable(rowsOfProfile([2]string{"--ui", "dashboard; none without a terminal"}, [2]string{"--stats-interval", "30"}))
}

// watchCommand shows a run of another process.
func (p *Program) watchCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "watch RUN-DIR|SERIES-DIR", short: "show a run that goes on in another process", long: watchLong, table: watchTable,
		bare: cobra.ShellCompDirectiveFilterDirs, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
			if len(set.Words) != 1 {
				return fmt.Errorf("watch takes one directory of a run, not %d; see aiperf watch --help", len(set.Words))
			}
			w := &watching{Program: p, root: filepath.Clean(set.Words[0]), pause: 30 * time.Second}
			if list := set.Floats("--stats-interval"); len(list) > 0 {
				w.pause = time.Duration(list[0] * float64(time.Second))
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
	leave func() // ends it, and not the run

	mu   sync.Mutex
	dir  string // of the run
	told *livefile.Told
	log  []board.Line
}

// watchPause is the pause between two looks at the file of the run.
const watchPause = 250 * time.Millisecond

// watch follows the run until it is over, or nobody watches any more.
func (w *watching) watch(ctx context.Context, set *setting.CommandLine) (status int, err error) {
	if info, err := os.Stat(w.root); errors.Is(err, fs.ErrNotExist) {
		return 1, fmt.Errorf("there is no directory %s", w.root)
	} else if err != nil {
		return 1, err
	} else if !info.IsDir() {
		return 1, fmt.Errorf("%s is no directory; watch wants that of a run", w.root)
	}
	if goes, err := w.begin(); err != nil || !goes {
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
	_ = shown.Stop() // what is left to say is said below the view, whatever became of it
	return w.conclude(err)
}

// errLeft tells that the user has seen enough.
var errLeft = errors.New("left")

// begin looks for the run that goes on; false = there is none.
func (w *watching) begin() (bool, error) {
	w.dir = w.root
	told, err := livefile.Read(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		below := livefile.Find(w.root, time.Now())
		if below == "" {
			return false, nil
		}
		w.dir = below
		told, err = livefile.Read(w.dir)
	}
	if err != nil {
		return false, err
	}
	w.take(told)
	why := told.Dead(time.Now())
	if why != "" {
		return false, deadError(why)
	}
	return true, nil
}

// deadError is why a run counts as dead.
type deadError string

func (e deadError) Error() string { return "the run has died: " + string(e) }

// betweenRuns is how long the next run of a series may take to begin.
const betweenRuns = 5 * time.Second

// follow reads what the run tells until it tells no more, and calls each after every look.
func (w *watching) follow(ctx context.Context, each func()) error {
	tick := time.NewTicker(watchPause)
	defer tick.Stop()
	var gone time.Time // since when the run is over
	for {
		each()
		select {
		case <-ctx.Done():
			return errLeft
		case <-tick.C:
		}
		now := time.Now()
		told, err := livefile.Read(w.dir)
		switch {
		case err == nil:
			w.take(told)
			if why := told.Dead(now); why != "" {
				return deadError(why)
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		default:
			if gone.IsZero() {
				gone = now
			}
			next := ""
			if w.dir != w.root {
				next = livefile.Find(w.root, now)
			}
			if next != "" {
				w.mu.Lock()
				w.dir, w.log, gone = next, nil, time.Time{}
				w.mu.Unlock()
			} else if w.dir == w.root || now.Sub(gone) > betweenRuns {
				return nil
			}
		}
	}
}

// take notes what the run told, and the lines of its log that are new.
func (w *watching) take(told *livefile.Told) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := told.State.Log
	if w.told != nil && w.told.PID == told.PID && told.Log >= w.told.Log {
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
	if silent := time.Since(w.told.Written); silent > noNews {
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
	err := w.follow(ctx, func() {
		w.fill(board.View{Width: w.Progress}, &s)
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
	runs, err := runfiles.Find([]string{w.dir}, func(string, ...any) {})
	if err != nil || len(runs) == 0 {
		layout := artifact.NewLayout(w.dir, "")
		switch _, err := os.Stat(layout.Log()); {
		case w.told != nil && err == nil:
			w.line("the run in " + w.dir + " is over; its log: " + layout.Log())
			return 0, nil
		case err == nil:
			return 1, fmt.Errorf("%s: the run is over and left no results under the usual names; its log: %s", w.dir, layout.Log())
		}
		return 1, fmt.Errorf("%s holds no run, and no run goes on below it", w.dir)
	}
	for _, r := range runs {
		w.line(over(r))
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
	for _, f := range []struct{ tag, words string }{{"request_count", "%s requests"}, {"error_request_count", "%s errors"}, {"request_throughput", "%s requests/s"}} {
		if m := s.Figures[f.tag]; m != nil {
			parts = append(parts, fmt.Sprintf(f.words, draw.Round(m.Stats["avg"])))
		}
	}
	return strings.Join(parts, ", ") + "; its report: " + artifact.NewLayout(r.Dir, "").Console()
}
