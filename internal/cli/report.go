package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/console"
	"aiperf/internal/report/explanation"
	"aiperf/internal/run/rereport"
	"aiperf/internal/series/gate"
	"aiperf/internal/series/plan"
	"aiperf/internal/wire/endpoint"
)

// reportTable returns the flags of report: those of profile that apply to a finished run.
func reportTable() *setting.Table {
	return setting.NewTable(append(rowsOfProfile([][2]string{
		{"--artifact-dir", "report/ next to the raw export"}, {"--profile-export-prefix", ""}, {"--endpoint-type", "the run's own"},
		{"--streaming", "as the run was"}, {"--tokenizer", "the run's own, else builtin"}, {"--tokenizer-revision", "main"},
		{"--use-server-token-count", ""}, {"--per-chunk-usage", ""}, {"--goodput", ""}, {"--slice-duration", ""}, {"--show-trace-timing", ""}, {"--tables", "main"}, {"--verbose-report", ""}, {"--fail-if", ""}, {"--objective", ""}, {"--fail-on-verdict", ""}, {"--allow-invalid", ""}, {"--junit", ""},
		{"--accuracy-grader", "the run's own"}, {"--accuracy-dataset-path", "as the run had it"},
	}...), append([]setting.Row{{Flags: []string{"--html"}, Kind: setting.Bool, Help: "write only report.html; with several directories systems.html, which compares them"}}, systemRows()...)...))
}

const reportLong = "Reads the raw export of a run (profile_export_raw.jsonl, of aiperf or of the Python tool): the file, its run directory or the directory of its series, " +
	"and computes records, summaries, time slices and tables again, without a server. Settings without a flag are those of the run."

// newReportCommand builds the command that makes a report again from a raw export.
func (p *Program) newReportCommand() *cobra.Command {
	return p.command(tableCommand{
		use: "report RAW.jsonl|RUN-DIR|SERIES-DIR | report --html DIR DIR…", short: "new report of a run from its raw export", long: reportLong,
		table: reportTable, bare: cobra.ShellCompDirectiveDefault, words: true,
		run: func(cmd *cobra.Command, set *setting.CommandLine, words []string) error {
			if len(set.Words) > 1 && set.True("--html", false) {
				return p.systemsPage(set, set.Words, set.Text("--artifact-dir", set.Words[0]))
			}
			for _, flag := range systemFlags() {
				if set.Has(flag) {
					return fmt.Errorf("%s: only the page of systems uses it; add --html and several directories, or use aiperf plot --html", flag)
				}
			}
			if len(set.Words) != 1 {
				return fmt.Errorf("report takes one raw export or one run directory, not %d; see aiperf report --help", len(set.Words))
			}
			if set.True("--html", false) {
				return p.htmlReports(set.Words[0])
			}
			if status := p.report(cmd.Context(), set, words); status != 0 {
				return exitStatus(status)
			}
			return nil
		},
	})
}

// report makes the files and prints the tables.
func (p *Program) report(ctx context.Context, set *setting.CommandLine, words []string) int {
	opts, err := p.reportOptions(set)
	if err != nil {
		p.errorf("%v", err)
		return 1
	}
	opts.CLICommand = strings.Join(append([]string{"aiperf", "report"}, redact.Args(words, config.FlagSecret)...), " ")
	runs, err := rereport.Find(set.Words[0])
	if err != nil {
		p.errorf("%v", err)
		return 1
	}
	if _, err := gate.Parsed(set.Texts("--fail-if")); err != nil {
		p.errorf("%s: %v", set.Spelled("--fail-if"), resolve.GateError(err))
		return 1
	}
	objectives, err := resolve.FailConditions(set.Texts("--objective"))
	if err != nil {
		p.errorf("%s: %v", set.Spelled("--objective"), err)
		return 1
	}
	switch allow := set.True("--allow-invalid", false); {
	case allow && set.True("--fail-on-verdict", false):
		p.errorf("%v", errVerdictAllowed)
		return 1
	case allow && !set.Has("--fail-if") && len(objectives) == 0:
		p.errorf("--allow-invalid needs --fail-if or --objective: nothing else is judged")
		return 1
	}
	var judged []gate.Subject
	out, failed := opts.Dir, 0
	for k, run := range runs {
		opts.Input, opts.Dir = run, out
		if len(runs) > 1 { // a series: the reports have the same directories as its runs
			rel, err := filepath.Rel(set.Words[0], run.Dir)
			if err != nil {
				p.errorf("%v", err)
				return 1
			}
			opts.Dir = filepath.Join(out, rel)
			fmt.Fprintf(p.Err, "aiperf: report %d of %d: %s\n", k+1, len(runs), rel)
		}
		made, ok := p.reportRun(ctx, set, opts)
		if !ok {
			failed++
		}
		one := gate.Subject{Fault: "no report could be made"}
		if made != nil {
			one = plan.Subject(made)
		}
		if len(runs) > 1 {
			one.Name = filepath.Base(run.Dir)
		}
		judged = append(judged, one)
	}
	status := 0
	if failed == len(runs) {
		status = 1
	}
	judging := gateOptions{failIf: slices.Concat(set.Texts("--fail-if"), objectives), junit: set.Text("--junit", ""), Options: gate.Options{Verdict: set.True("--fail-on-verdict", false), AllowInvalid: set.True("--allow-invalid", false)}}
	status, err = p.gates(&judging).Judge(judged, status)
	if err != nil {
		p.errorf("%v", err)
	}
	return status
}

