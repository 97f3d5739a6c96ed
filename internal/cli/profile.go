package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/dataset"
)

// profileCommand builds the command that runs a benchmark.
func (p *Program) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:                "profile [flags]",
		Short:              "benchmark of one or more servers",
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, words []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeFlags(resolve.Flags, words, toComplete, cobra.ShellCompDirectiveNoFileComp)
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			if wantsHelp(words) {
				return p.profileHelp(helpPage(words))
			}
			if status := p.profile(cmd.Context(), words); status != 0 {
				return exitStatus(status)
			}
			return nil
		},
	}
	cmd.SetHelpFunc(func(*cobra.Command, []string) {
		_ = p.profileHelp("") // an error of standard output cannot be reported
	})
	return cmd
}

// wantsHelp reports whether -h or --help occurs before "--".
func wantsHelp(words []string) bool {
	for _, w := range words {
		switch w {
		case "--":
			return false
		case "-h", "--help":
			return true
		}
	}
	return false
}

// profile resolves the command line and runs it, or prints it. It can be interrupted at any time.
func (p *Program) profile(ctx context.Context, words []string) int {
	return p.watching(ctx, words, func(ctx context.Context) (*config.Run, *setting.CommandLine, resolve.Findings) {
		return p.resolve(ctx, words)
	})
}

// watching runs or prints the run that makeRun returns.
func (p *Program) watching(ctx context.Context, words []string, makeRun func(context.Context) (*config.Run, *setting.CommandLine, resolve.Findings)) int {
	done := func(status int) int { return status }
	if p.Watch != nil {
		ctx, done = p.Watch(ctx, p.Err)
	}
	return done(p.profileWatched(ctx, words, makeRun))
}

func (p *Program) profileWatched(ctx context.Context, words []string, makeRun func(context.Context) (*config.Run, *setting.CommandLine, resolve.Findings)) int {
	var run *config.Run
	var dry, genaiPlots bool
	var found resolve.Findings
	var forecast string
	p.Secrets.Add(redact.ArgSecrets(words, config.FlagSecret)...)
	if !within(ctx, func() {
		var set *setting.CommandLine
		run, set, found = locked(makeRun(ctx))
		genaiPlots = set.True("--generate-plots", false) && !set.True("--auto-plot", false)
		if dry = set.True("--dry-run", false); dry && len(found.Problems) == 0 {
			p.tokenizerFinding(ctx, run, set, &found)
			forecast = p.check(ctx, run, &found)
		}
	}) {
		p.errorf("%v before the first request; nothing was written", context.Cause(ctx))
		return 1
	}
	if run != nil {
		p.Secrets.Add(run.Secrets()...)
	}
	p.say(run, found)
	if len(found.Problems) > 0 {
		return 1
	}
	if dry {
		status := p.print(run)
		if programs := programsOf(run); programs != "" && status == 0 && logsInfo(run) {
			fmt.Fprintf(p.Err, "dry run: %s\n", terminal.Line(programs))
		}
		if forecast != "" && status == 0 && logsInfo(run) {
			fmt.Fprintf(p.Err, "dry run: %s\n", forecast)
		}
		return status
	}
	streams := p.Streams
	streams.Notes, streams.Warnings = found.Notes, found.Warnings
	status := p.Profile(ctx, run, streams)
	if run.Artifacts.HTML && runfiles.HasRun(run.Artifacts.Dir) {
		if err := p.htmlReports(run.Artifacts.Dir); err != nil {
			p.errorf("%s: %v", pageFile, err)
			status = max(status, 1)
		}
	}
	if run.Artifacts.OldFiles != "" {
		status = p.oldFiles(run, status)
	}
	if status == 0 && run.Artifacts.AutoPlot {
		status = p.autoPlot(ctx, run, genaiPlots)
	}
	return status
}

