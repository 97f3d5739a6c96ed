package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// oldCommands are GenAI-Perf's commands.
const oldCommands = "profile analyze config create-template process-export-files"

// oldLong is the help text for the old name.
const oldLong = "Runs profile, analyze, config, create-template or process-export-files as GenAI-Perf did. A link named " + oldName + " does the same.\n\n" +
	"The default endpoint type is kserve on localhost:8001, request rates are constant, and -1 means unset. " +
	"A run also writes profile_export.json, profile_export_genai_perf.json and profile_export_genai_perf.csv."

// oldExample is a command line of GenAI-Perf.
const oldExample = oldName + " profile -m gpt2 --backend tensorrtllm --streaming"

// oldProfileExamples are the command lines of the short help of profile under the old name.
var oldProfileExamples = [][2]string{
	{"Triton over gRPC on localhost:8001", "--model gpt2 --backend tensorrtllm --streaming"},
	{"an OpenAI server on localhost:8000", "--model gpt2 --endpoint-type chat --streaming --concurrency 8 --request-count 200"},
	{"10 requests a second of given lengths", "--model gpt2 --endpoint-type chat --streaming --request-rate 10 --synthetic-input-tokens-mean 512 --output-tokens-mean 128"},
}

// oldNameCommand lists the old name in help; takeOldName takes the word before commands are looked up.
func (p *Program) oldNameCommand() *cobra.Command {
	return &cobra.Command{
		Use: oldName + " COMMAND", Short: "any command, with GenAI-Perf's defaults and files",
		Long: oldLong, Example: "  aiperf " + oldExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// underOldName changes the help to that of GenAI-Perf: its name, its commands, and the options of config. Other commands work but are not listed.
func underOldName(root *cobra.Command) {
	root.Use, root.Short, root.Long = oldName, "benchmark of inference servers with GenAI-Perf's command lines", oldLong
	root.Example = "  " + oldExample + "\n  " + oldName + " profile -m gpt2 --endpoint-type chat --streaming\n  " + oldName + " create-template"
	for _, c := range root.Commands() {
		c.GroupID, c.Hidden = "", !slices.Contains(strings.Fields(oldCommands), c.Name())
		switch c.Name() {
		case "config":
			oldConfig(c)
		case "analyze":
			c.Example = "  " + oldName + " analyze -m gpt2 --endpoint-type chat --sweep-type concurrency --sweep-range 1:64"
			hideCommands(c)
		}
	}
}

// oldConfig changes config to GenAI-Perf's: a file to run, without subcommands.
func oldConfig(c *cobra.Command) {
	c.Use, c.Short = "config -f FILE", "run of a configuration file"
	c.Long = "Runs profile or analyze with the settings of a file. It accepts every flag of profile; flags override the file. create-template writes a file to start from."
	c.Example = "  " + oldName + " create-template -f run.yaml\n  " + oldName + " config -f run.yaml -m gpt2"
	c.Flags().StringP("file", "f", "", "configuration file to run; YAML of GenAI-Perf or of aiperf")
	c.Flags().Bool("override-config", false, "accepted without effect, because flags always win over the file")
	hideCommands(c)
}

func hideCommands(c *cobra.Command) {
	for _, child := range c.Commands() {
		child.Hidden = true
	}
}