// gateOptions holds the options for gates on finished runs.
type gateOptions struct {
	failIf []string
	junit  string // "" = no file
	gate.Options
}

// requested reports whether runs are judged, or an output file is requested.
func (g *gateOptions) requested() bool { return len(g.failIf) > 0 || g.junit != "" || g.Verdict }

// errVerdictAllowed refuses two flags that contradict each other.
var errVerdictAllowed = errors.New("--fail-on-verdict and --allow-invalid exclude each other: one fails for a verdict, the other ignores it; leave one out")

// gates returns the gates of a command line for finished runs.
func (p *Program) gates(g *gateOptions) *plan.Gates {
	return &plan.Gates{FailIf: g.failIf, Options: g.Options, JUnit: g.junit, StepSummary: lookup(p.Environ, "GITHUB_STEP_SUMMARY"), Err: p.Err, Spell: config.FlagOf}
}

// reportRun makes and prints the report of one run; ok reports whether it has a result.
func (p *Program) reportRun(ctx context.Context, set *setting.CommandLine, opts rereport.Options) (run *metric.Run, ok bool) {
	made, err := rereport.Report(ctx, opts)
	if err != nil {
		p.errorf("%v", err)
		return nil, false
	}
	layout, environment := made.Layout, made.Config.Environment
	run = made.Run
	problems, _ := resolve.ReadEnvironment(p.Environ, &environment) // other errors in the environment do not affect a report
	for _, line := range problems {
		p.warnf("%s", line)
	}
	look := console.Options{Spell: made.Config.As, Width: p.Width, Colour: p.Colour, ASCII: p.ASCII, Terminal: p.Terminal, AllTables: set.Text("--tables", "") == string(config.TablesAll) || set.True("--verbose-report", false)}
	if look.Width == 0 {
		look.Width = environment.UI.ConsoleExportWidth
	}
	err = errors.Join(
		artifact.WriteFile(layout.Console(), console.Text(run, environment.UI.ConsoleExportWidth, made.Config.As)),
		console.Console(p.Out, run, look),
		console.Footer(p.Out, run, look),
	)
	if err == nil && look.AllTables {
		err = explanation.Block(p.Out, layout.Dir, look.Width)
	}
	if err == nil && p.Terminal {
		err = console.Headline(p.Out, run, layout.Dir, layout.Count(), look)
	}
	if err != nil {
		p.errorf("%v", err)
		return nil, false
	}
	switch {
	case run.AllFailed():
		p.errorf("no request of %d succeeded", run.Profiling.Failed)
	case run.Profiling.Valid == 0:
		p.errorf("no request of a measured phase has finished")
	}
	return run, run.Profiling.Valid > 0
}

// reportOptions converts the flags to options.
func (p *Program) reportOptions(set *setting.CommandLine) (rereport.Options, error) {
	o := rereport.Options{
		Spell: (&config.Benchmark{}).As,
		Dir:   set.Text("--artifact-dir", ""), Prefix: set.Text("--profile-export-prefix", ""),
		Streaming: switchValue(set, "--streaming"), ServerTokens: switchValue(set, "--use-server-token-count"), PerChunkUsage: switchValue(set, "--per-chunk-usage"),
		ShowTrace: switchValue(set, "--show-trace-timing"),
		Tokenizer: set.Text("--tokenizer", ""), Revision: set.Text("--tokenizer-revision", ""), Info: p.warnf, Version: Version(),
		Grader: set.Text("--accuracy-grader", ""), DatasetPath: set.Text("--accuracy-dataset-path", ""),
	}
	if o.Dir == "" {
		o.Dir = set.Words[0]
		if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() {
			o.Dir = filepath.Dir(o.Dir)
		}
		o.Dir = filepath.Join(o.Dir, "report")
	}
	if dir, err := filepath.Abs(o.Dir); err == nil {
		o.Dir = dir
	}
	if set.Has("--goodput") {
		slos, err := resolve.ParseGoodput(strings.Join(set.Texts("--goodput"), " "))
		if err != nil {
			return o, fmt.Errorf("%s: %w", set.Spelled("--goodput"), err)
		}
		goals := resolve.FormatGoodput(slos)
		o.Goodput = &goals
	}
	if v := set.Floats("--slice-duration"); len(v) > 0 {
		o.SliceSeconds = &v[0]
	}
	if name := set.Text("--endpoint-type", ""); name != "" {
		e, notice, err := endpoint.Lookup(name)
		if err != nil {
			return o, fmt.Errorf("%s: %w", set.Spelled("--endpoint-type"), err)
		}
		if notice != "" {
			p.warnf("%s", notice)
		}
		o.Endpoint = e
	}
	return o, nil
}

// switchValue returns the value of a switch; nil = it is not given.
func switchValue(set *setting.CommandLine, flag string) *bool {
	if !set.Has(flag) {
		return nil
	}
	v := set.True(flag, false)
	return &v
}
