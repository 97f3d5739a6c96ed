package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/console"
	"aiperf/internal/run/rereport"
)

// mergeCommand builds the command that merges runs from several machines.
func (p *Program) mergeCommand() *cobra.Command {
	o := rereport.MergeOptions{}
	cmd := &cobra.Command{
		Use: "merge RUN-DIR...", Short: "merge of the runs of several machines", Args: cobra.MinimumNArgs(1),
		Long: "Combines the requests of finished runs (of aiperf, the Python tool or GenAI-Perf, each with its raw export) into one report. If the runs " +
			"overlapped in time, rates are computed over their common window, otherwise they are added; merged.json records which, and lists the runs. " +
			"Runs that differ in model, endpoint type, streaming or load are refused.",
		Example: "  aiperf merge host1/run host2/run --output merged",
		RunE:    func(cmd *cobra.Command, words []string) error { o.Dirs = words; return p.merge(cmd.Context(), &o) },
	}
	p.mergeFlags(cmd, &o, "output", "o")
	return cmd
}

// processExportFiles is GenAI-Perf's name for a merge.
func (p *Program) processExportFiles() *cobra.Command {
	o := rereport.MergeOptions{}
	var dir string
	cmd := &cobra.Command{
		Use: "process-export-files", Short: "GenAI-Perf's merge of distributed runs", Args: cobra.NoArgs,
		Long: "Merges the runs in the sub-directories of a directory. The same: aiperf merge DIR/*",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			o.Dirs, err = rereport.Below(dir)
			var bare *rereport.BareError
			if errors.As(err, &bare) {
				return fmt.Errorf("%w; repeat the run with --export-level raw", err)
			}
			if err != nil {
				return fmt.Errorf("--input-directory: %w", err)
			}
			if a, err := filepath.Abs(dir); err == nil {
				if b, err := filepath.Abs(o.Out); err == nil && a == b {
					p.warnf("--artifact-dir %s is also the input directory; choose another one", o.Out)
				}
			}
			return p.merge(cmd.Context(), &o)
		},
	}
	cmd.Flags().StringVarP(&dir, "input-directory", "d", "aggregated", "directory whose sub-directories hold a run each")
	p.mergeFlags(cmd, &o, "artifact-dir", "")
	return cmd
}

// mergeFlags adds the flags that both commands have.
func (p *Program) mergeFlags(cmd *cobra.Command, o *rereport.MergeOptions, out, short string) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.Out, out, short, filepath.Join("artifacts", "merged"), "directory of the result")
	f.StringVar(&o.Prefix, "profile-export-file", "", "prefix of the file names")
	f.BoolVar(&o.Force, "force", false, "merge runs with different settings")
}

func (p *Program) merge(ctx context.Context, o *rereport.MergeOptions) error {
	for _, dir := range o.Dirs {
		if info, err := os.Stat(dir); err != nil {
			return boundedfile.Named(dir, err)
		} else if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", dir)
		}
	}
	o.Prefix = strings.TrimSuffix(o.Prefix, ".json")
	stem := cmp.Or(o.Prefix, rereport.OldStem)
	if p.old { // the prefix is for GenAI-Perf's files; ours keep their names
		o.Prefix = ""
	}
	o.Info, o.Version = p.warnf, Version()
	o.CLICommand = strings.Join(append([]string{"aiperf", "merge"}, o.Dirs...), " ")
	made, err := rereport.Merge(ctx, *o)
	var unlike *rereport.DifferentWorkError
	if errors.As(err, &unlike) {
		return fmt.Errorf("%w; merge them anyway with --force", err)
	}
	if err != nil {
		return err
	}
	if p.old {
		made.Run.Brand = oldBrand
		if err := rereport.WriteOldSummary(o.Out, stem); err != nil {
			return fmt.Errorf("files of %s: %w", oldName, err)
		}
	}
	look := console.Options{Spell: made.Config.As, Width: p.Width, Colour: p.Colour, Terminal: p.Terminal}
	return errors.Join(
		artifact.WriteFile(made.Layout.Console(), console.Text(made.Run, made.Config.Environment.UI.ConsoleExportWidth, made.Config.As)),
		console.Console(p.Out, made.Run, look), console.Footer(p.Out, made.Run, look),
	)
}
