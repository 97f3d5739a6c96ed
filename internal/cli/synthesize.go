package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// synthesizeCommand makes traces: of a trace, or of the laws of a workload.
func (p *Program) synthesizeCommand() *cobra.Command {
	// Without a target word a trace is rewritten.
	root := p.rewriteCommand("synthesize")
	root.Short = "Rewrite a trace, or generate the trace of a workload"
	rewriteTrace := root.RunE
	root.Args = cobra.ArbitraryArgs
	root.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) == 0 && !cmd.Flags().Changed("input-file") {
			return fmt.Errorf("--target: trace or agentic-code is missing; see %s --help", cmd.CommandPath())
		}
		if len(words) > 2 {
			return fmt.Errorf("%s takes an input and an output file, not %d words", cmd.CommandPath(), len(words))
		}
		return rewriteTrace(cmd, words)
	}
	root.AddCommand(p.rewriteCommand("trace IN [OUT]"))
	return root
}
