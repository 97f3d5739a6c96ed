package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/report/artifact"
	"aiperf/internal/series/gate"
	"aiperf/internal/series/plan"
)

// capacityTable returns the flags of find-capacity that profile does not have.
func capacityTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--slo"}, Kind: setting.Text, List: true, Whole: true, Help: "objective to meet: ttft:p99<200ms, p95(e2e)<2s, error_rate<1%; may be repeated"},
		{Flags: []string{"--vary"}, Kind: setting.Enum, Choices: []string{"rate", "concurrency"}, Default: "rate", Help: "load to raise: Poisson arrivals per second, or users"},
		{Flags: []string{"--start"}, Kind: setting.Float, Bounds: "> 0", Default: "the load of one user", Help: "first load"},
		{Flags: []string{"--precision"}, Kind: setting.Text, Default: "7%", Help: "stop when the answer is known to ± this much"},
		{Flags: []string{"--max-time"}, Kind: setting.Float, Unit: "s", Bounds: "> 0", Default: "600", Help: "time limit of the search, in s; no step starts that would exceed it"},
		{Flags: []string{"--max-cells"}, Kind: setting.Int, Bounds: ">= 1", Default: "40", Help: "maximum number of loads to try"},
		{Flags: []string{"--cell-size"}, Kind: setting.Float, Bounds: "> 0", Default: "10", Help: "requests that should miss the objective in one step at the limit"},
		{Flags: []string{"--json"}, Kind: setting.Path, Help: "write the result to this file as well as to capacity.json"},
	})
}

const capacityLong = "Finds the highest load that meets the objectives. It doubles the load until an objective is clearly missed, then tries loads around the limit until the answer is " +
	"precise enough, and confirms it. Prints the answer with a 90 % interval, or a bound if this client is the limit or time runs out (status 4). Status 3: not met even with one user, or at any load.\n\n" +
	"Accepts every flag of profile for endpoint, input and output, but none for the load."

// findCapacityCommand builds the command that finds the highest load that meets objectives.
func (p *Program) findCapacityCommand() *cobra.Command {
	return p.overProfile("find-capacity", "search for the highest load that meets objectives", capacityLong, capacityTable, func(ctx context.Context, own *setting.CommandLine, words []string) (int, error) {
		o := plan.CapacityOptions{
			Concurrency: own.Text("--vary", "rate") == "concurrency", Start: oneFloat(own, "--start", 0), Seconds: oneFloat(own, "--max-time", 600),
			Cells: int(oneInt(own, "--max-cells", 40)), Size: oneFloat(own, "--cell-size", 10), JSON: own.Text("--json", ""),
		}
		texts := own.Texts("--slo")
		if len(texts) == 0 {
			return 1, errors.New("--slo is missing: give the objective to meet, for example --slo 'ttft:p99<200ms'")
		}
		var err error
		for _, text := range texts {
			one, err := plan.ParseObjective(text)
			if err != nil {
				p.errorf("--slo %s", err)
				continue
			}
			o.Objectives = append(o.Objectives, one)
		}
		if len(o.Objectives) < len(texts) {
			return 1, nil
		}
		if o.Precision, err = comparison.Percent(own.Text("--precision", "7%")); err != nil || o.Precision == 0 {
			return 1, fmt.Errorf("--precision: %q is not a percentage above 0 and at most 100; write for example --precision 5%%", own.Text("--precision", ""))
		}
		if err := checkOutputs(own, "--json"); err != nil {
			return 1, err
		}
		return p.resolved(ctx, words, "capacity", func(ctx context.Context, run *config.Run, set *setting.CommandLine) (int, error) {
			for _, g := range set.All() {
				if key := g.Row.Key; strings.HasPrefix(key, "phases.profiling.") || strings.HasPrefix(key, "phases.warmup.") {
					return 1, fmt.Errorf("%s: find-capacity chooses the load itself; remove it (--start sets the first load, --max-time the time limit)", set.Spelled(g.Row.Name()))
				} else if slices.Contains([]string{"fail_if", "junit", "fail_on_verdict", "allow_invalid"}, key) {
					return 1, fmt.Errorf("%s: a search is judged by its --slo, with exit status 3 if even one user does not meet it and 4 if only a bound is known; remove it", set.Spelled(g.Row.Name()))
				}
			}
			for i := range o.Objectives {
				if err := o.Objectives[i].InRun(&run.Benchmark); err != nil {
					return 1, fmt.Errorf("--slo %w", err)
				}
			}
			if set.True("--dry-run", false) {
				fmt.Fprintf(p.Out, "dry run: measures one user first, then at most %d loads for 5 to 65 s each, at most %g s in all. It measures at least six loads, and half a minute, and ends when it knows the answer to %s. Each load depends on the results before it.\n",
					o.Cells, o.Seconds, strings.Join(texts, ", "))
				return 0, nil
			}
			o.Entries = set.Has("--num-dataset-entries") || set.Has("--config") // the author of a file may mean its default
			return p.Capacity(ctx, run, o, p.Streams), nil
		})
	})
}

