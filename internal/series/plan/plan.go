// Package plan executes one invocation: one run, the same run several times, or a sweep over parameter values, with the statistics over all runs.
package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"syscall"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/console"
	"aiperf/internal/report/explanation"
	"aiperf/internal/report/livepage"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/dashboard"
	"aiperf/internal/run"
	"aiperf/internal/run/interrupt"
	"aiperf/internal/run/watch"
	"aiperf/internal/series/gate"
)

// Streams holds the input and output of an invocation.
type Streams struct {
	Out, Err io.Writer
	Width    int             // columns of Out; 0 = it is not a terminal
	Paint    *termdraw.Paint // of the live line on Err; nil = without colours
	Resized  func() int      // returns the current columns of Out; nil = they do not change
	Terminal bool            // Out is a terminal
	Colour   bool            // Out shows colours
	ASCII    bool            // Out shows only ASCII
	Progress int             // columns of the terminal behind Err; 0 = none
	// Dashboard is the terminal for a full-screen view; nil = there is none.
	Dashboard *dashboard.Terminal
	Version   string   // of this program
	Args      []string // the command line after the program's name
	Notes     []string // messages to the user from before the run; the log of every run repeats them
	Warnings  []string
	Secrets   *redact.Secrets // known secrets; nil = none yet
	// Machines opens the machines that send the requests; nil = this program was built without them.
	Machines func(ctx context.Context, o MachineOptions) (Machines, error)
	Next     func(dir string) []console.NextStep // returns commands that continue from the results in a directory; nil = none
	// StepSummary is the path in GITHUB_STEP_SUMMARY; empty = there is none.
	StepSummary string
}

// Watch handles the signals that interrupt an invocation: the first ends the context, the second the process. done stops that, and returns the exit
// status for the signal.
func Watch(ctx context.Context, w io.Writer) (watched context.Context, done func(status int) int) {
	watched, signals := interrupt.Watch(ctx, w)
	return watched, func(status int) int {
		defer signals.Stop()
		return signals.Exit(status)
	}
}

// Profile executes a resolved run and returns the exit status. The context comes from Watch: it ends when the user interrupts.
func Profile(ctx context.Context, run *config.Run, s Streams) int {
	if s.Secrets == nil {
		s.Secrets = redact.NewSecrets()
	}
	s.Secrets.Add(run.Secrets()...)
	i := invocation{Streams: s, ctx: ctx, run: run, command: commandLine(s.Args)}
	i.runner = i.benchmark
	hide, err := i.openLivePage(ctx)
	status := 1
	if err == nil {
		status, err = i.execute()
	}
	hide()
	err = errors.Join(err, i.close())
	if err != nil {
		fmt.Fprintf(s.Err, "error: %s\n", terminal.Text(s.Secrets.Text(err.Error())))
		if isLoss(err) {
			return statusLost
		}
		return 1
	}
	return status
}

// invocation is the execution of one command line.
type invocation struct {
	Streams
	ctx      context.Context
	run      *config.Run
	command  string
	runner   runner
	begun    bool              // a run has been started
	machines Machines          // that send the requests; nil = this process does, or there was no run yet
	onlyHere bool              // this process sends the next run itself, even if there are machines
	rotated  sync.Once         // for moving the results of the previous run away
	clear    func() error      // removes the files of an earlier series, once; nil = nothing to remove
	observe  pipeline.Observer // receives every row; nil = not needed
	web      *livepage.Server  // live page; nil = there is none
	place    seriesPlace       // of the next run in its series
	watch    watch.Watcher     // follows the requests and may end a run; nil = not needed
}

func (i *invocation) execute() (status int, err error) {
	switch s := i.run.Sweep; {
	case s != nil && s.Type == config.SweepSearch:
		return i.searching()
	case s != nil:
		if err := checkHandler(s.PostProcess); err != nil {
			return 1, err
		}
		if _, err := conditions(s.SLAFilters); err != nil {
			return 1, err
		}
	}
	cells, err := i.run.Cells()
	if err != nil {
		return 1, err
	}
	if len(cells) == 1 && i.run.Sweep == nil && i.run.MultiRun.NumRuns <= 1 {
		return i.single()
	}
	return i.several(cells)
}

