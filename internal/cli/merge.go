package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/artifact"
	"aiperf/internal/reanalyze"
	"aiperf/internal/report"
)

// mergeCommand puts runs together that were made on several machines.
func (p *Program) mergeCommand() *cobra.Command {
	o := reanalyze.MergeOptions{}
	cmd := &cobra.Command{
		Use: "merge RUN-DIR...", Short: "merge of the runs of several machines", Args: cobra.MinimumNArgs(1),
		Long: "Pools the requests of finished runs (of this program, the Python tool or GenAI-Perf, each with its raw export) and makes one report of them. Rates of runs that " +
			"went on at the same time are those of their common window, else the sum of the runs' own; merged.json says which, and lists the runs. " +
			"Runs that differ in model, endpoint type, streaming or load are refused.",
		Example: "  aiperf merge host1/run host2/run --output merged",
		RunE:    func(cmd *cobra.Command, words []string) error { o.Dirs = words; return p.merge(cmd.Context(), &o) },
	}
	p.mergeFlags(cmd, &o, "output", "o")
	return cmd
}

// processExportFiles is GenAI-Perf's word for a merge.
func (p *Program) processExportFiles() *cobra.Command {
	o := reanalyze.MergeOptions{}
	var dir string
	cmd := &cobra.Command{
		Use: "process-export-files", Short: "GenAI-Perf's merge of distributed runs", Args: cobra.NoArgs,
		Long: "Merges the runs in the sub-directories of a directory. The same: aiperf merge DIR/*",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			o.Dirs, err = reanalyze.Below(dir)
			var bare *reanalyze.BareError
			if errors.As(err, &bare) {
				return fmt.Errorf("%w; make it again with --export-level raw", err)
			}
			if err != nil {
				return fmt.Errorf("--input-directory: %w", err)
			}
			if a, err := filepath.Abs(dir); err == nil {
				if b, err := filepath.Abs(o.Out); err == nil && a == b {
					p.warnf("--artifact-dir %s is the input directory as well", o.Out)
				}
			}
			return p.merge(cmd.Context(), &o)
		},
	}
	cmd.Flags().StringVarP(&dir, "input-directory", "d", "aggregated", "directory whose sub-directories hold a run each")
	p.mergeFlags(cmd, &o, "artifact-dir", "")
	return cmd
}

// mergeFlags adds the flags that both words have.
func (p *Program) mergeFlags(cmd *cobra.Command, o *reanalyze.MergeOptions, out, short string) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.Out, out, short, filepath.Join("artifacts", "merged"), "directory of the result")
	f.StringVar(&o.Prefix, "profile-export-file", "", "name that those of the files begin with")
	f.BoolVar(&o.Force, "force", false, "merge runs of different work")
}

func (p *Program) merge(ctx context.Context, o *reanalyze.MergeOptions) error {
	for _, dir := range o.Dirs {
		if info, err := os.Stat(dir); err != nil {
			return err
		} else if !info.IsDir() {
			return fmt.Errorf("%s is no directory", dir)
		}
	}
	o.Prefix = strings.TrimSuffix(o.Prefix, ".json")
	o.Info, o.Version = p.warnf, Version()
	o.CLICommand = strings.Join(append([]string{"aiperf", "merge"}, o.Dirs...), " ")
	made, err := reanalyze.Merge(ctx, *o)
	var unlike *reanalyze.UnlikeError
	if errors.As(err, &unlike) {
		return fmt.Errorf("%w; --force merges them all the same", err)
	}
	if err != nil {
		return err
	}
	look := report.Options{Spell: made.Config.As, Width: p.Width, Colour: p.Colour, Terminal: p.Terminal}
	return errors.Join(
		artifact.WriteFile(made.Layout.Console(), report.ConsoleText(made.Run, made.Config.Environment.UI.ConsoleExportWidth, made.Config.As)),
		report.Console(p.Out, made.Run, look), report.Footer(p.Out, made.Run, look),
	)
}
