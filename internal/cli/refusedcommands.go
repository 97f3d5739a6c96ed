package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// refusedCommand is a command of the specification that this build recognises but does not support.
type refusedCommand struct {
	name, summary string
	children      []refusedCommand
}

// refusedCommands are listed in help and refused by name.
var refusedCommands = []refusedCommand{
	{name: "proxy", summary: "message proxy of the Python tool, not needed in one process"},
}

// addRefused adds the refused commands below a parent.
func addRefused(parent *cobra.Command) {
	for _, c := range refusedCommands {
		cmd := c.command()
		cmd.GroupID = groupLater
		parent.AddCommand(cmd)
	}
}

func (c refusedCommand) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:                c.name,
		Short:              c.summary,
		Long:               c.summary + ".",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			for _, w := range words {
				if w == "-h" || w == "--help" {
					return cmd.Help()
				}
			}
			return fmt.Errorf("%s is not built: %s", cmd.CommandPath(), c.summary)
		},
	}
	for _, child := range c.children {
		cmd.AddCommand(child.command())
	}
	return cmd
}