// within runs do, which may block (for example on a file that does not answer), and waits for it unless the user interrupts. do must have no effect if
// it is abandoned.
func within(ctx context.Context, do func()) bool {
	over := make(chan struct{})
	go func() {
		defer close(over)
		do()
	}()
	select {
	case <-over:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// tokenizerFinding adds a problem of the tokenizer for a run that is only checked.
func (p *Program) tokenizerFinding(ctx context.Context, run *config.Run, set *setting.CommandLine, found *resolve.Findings) {
	switch fault := p.tokenizerFault(ctx, run, set); {
	case fault == "":
	case published(run):
		found.Warnings, found.Unfetched = append(found.Warnings, fault), true
	default:
		found.Problems = append(found.Problems, fault)
	}
}

// check tests what can fail besides the flags, and describes what the run would do; "" if that is unknown.
func (p *Program) check(ctx context.Context, run *config.Run, found *resolve.Findings) string {
	if p.Check == nil || len(found.Problems) > 0 || found.Unfetched {
		return ""
	}
	if d := run.Dataset(); d.Type == config.DatasetPublic {
		found.Notes = append(found.Notes, "the rows of "+d.Dataset+" are fetched when the run starts; this check does not read them")
		return ""
	}
	if a := run.Accuracy; a != nil && a.DatasetPath == "" {
		found.Notes = append(found.Notes, "the problems of "+a.Benchmark+" are fetched when the run starts; this check does not read them")
		return ""
	}
	text, err := p.Check(ctx, run, p.Streams)
	var nothing *dataset.EmptyError
	switch {
	case errors.As(err, &nothing): // the configuration is valid, but its run is refused
		found.Warnings = append(found.Warnings, err.Error()+"; a run would be refused")
	case err != nil:
		found.Problems = append(found.Problems, err.Error())
	}
	return text
}

// logsInfo reports whether the log level allows informational messages.
func logsInfo(run *config.Run) bool {
	return slices.Contains([]string{"TRACE", "DEBUG", "INFO"}, run.Logging.Level)
}

// say prints the findings that the log level allows.
func (p *Program) say(run *config.Run, found resolve.Findings) {
	level := "INFO"
	if run != nil {
		level = run.Logging.Level
	}
	if len(found.Problems) == 0 && slices.Contains([]string{"TRACE", "DEBUG", "INFO"}, level) {
		for _, n := range found.Notes {
			p.printErr("note: %s", n)
		}
	}
	if level != "ERROR" && level != "CRITICAL" {
		for _, w := range found.Warnings {
			p.warnf("%s", w)
		}
	}
	for _, line := range found.Problems {
		p.errorf("%s", line)
	}
}

// modelLister returns the function that asks a server for its models; nil for a dry run, which sends nothing.
func (p *Program) modelLister(ctx context.Context, dry bool) resolve.ModelLister {
	if dry {
		return nil
	}
	return resolve.NewModelLister(ctx, "aiperf/"+Version())
}

// resolve resolves the command line. Errors in single flags are reported alone, because errors that follow from them do not help.
func (p *Program) resolve(ctx context.Context, words []string) (run *config.Run, set *setting.CommandLine, found resolve.Findings) {
	return p.resolveFor(ctx, words, nil)
}

// resolveFor resolves the command line of a run that pods send. mounted reports whether a path is on one of their volumes; nil = the run is sent from
// here.
func (p *Program) resolveFor(ctx context.Context, words []string, mounted func(path string) bool) (run *config.Run, set *setting.CommandLine, found resolve.Findings) {
	if p.old {
		words = withoutUnset(words)
	}
	words, note, err := infiniteRate(words)
	if err != nil {
		set, _ := setting.Scan(resolve.Flags, words)
		return nil, set, resolve.Findings{Problems: []string{err.Error()}}
	}
	if note != "" {
		defer func() { found.Notes = slices.Concat([]string{note}, found.Notes) }()
	}
	set, faults := setting.Scan(resolve.Flags, words)
	if faults = append(faults, notBuilt(set)...); len(faults) > 0 {
		return nil, set, resolve.Findings{Problems: faults}
	}
	switch old, err := oldFile(set); {
	case err != nil:
		return nil, set, resolve.Findings{Problems: []string{set.Spelled("--config") + ": " + err.Error()}}
	case old != nil:
		return p.resolveOld(ctx, old, removeFlags(words, "--config", "-f"))
	case p.old && !set.Has("--config"):
		defaults, words := oldDefaults(words)
		return p.resolveOld(ctx, defaults, words)
	}
	about := p.surroundings(p.modelLister(ctx, set.True("--dry-run", false)))
	about.Mounted = mounted
	if set.Has("--config") {
		run, found = resolve.FromFile(set, about)
	} else {
		run, found = resolve.FromFlags(set, about, nil)
	}
	return run, set, found
}

func (p *Program) surroundings(ask resolve.ModelLister) resolve.Surroundings {
	return resolve.Surroundings{Environ: p.Environ, Terminal: p.Terminal, Ask: ask}
}

// notBuilt refuses flags that this build only recognises. Switching off something that is off anyway is allowed.
func notBuilt(set *setting.CommandLine) []string {
	var problems []string
	for _, g := range set.All() {
		if f := g.Row; f.NotBuilt && (f.Kind != setting.Bool || set.True(f.Name(), true)) {
			problems = append(problems, set.Spelled(f.Name())+": not built yet")
		}
	}
	return problems
}

// tokenizerFault says why the tokenizer of a run is not available; empty if it is, or is not needed.
func (p *Program) tokenizerFault(ctx context.Context, run *config.Run, set *setting.CommandLine) string {
	if slices.Equal(tokenizerNames(run), []string{tokenizer.BuiltinName}) || !resolve.NeedsTokenizer(run) {
		return ""
	}
	find := p.FindTokenizer
	if find == nil {
		find = findTokenizers
	}
	err := find(ctx, run)
	if err == nil {
		return ""
	}
	if tokenizer.IsMissing(err) { // the error already says what to do
		return err.Error()
	}
	return fmt.Sprintf("%s: %v; --tokenizer builtin needs no files", set.Spelled("--tokenizer"), err)
}

// print writes the resolved run as YAML.
func (p *Program) print(run *config.Run) int {
	out, err := run.YAML()
	if err == nil {
		_, err = io.WriteString(p.data(), p.Secrets.Values(string(out)))
	}
	if errors.Is(err, syscall.EPIPE) { // the reader has closed the pipe
		return 0
	}
	if err != nil {
		p.errorf("--dry-run: %v", err)
		return 1
	}
	return 0
}
