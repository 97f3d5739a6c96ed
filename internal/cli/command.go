package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
)

// tableCommand is a command whose flags are rows of a table: help, completion and the page of settings are derived from them.
type tableCommand struct {
	use, short, long string
	table            func() *setting.Table
	bare             cobra.ShellCompDirective // completion for words that are not flags or their values
	words            bool                     // such words are allowed, including those after "--"
	run              func(cmd *cobra.Command, set *setting.CommandLine, words []string) error
}

// command builds the command.
func (p *Program) command(c tableCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: c.use, Short: c.short, Long: c.long, DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, words []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return completeFlags(c.table(), words, toComplete, c.bare)
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			table := c.table()
			if wantsHelp(words) {
				return p.tableHelp(cmd, table)
			}
			p.Secrets.Add(redact.ArgSecrets(words, config.FlagSecret)...)
			flags, rest := words, []string(nil)
			if i := slices.Index(words, "--"); i >= 0 && c.words {
				flags, rest = words[:i], words[i+1:]
			}
			set, problems := setting.Scan(table, flags)
			set.Words = append(set.Words, rest...)
			if len(problems) == 0 && !c.words && len(set.Words) > 0 {
				problems = append(problems, fmt.Sprintf("unexpected word %q: %s takes flags only", set.Words[0], cmd.Name()))
			}
			for _, line := range set.Warnings {
				p.warnf("%s", line)
			}
			for _, line := range problems {
				p.errorf("%s", line)
			}
			if len(problems) > 0 {
				return exitStatus(1)
			}
			return c.run(cmd, set, words)
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_ = p.tableHelp(cmd, c.table()) // an error of standard output cannot be reported
	})
	return cmd
}

// tableHelp prints the purpose of a command and its flags.
func (p *Program) tableHelp(cmd *cobra.Command, table *setting.Table) error {
	width := min(max(p.columns(), 60), 140)
	out := bufio.NewWriter(p.Out)
	fmt.Fprintf(out, "Usage: %s [flags]\n\n", cmd.CommandPath()+strings.TrimPrefix(cmd.Use, cmd.Name()))
	for paragraph := range strings.SplitSeq(cmd.Long, "\n") {
		for _, line := range wrap(paragraph, width) {
			fmt.Fprintln(out, line)
		}
	}
	fmt.Fprintln(out)
	for i := range table.Rows {
		writeFlag(out, &table.Rows[i], width)
	}
	if cmd.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n%s\n", cmd.Example)
	}
	return out.Flush()
}

// rowsOfProfile returns rows of profile that have the same meaning for another command, with that command's own defaults.
func rowsOfProfile(flags ...[2]string) []setting.Row {
	var rows []setting.Row
	for _, one := range flags {
		if f, _, ok := resolve.Flags.Lookup(one[0]); ok {
			row := *f
			row.Default = one[1]
			rows = append(rows, row)
		}
	}
	return rows
}