// single executes one run.
func (i *invocation) single() (int, error) {
	done, err := i.runner(i.ctx, &i.run.Benchmark, i.run.RandomSeed, metric.RunInfo{RandomSeed: digits(i.run.RandomSeed)}, "")
	if done == nil {
		return 1, err
	}
	if e := i.show(done, &i.run.Benchmark); err == nil {
		err = e
	}
	if err != nil {
		return status(done), err
	}
	return i.judge([]gate.Subject{Subject(done)}, status(done))
}

// benchmark executes one benchmark.
func (i *invocation) benchmark(ctx context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, id string) (*metric.Run, error) {
	info.CLICommand = i.command
	shown := *b
	if dir, err := filepath.Abs(shown.Artifacts.Dir); err == nil {
		shown.Artifacts.Dir = dir
	}
	settings, err := (&config.Run{SchemaVersion: i.run.SchemaVersion, RandomSeed: seed, Benchmark: shown}).InputConfig()
	if err != nil {
		return nil, err
	}
	progress := 0
	if b.Runtime.UI != config.UINone {
		progress = i.Progress
	}
	var screen *dashboard.Terminal
	if b.Runtime.UI == config.UIDashboard && (id == "" || i.run.Sweep != nil || i.run.MultiRun.NumRuns > 1) { // not for ab, whose runs may be parallel: the screen shows one
		screen = i.Dashboard
	}
	machines, err := i.onMachines(ctx)
	if err != nil {
		return nil, err
	}
	done, err := run.Run(ctx, b, seed, run.Options{
		Machines:  machines,
		Dashboard: screen, Version: i.Version, BenchmarkID: id, Info: info, Place: i.place.next(), Err: i.Err, Interactive: i.first(), Reported: i.Terminal && i.Progress > 0 && id == "", Progress: progress, Paint: i.Paint, InputConfig: json.RawMessage(settings),
		Notes: i.Notes, Warnings: i.Warnings, Secrets: i.Secrets, Web: i.web, Observe: i.observe, Watch: i.watch, Begin: func() error { return i.begins(b.Artifacts.Dir) },
	})
	if i.run.Artifacts.KeepPrevious && done != nil && done.Profiling.Valid > 0 {
		err = errors.Join(err, artifact.DropOldest(i.run.Artifacts.Dir))
	}
	return done, err
}

// first reports whether this is the first run of an invocation on a terminal.
func (i *invocation) first() bool {
	was := i.begun
	i.begun = true
	return i.Terminal && !was
}

// show prints the report of a run and writes it to a file.
func (i *invocation) show(run *metric.Run, b *config.Benchmark) error {
	layout := artifact.NewLayout(b.Artifacts.Dir, b.Artifacts.Prefix)
	err := i.writeReport(run, layout)
	o := i.style()
	e := console.Console(i.Out, run, o)
	if e == nil {
		e = console.Footer(i.Out, run, o)
	}
	if e == nil && o.AllTables {
		e = explanation.Block(i.Out, b.Artifacts.Dir, o.Width)
	}
	if e == nil && i.Terminal {
		if i.Next != nil && run.Profiling.Valid > 0 {
			o.Next = i.Next(b.Artifacts.Dir)
		}
		e = console.Headline(i.Out, run, b.Artifacts.Dir, layout.Count(), o)
	}
	return errors.Join(err, ignoreGone(e))
}

// writeReport writes the report of a run to a file.
func (i *invocation) writeReport(run *metric.Run, layout artifact.Layout) error {
	return artifact.WriteFile(layout.Console(), []byte(i.Secrets.Values(string(console.Text(run, i.run.Environment.UI.ConsoleExportWidth, i.run.As)))))
}

// style returns the style of reports.
func (i *invocation) style() console.Options {
	o := console.Options{Spell: i.run.As, Width: i.Width, Colour: i.Colour, Terminal: i.Terminal, ASCII: i.ASCII, AllTables: i.run.Tables == config.TablesAll}
	if i.Resized != nil {
		o.Width = i.Resized()
	}
	if o.Width == 0 {
		o.Width = i.run.Environment.UI.ConsoleExportWidth
	}
	return o
}

// ignoreGone ignores the error of a reader of the report that has gone away; the files are complete.
func ignoreGone(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// status returns the exit status of a finished run: 1 if no request succeeded, or if the failed-request threshold ended it.
func status(run *metric.Run) int {
	if run.Profiling.Valid == 0 || run.IncompleteReason != "" && !run.Cancelled {
		return 1
	}
	return 0
}
