package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/cli/args"
	"aiperf/internal/config"
	"aiperf/internal/tokenizer"
)

// profileCommand is the benchmark.
func (p *Program) profileCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "profile [flags]",
		Short:              "benchmark one or more servers",
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, words []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeFlags(profileTable, words, toComplete)
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			if wantsHelp(words) {
				return writeHelp(p.Out, profileTable, p.Width)
			}
			if status := p.profile(cmd.Context(), words); status != 0 {
				return exit(status)
			}
			return nil
		},
	}
}

// wantsHelp reports whether -h or --help stands before "--".
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

// profile resolves the command line and runs it, or prints it.
func (p *Program) profile(ctx context.Context, words []string) int {
	run, set, problems, warnings := p.resolve(words)
	dry := set.True("--dry-run", false)
	if len(problems) == 0 && dry {
		switch fault := p.tokenizerFault(ctx, run, set); {
		case fault == "":
		case encodingName(run.Tokenizer.Name):
			warnings = append(warnings, fault)
		default:
			problems = append(problems, fault)
		}
	}
	if run == nil || !quiet(run.Logging.Level) {
		for _, w := range warnings {
			p.warnf("%s", w)
		}
	}
	if len(problems) > 0 {
		for _, line := range problems {
			p.errorf("%s", line)
		}
		return 1
	}
	if dry {
		return p.print(run)
	}
	return p.Profile(ctx, run, p.Streams)
}

// quiet reports whether a log level leaves out warnings.
func quiet(level string) bool { return level == "ERROR" || level == "CRITICAL" }

// resolve reads the command line. Mistakes in single flags are reported alone: what follows from a wrong value helps nobody.
func (p *Program) resolve(words []string) (run *config.Run, set *args.Set, problems, warnings []string) {
	set, faults := args.Scan(profileTable, words)
	if faults = append(faults, notBuilt(set)...); len(faults) > 0 {
		return nil, set, faults, nil
	}
	if set.Has("--config") {
		run, problems, warnings = resolveFile(set, p.Environ, p.Terminal)
	} else {
		run, problems, warnings = resolve(set, p.Environ, p.Terminal)
	}
	return run, set, problems, warnings
}

// notBuilt refuses flags that this build only knows. Turning one off that is off anyway is no harm.
func notBuilt(set *args.Set) []string {
	var problems []string
	for _, g := range set.All() {
		if f := g.Flag; f.NotBuilt && (f.Kind != args.Bool || set.True(f.Name(), true)) {
			problems = append(problems, set.Spelled(f.Name())+": not built yet")
		}
	}
	return problems
}

// tokenizerFault says why the tokenizer of a run cannot be had, empty when it can or is not needed.
func (p *Program) tokenizerFault(ctx context.Context, run *config.Run, set *args.Set) string {
	if run.Tokenizer.Name == tokenizer.BuiltinName || !needsTokenizer(run) {
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
	return fmt.Sprintf("%s: %v; --tokenizer builtin needs no files", set.Spelled("--tokenizer"), err)
}

// print writes the resolved run as YAML.
func (p *Program) print(run *config.Run) int {
	out, err := run.YAML()
	if err == nil {
		_, err = p.Out.Write(out)
	}
	if err != nil {
		p.errorf("--dry-run: %v", err)
		return 1
	}
	return 0
}

// completeFlags offers the flags of a table, or the choices of the flag before.
func completeFlags(t *args.Table, words []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(words) > 0 && !strings.HasPrefix(toComplete, "-") {
		if f, _, ok := t.Lookup(words[len(words)-1]); ok {
			if f.Kind == args.Path {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return f.Choices, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for i := range t.Flags {
		if f := &t.Flags[i]; !f.NotBuilt {
			for _, n := range append(append([]string(nil), f.Names...), f.Not...) {
				if strings.HasPrefix(n, toComplete) && strings.HasPrefix(n, "--") {
					names = append(names, n+"\t"+f.Help)
				}
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
