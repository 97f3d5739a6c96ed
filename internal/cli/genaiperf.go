package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/genaiperf"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
)

// resolveOld resolves a file of GenAI-Perf, or a sweep of its analyze command, together with flags, which take precedence.
func (p *Program) resolveOld(ctx context.Context, f *genaiperf.File, rest []string) (*config.Run, *setting.CommandLine, resolve.Findings) {
	set, faults := setting.Scan(resolve.Flags, rest)
	if len(faults) > 0 {
		return nil, set, resolve.Findings{Problems: faults}
	}
	words, sizes := oldRankings(append(flagsOfFile(f, set), rest...))
	set, faults = setting.Scan(resolve.Flags, words)
	if faults = append(faults, notBuilt(set)...); len(faults) > 0 {
		return nil, set, resolve.Findings{Problems: faults, Notes: f.Notes}
	}
	if set.Get("--model") == nil && f.Needs {
		return nil, set, resolve.Findings{Problems: []string{"model_names is missing in the file, and no --model is given: no model"}}
	}
	var axes config.Axes
	for _, a := range f.Axes {
		axis := config.Axis{Path: rankingAxis(a.Key, set)}
		for _, v := range a.Values {
			axis.Values = append(axis.Values, v)
		}
		axes = append(axes, axis)
	}
	run, found := resolve.FromFlags(set, p.surroundings(p.modelLister(ctx, set.True("--dry-run", false))), axes)
	found.Warnings = append(slices.Clone(f.Notes), found.Warnings...)
	found.Notes = append(sizes, found.Notes...)
	if run != nil && run.Sweep != nil && len(axes) > 0 && run.Sweep.PostProcess == nil {
		if err := run.AnalyzeReport(); err != nil {
			found.Problems = append(found.Problems, err.Error())
		}
	}
	if p.old {
		found.Problems = append(found.Problems, oldImages(set)...)
	}
	if p.old && run != nil && len(found.Problems) == 0 {
		if err := oldArtifacts(run, set); err != nil {
			found.Problems = append(found.Problems, err.Error())
		}
	}
	return run, set, found
}

// flagsOfFile returns the flags of a GenAI-Perf file, except those that the command line gives.
func flagsOfFile(f *genaiperf.File, given *setting.CommandLine) (words []string) {
	for _, one := range f.Flags {
		row, _, ok := resolve.Flags.Lookup(one[0])
		if !ok || given.Get(row.Name()) != nil || row.Pace && len(setPace(given)) > 0 {
			continue
		}
		if row.Kind == setting.Bool {
			words = append(words, one[0]+"="+one[1])
		} else {
			words = append(words, one[0], one[1])
		}
	}
	return words
}

// setPace lists the given flags that select a pace.
func setPace(set *setting.CommandLine) (names []string) {
	for _, name := range resolve.PaceFlags {
		if set.Get(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// removeFlags removes flags with their values from a command line.
func removeFlags(words []string, flags ...string) (rest []string) {
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		switch {
		case words[i] == "--":
			return append(rest, words[i:]...)
		case !slices.Contains(flags, name):
			rest = append(rest, words[i])
		case !joined:
			i++
		}
	}
	return rest
}

// wordAfter returns the value of a flag that is in no table; empty if it is not given.
func wordAfter(words []string, flag string) string {
	for i, w := range words {
		if w == flag && i+1 < len(words) {
			return words[i+1]
		}
		if v, ok := strings.CutPrefix(w, flag+"="); ok {
			return v
		}
	}
	return ""
}

// oldFile returns the file of --config if it is in the format of GenAI-Perf.
func oldFile(set *setting.CommandLine) (*genaiperf.File, error) {
	path := set.Text("--config", "")
	if !regular(path) || !genaiperf.Is(path) { // a pipe can be read only once, so its format is not tested here
		return nil, nil
	}
	return genaiperf.Read(path)
}

// regular reports whether a path is a regular file.
func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// analyzeCommand builds GenAI-Perf's command for sweeps.
func (p *Program) analyzeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "analyze [flags]", Short: "GenAI-Perf's sweep over a range of one setting",
		Long: "Runs profile once for every value of one setting. It accepts all flags of profile, and:\n\n" +
			"  --sweep-type TYPE      concurrency (default), request_rate, batch_size, input_sequence_length, num_dataset_entries\n" +
			"  --sweep-range A:B[:S]  from A to B, doubled, or in steps of S\n" +
			"  --sweep-list A,B,C     these values\n\n" +
			"In addition to the files of a sweep it writes sweep_aggregate/analyze_export_genai_perf.csv.\n\nThe same without this command: aiperf profile --concurrency 1,2,4,8",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			if wantsHelp(words) || len(words) == 0 {
				return cmd.Help()
			}
			f, err := genaiperf.Analyze(wordAfter(words, "--sweep-type"), wordAfter(words, "--sweep-list"), wordAfter(words, "--sweep-range"))
			if err != nil {
				return err
			}
			words = removeFlags(words, "--sweep-type", "--sweep-list", "--sweep-range")
			if p.old {
				var defaults *genaiperf.File
				defaults, words = oldDefaults(words)
				f.Flags = append(f.Flags, defaults.Flags...)
			}
			return status(p.profileOld(cmd.Context(), f, words))
		},
	}
	cmd.AddCommand(p.swimLaneCommand(), p.turnMessagesCommand())
	return cmd
}

