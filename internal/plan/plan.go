// Package plan is what one invocation does: one run, the same run several times, or a sweep over the values of its parameters, and what
// they add up to.
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

	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/draw"
	"aiperf/internal/gate"
	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
	"aiperf/internal/redact"
	"aiperf/internal/report"
	"aiperf/internal/run"
	"aiperf/internal/terminal"
	"aiperf/internal/ui/dashboard"
)

// Streams are where an invocation talks to.
type Streams struct {
	Out, Err io.Writer
	Width    int         // columns of Out, 0 = it is no terminal
	Paint    *draw.Paint // of the live line on Err; nil = without colours
	Resized  func() int  // columns of Out by now; nil = they do not change
	Terminal bool        // Out is a terminal
	Colour   bool        // Out shows colours
	ASCII    bool        // Out shows ASCII only
	Progress int         // columns of the terminal behind Err, 0 = none
	// Dashboard is the terminal of a full-screen view; nil = none can show one.
	Dashboard *dashboard.Terminal
	Version   string   // of this program
	Args      []string // the command line after the program's name
	Notes     []string // what the user was told before; the log of every run repeats it
	Warnings  []string
	Secrets   *redact.Secrets                    // that are known; nil = none yet
	Next      func(dir string) []report.NextStep // commands that continue from the results in a directory; nil = none
	// StepSummary is the file of GITHUB_STEP_SUMMARY, empty: there is none.
	StepSummary string
}

// Watch begins to listen for the signals that interrupt an invocation: the first ends the context, the second the process. done ends it,
// and turns the exit status into the one that a signal gives.
func Watch(ctx context.Context, w io.Writer) (watched context.Context, done func(status int) int) {
	watched, signals := run.Watch(ctx, w)
	return watched, func(status int) int {
		defer signals.Stop()
		return signals.Exit(status)
	}
}

// Profile carries out a resolved run and returns the exit status. The context is one of Watch: its end is the user's interruption.
func Profile(ctx context.Context, run *config.Run, s Streams) int {
	if s.Secrets == nil {
		s.Secrets = redact.NewSecrets()
	}
	s.Secrets.Add(run.Secrets()...)
	i := invocation{Streams: s, ctx: ctx, run: run, command: commandLine(s.Args)}
	i.runner = i.benchmark
	status, err := i.do()
	if err != nil {
		fmt.Fprintf(s.Err, "error: %s\n", terminal.Text(s.Secrets.Text(err.Error())))
		return 1
	}
	return status
}

// invocation is one command line under way.
type invocation struct {
	Streams
	ctx     context.Context
	run     *config.Run
	command string
	runner  runner
	begun   bool              // some run has been started
	rotated sync.Once         // the results of the run before were moved aside
	clear   func() error      // removes what an earlier series left, once; nil = there is nothing to remove
	observe pipeline.Observer // sees every row; nil = nobody does
	watch   run.Watcher       // follows the requests and may end a run; nil = nobody does
}

func (i *invocation) do() (status int, err error) {
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

// single is one run.
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

// benchmark runs one benchmark.
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
	if b.Runtime.UI == config.UIDashboard && id == "" { // of one run: one screen shows one
		screen = i.Dashboard
	}
	done, err := run.Run(ctx, b, seed, run.Options{
		Dashboard: screen, Version: i.Version, BenchmarkID: id, Info: info, Err: i.Err, Interactive: i.first(), Reported: i.Terminal && i.Progress > 0 && id == "", Progress: progress, Paint: i.Paint, InputConfig: json.RawMessage(settings),
		Notes: i.Notes, Warnings: i.Warnings, Secrets: i.Secrets, Observe: i.observe, Watch: i.watch, Begin: func() error { return i.begins(b.Artifacts.Dir) },
	})
	if i.run.Artifacts.KeepPrevious && done != nil && done.Profiling.Valid > 0 {
		err = errors.Join(err, artifact.DropOldest(i.run.Artifacts.Dir))
	}
	return done, err
}

// first tells whether this is the first run of an invocation at a terminal.
func (i *invocation) first() bool {
	was := i.begun
	i.begun = true
	return i.Terminal && !was
}

// show prints the report of a run and leaves it as a file.
func (i *invocation) show(run *metric.Run, b *config.Benchmark) error {
	layout := artifact.NewLayout(b.Artifacts.Dir, b.Artifacts.Prefix)
	err := i.keep(run, layout)
	o := i.look()
	e := report.Console(i.Out, run, o)
	if e == nil {
		e = report.Footer(i.Out, run, o)
	}
	if e == nil && i.Terminal {
		if i.Next != nil && run.Profiling.Valid > 0 {
			o.Next = i.Next(b.Artifacts.Dir)
		}
		e = report.Headline(i.Out, run, b.Artifacts.Dir, layout.Count(), o)
	}
	return errors.Join(err, ignoreGone(e))
}

// keep leaves the report of a run as a file.
func (i *invocation) keep(run *metric.Run, layout artifact.Layout) error {
	return artifact.WriteFile(layout.Console(), []byte(i.Secrets.Values(string(report.ConsoleText(run, i.run.Environment.UI.ConsoleExportWidth, i.run.As)))))
}

// look is how reports are drawn.
func (i *invocation) look() report.Options {
	o := report.Options{Spell: i.run.As, Width: i.Width, Colour: i.Colour, Terminal: i.Terminal, ASCII: i.ASCII, AllTables: i.run.Tables == config.TablesAll}
	if i.Resized != nil {
		o.Width = i.Resized()
	}
	if o.Width == 0 {
		o.Width = i.run.Environment.UI.ConsoleExportWidth
	}
	return o
}

// ignoreGone takes no offence at a reader of the report that went away; the files are complete.
func ignoreGone(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// status is the exit status of a finished run: 1 if no request succeeded, or the failed-request threshold ended it.
func status(run *metric.Run) int {
	if run.Profiling.Valid == 0 || run.IncompleteReason != "" && !run.Cancelled {
		return 1
	}
	return 0
}
