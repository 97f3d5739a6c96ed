package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/console"
	"aiperf/internal/series/speedbench"
)

// speedBenchRows lists the flags of speed-bench-report.
var speedBenchRows = []setting.Row{
	{Flags: []string{"--output"}, Kind: setting.Path, Default: "speed_bench_report.csv", Help: "the table as CSV"},
	{Flags: []string{"--format"}, Kind: setting.Enum, Choices: []string{"csv", "table", "both"}, Default: "both", Help: "output format"},
	{Flags: []string{"--metric"}, Kind: setting.Enum, Choices: speedbench.Metrics, Default: "accept_length", Help: "metric to show"},
}

// speedBenchReport builds "speed-bench-report".
func (p *Program) speedBenchReport() *cobra.Command {
	return p.command(tableCommand{
		use: "speed-bench-report RUN-DIR…", short: "table of SPEED-Bench runs",
		long: "Reads finished runs (or all runs below a directory), one run per category of SPEED-Bench, and prints one row per model and one column per category: " +
			"tokens per step of speculative decoding, the share of accepted drafts, or the throughput. The first two are server metrics.",
		table: func() *setting.Table { return setting.NewTable(speedBenchRows) }, bare: cobra.ShellCompDirectiveFilterDirs, words: true,
		run: func(_ *cobra.Command, set *setting.CommandLine, _ []string) error {
			if len(set.Words) == 0 {
				return errors.New("speed-bench-report takes run directories, or one parent directory")
			}
			return p.speedBench(set)
		},
	})
}

func (p *Program) speedBench(set *setting.CommandLine) error {
	refuse := func(err error, more string) error {
		p.printErr("Error: %v. %s", err, more) // the first sentence is that of the Python tool, for scripts that look for it
		return exitStatus(1)
	}
	words := strings.Join(set.Words, " ")
	runs, err := speedbench.Runs(set.Words, p.warnf)
	if err != nil {
		return refuse(err, fmt.Sprintf("A run has the file profile_export_aiperf.json, and %s has none. Name the directories of runs, or their parent.", words))
	}
	fmt.Fprintf(p.Out, "Found %d run directories.\n", len(runs))
	metric, format := speedbench.Metric(set.Text("--metric", "accept_length")), set.Text("--format", "both")
	table, err := speedbench.Build(runs, metric, p.warnf)
	if err != nil {
		return refuse(err, fmt.Sprintf("The warnings say why the runs of %s were skipped.", words))
	}
	if format != "csv" {
		rows := make([][]string, len(table.Rows))
		for i, row := range table.Rows {
			for _, cell := range row {
				if cell == "" {
					cell = "-"
				}
				rows[i] = append(rows[i], cell)
			}
		}
		if err := console.Table(p.Out, false, metric.Title(), table.Head, rows); err != nil {
			return err
		}
	}
	if format == "table" {
		return nil
	}
	path := set.Text("--output", "speed_bench_report.csv")
	if err := artifact.WriteFile(path, []byte(table.CSV())); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	fmt.Fprintf(p.Out, "CSV written to %s\n", path)
	return nil
}