// turnsTable returns the flags of ab that profile does not have.
func turnsTable() *setting.Table {
	return setting.NewTable([]setting.Row{
		{Flags: []string{"--a"}, Kind: setting.Text, Help: "URL of the first target, the baseline"},
		{Flags: []string{"--b"}, Kind: setting.Text, Help: "URL of the second target"},
		{Flags: []string{"--label"}, Kind: setting.Text, List: true, Whole: true, Help: "names of A and B in tables and pages, in this order; give it twice"},
		{Flags: []string{"--pairs"}, Kind: setting.Int, Bounds: ">= 6", Default: "12", Help: "number of blocks of each target"},
		{Flags: []string{"--block"}, Kind: setting.Float, Unit: "s", Bounds: "> 0", Default: "6", Help: "length of a block, in s"},
		{Flags: []string{"--wash-in"}, Kind: setting.Float, Unit: "s", Bounds: ">= 0", Default: "2", Help: "time at the start of a block that is not counted, in s"},
		{Flags: []string{"--order"}, Kind: setting.Enum, Choices: []string{"random", "ab"}, Default: "random", Help: "order within a pair: random (from the seed), or always a first"},
		{Flags: []string{"--parallel"}, Kind: setting.Bool, Help: "send to both at once, for targets on separate hardware"},
		{Flags: []string{"--margin"}, Kind: setting.Text, List: true, Default: "5%", Help: "largest difference that does not matter, or tag:stat:X% for one statistic"},
		{Flags: []string{"--metrics"}, Kind: setting.Text, List: true, Help: "statistics to compare (tag:stat); fewer make each test stronger"},
		{Flags: []string{"--confidence"}, Kind: setting.Float, Bounds: "> 0.5, < 1", Default: "0.95", Help: "confidence level of the intervals and of the overall result"},
		{Flags: []string{"--fail-on"}, Kind: setting.Text, List: true, Help: "worse: status 3 if a metric is worse; cannot-tell: status 4 if undecided"},
		{Flags: []string{"--json"}, Kind: setting.Path, Help: "write the comparison to this file as well as to comparison.json"},
		{Flags: []string{"--html"}, Kind: setting.Path, Help: "write the comparison to this self-contained HTML page"},
		{Flags: []string{"--allow-invalid"}, Kind: setting.Bool, Help: "count blocks that were limited by the client"},
	})
}

const turnsLong = "Sends the same load to two targets in alternating blocks, so that changes of the machine or the network affect both. Reports for every statistic whether B is the same as A, " +
	"better, worse, or whether the data cannot tell. The two blocks of a pair have the same prompts and arrivals.\n\nAccepts every flag of profile for endpoint, input, output and load. --a and --b replace --url, and --block replaces the flags that end a run."

// checkLabels refuses names of A and B that are not two different ones; none are allowed.
func checkLabels(labels []string) error {
	if len(labels) == 0 || len(labels) == 2 && labels[0] != labels[1] && !slices.Contains(labels, "") {
		return nil
	}
	return fmt.Errorf("--label %s: ab takes two different names, of A and of B; write --label old --label new", strings.Join(labels, ", "))
}

// checkTurns refuses settings of ab that are missing or exclude each other.
func checkTurns(o *plan.TurnOptions, own *setting.CommandLine) error {
	for flag, url := range map[string]string{"--a": o.A, "--b": o.B} {
		if url == "" {
			return fmt.Errorf("%s is missing: ab compares two servers; write --a http://OLD:8000 --b http://NEW:8000", flag)
		}
	}
	if o.Wash >= o.Block {
		return fmt.Errorf("--wash-in %gs leaves nothing of --block %gs; give a longer --block, such as --block %gs", o.Wash, o.Block, 3*o.Wash)
	}
	if o.Parallel && own.Get("--order") != nil {
		return errors.New("--order has no meaning with --parallel: both go first")
	}
	return checkLabels(o.Labels)
}