// status returns an exit status as the error of a command.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return exitStatus(code)
}

// profileOld runs or prints the result of resolveOld.
func (p *Program) profileOld(ctx context.Context, f *genaiperf.File, words []string) int {
	return p.watching(ctx, words, func(ctx context.Context) (*config.Run, *setting.CommandLine, resolve.Findings) {
		return p.resolveOld(ctx, f, words)
	})
}

// configFile implements GenAI-Perf's "config -f FILE": profile with a file of either format.
func (p *Program) configFile(ctx context.Context, words []string) error {
	path := wordAfter(words, "-f")
	for _, other := range []string{"--file", "--config"} {
		if path == "" {
			path = wordAfter(words, other)
		}
	}
	if path == "" {
		return fmt.Errorf("config -f FILE runs a file; aiperf config --help lists the other commands")
	}
	rest := removeFlags(words, "-f", "--file", "--config")
	rest = slices.DeleteFunc(rest, func(w string) bool { return w == "--override-config" })
	span, list := wordAfter(rest, "--sweep-range"), wordAfter(rest, "--sweep-list")
	if span == "" && list == "" || !regular(path) || !genaiperf.Is(path) {
		return status(p.profile(ctx, append([]string{"--config", path}, rest...)))
	}
	f, err := genaiperf.Read(path)
	if err != nil {
		return err
	}
	sweep, err := genaiperf.Analyze(wordAfter(rest, "--sweep-type"), list, span)
	if err != nil {
		return err
	}
	f.Replace(sweep)
	rest = removeFlags(rest, "--sweep-type", "--sweep-list", "--sweep-range")
	if p.old {
		rest = withoutUnset(rest)
	}
	return status(p.profileOld(ctx, f, rest))
}

// configImport builds the command that converts a GenAI-Perf file.
func (p *Program) configImport() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "conversion of a configuration file of GenAI-Perf", Args: oneFile,
		RunE: func(cmd *cobra.Command, words []string) error {
			f, err := genaiperf.Read(words[0])
			if err != nil {
				return err
			}
			run, _, found := p.resolveOld(cmd.Context(), f, []string{"--dry-run"})
			found.Notes = nil
			p.say(run, found)
			if len(found.Problems) > 0 {
				return exitStatus(1)
			}
			return status(p.print(run))
		},
	}
}

// createTemplate builds the command that writes GenAI-Perf's template.
func (p *Program) createTemplate() *cobra.Command {
	var file string
	var verbose, force bool
	cmd := &cobra.Command{
		Use: "create-template", Short: "GenAI-Perf's template of a configuration file", Args: cobra.NoArgs,
		Long: "Writes every key of GenAI-Perf's configuration files at its default. aiperf config init has templates of this program's own files.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := writeNew(file, genaiperf.Template(verbose, p.old), force); err != nil {
				return err
			}
			run := "aiperf profile --config"
			if p.old {
				run = oldName + " config -f"
			}
			p.printErr("%s: written; %s %s runs it", file, run, file)
			return nil
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "genai_perf_config.yaml", "file to write, which must not exist")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "with a comment for every key")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}