// refuseInTurns refuses flags of profile that ab replaces by its own.
func refuseInTurns(words []string) error {
	given, _ := setting.Scan(resolve.Flags, words) // mistakes have been reported
	if given.Has("--url") {
		return fmt.Errorf("%s: ab has two servers; remove it, and name them with --a and --b", given.Spelled("--url"))
	}
	for _, flag := range []string{"--request-count", "--num-sessions", "--benchmark-duration", "--benchmark-grace-period"} {
		if given.Has(flag) {
			return fmt.Errorf("%s: ab ends every block after a time; remove it, and set the time with --block", given.Spelled(flag))
		}
	}
	return nil
}

// checkOutputs refuses output files that cannot be written, before the first request.
func checkOutputs(own *setting.CommandLine, flags ...string) error {
	for _, flag := range flags {
		if path := own.Text(flag, ""); path != "" {
			if err := artifact.CanWrite(path); err != nil {
				return fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return nil
}

// turnsCommand builds the command that compares two targets in alternating blocks.
func (p *Program) turnsCommand() *cobra.Command {
	return p.overProfile("ab", "comparison of two servers in alternating blocks", turnsLong, turnsTable, func(ctx context.Context, own *setting.CommandLine, words []string) (int, error) {
		o := plan.TurnOptions{
			A: own.Text("--a", ""), B: own.Text("--b", ""), Pairs: int(oneInt(own, "--pairs", 12)), Block: oneFloat(own, "--block", 6), Setting: "--block", Wash: oneFloat(own, "--wash-in", 2),
			Labels: own.Texts("--label"), InOrder: own.Text("--order", "random") == "ab", Parallel: own.True("--parallel", false),
			Compare: comparison.Options{Confidence: oneFloat(own, "--confidence", .95), Metrics: own.Texts("--metrics"), Invalid: own.True("--allow-invalid", false)},
		}
		if err := checkTurns(&o, own); err != nil {
			return 1, err
		}
		if err := refuseInTurns(words); err != nil {
			return 1, err
		}
		if err := o.Compare.SetMargins(own.Texts("--margin")); err != nil {
			return 1, fmt.Errorf("--margin: %w", err)
		}
		if err := o.Compare.CheckMetrics(); err != nil {
			return 1, fmt.Errorf("--metrics: %w", err)
		}
		if err := checkOutputs(own, "--json", "--html"); err != nil {
			return 1, err
		}
		failOn := strings.Join(own.Texts("--fail-on"), ",")
		if err := checkFailOn(failOn); err != nil {
			return 1, err
		}
		return p.resolved(ctx, append([]string{"--url", o.A}, words...), "ab", func(ctx context.Context, run *config.Run, set *setting.CommandLine) (int, error) {
			if set.True("--dry-run", false) {
				blocks, how := 2*o.Pairs, "one after the other"
				least := float64(blocks) * o.Block
				if o.Parallel {
					least, how = least/2, "both at once"
				}
				fmt.Fprintf(p.Out, "dry run: %d pairs, %d blocks of %g s %s: at least %.0f s\n", o.Pairs, blocks, o.Block, how, least)
				return 0, nil
			}
			if o.Parallel && run.Machines.On != "" {
				return 1, fmt.Errorf("%s: the machines send one run at a time; remove it, or remove --parallel", run.As("machines.on"))
			}
			if port := sharedPort(run); o.Parallel && port != "" {
				return 1, fmt.Errorf("%s: two parallel runs cannot share one port; remove it, or remove --parallel", port)
			}
			r, err := p.Turns(ctx, run, o, p.Streams)
			var few *comparison.FewPairsError
			if errors.As(err, &few) {
				return 1, fmt.Errorf("no judgement: %w; run again with --pairs %d", err, few.Enough())
			}
			if err != nil {
				return 1, err
			}
			code, err := p.writeComparison(r, &comparisonOutput{file: own.Text("--json", ""), html: own.Text("--html", ""), failOn: failOn})
			if err == nil {
				err = p.judgeSides([]side{{"B", r.B}}, &gateOptions{failIf: run.FailIf, junit: run.JUnit, Options: gate.Options{Verdict: run.FailOnVerdict, AllowInvalid: o.Compare.Invalid}}, code)
			}
			var status exitStatus
			switch {
			case errors.As(err, &status):
				return int(status), nil
			case err == nil && r.Refused != "": // the reason has been printed
				return 1, nil
			}
			return 0, err
		})
	})
}

// sharedPort returns the setting that parallel runs cannot share: a port, or the live page, which shows one run; "" = none.
func sharedPort(run *config.Run) string {
	switch {
	case run.Runtime.APIPort != nil || run.Environment.API.Port != 0:
		return run.As("runtime.api_port")
	case run.Runtime.Web != "":
		return run.As("runtime.web")
	case run.Runtime.MetricsListen != "" && !strings.HasSuffix(run.Runtime.MetricsListen, ":0"): // port 0 gives each run a free port
		return run.As("runtime.metrics_listen")
	}
	return ""
}

// overProfile builds a command with its own flags and those of profile.
func (p *Program) overProfile(name, short, long string, table func() *setting.Table, run func(ctx context.Context, own *setting.CommandLine, words []string) (int, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, words []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeFlags(table(), words, toComplete, cobra.ShellCompDirectiveNoFileComp)
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			if wantsHelp(words) || len(words) == 0 {
				return p.tableHelp(cmd, table())
			}
			ownWords, rest := splitFlags(table(), words)
			own, problems := setting.Scan(table(), ownWords)
			_, faults := setting.Scan(resolve.Flags, rest)
			problems = append(problems, faults...)
			for _, line := range problems {
				p.errorf("%s", line)
			}
			if len(problems) > 0 {
				return exitStatus(1)
			}
			code, err := run(cmd.Context(), own, rest)
			if err != nil {
				return err
			}
			return status(code)
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_ = p.tableHelp(cmd, table()) // an error of standard output cannot be reported
	})
	return cmd
}

// splitFlags moves the words of a table's flags out of a command line.
func splitFlags(table *setting.Table, words []string) (own, rest []string) {
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		row, _, ok := table.Lookup(name)
		if !ok {
			rest = append(rest, words[i])
			continue
		}
		own = append(own, words[i])
		if !joined && row.Kind != setting.Bool && i+1 < len(words) {
			i++
			own = append(own, words[i])
		}
	}
	return own, rest
}

// resolved resolves flags of profile and calls do with the run, which the user may interrupt. Its files go below artifacts/NAME unless the flags name
// a directory.
func (p *Program) resolved(ctx context.Context, words []string, name string, do func(ctx context.Context, run *config.Run, set *setting.CommandLine) (int, error)) (int, error) {
	done := func(status int) int { return status }
	if p.Watch != nil {
		ctx, done = p.Watch(ctx, p.Err)
	}
	run, set, found := p.resolve(ctx, words)
	if run != nil {
		p.Secrets.Add(run.Secrets()...)
	}
	found.Notes = nil // they describe a load that is not sent
	p.say(run, found)
	if len(found.Problems) > 0 {
		return done(1), nil
	}
	if !set.Has("--artifact-dir") {
		run.Artifacts.Dir, run.Artifacts.KeepPrevious = "artifacts/"+name, true
	}
	switch {
	case run.MultiRun.NumRuns > 1:
		return done(1), fmt.Errorf("%s: this command starts its own runs; remove it", run.As("multi_run.num_runs"))
	case run.Sweep != nil:
		return done(1), fmt.Errorf("%s makes a series, but this command takes one value of each setting; give one value", seriesBy(run))
	}
	code, err := do(ctx, run, set)
	return done(code), err
}

// seriesBy returns the setting that makes a run a series; "" = none.
func seriesBy(run *config.Run) string {
	switch s := run.Sweep; {
	case s.RecipeName != "":
		return "--search-recipe"
	case len(s.Parameters) > 0:
		return run.As(s.Parameters[0].Path)
	}
	return run.As("sweep")
}

// oneFloat and oneInt return the value of a flag that is given once, or def.
func oneFloat(set *setting.CommandLine, flag string, def float64) float64 {
	if v := set.Floats(flag); len(v) > 0 {
		return v[len(v)-1]
	}
	return def
}

func oneInt(set *setting.CommandLine, flag string, def int64) int64 {
	if v := set.Ints(flag); len(v) > 0 {
		return v[len(v)-1]
	}
	return def
}
