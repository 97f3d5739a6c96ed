package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/suggest"
	"aiperf/internal/base/terminal"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/cli/version"
	"aiperf/internal/report/ui/dashboard"
)

// exitStatus is an error that carries an exit status; the messages have already been printed.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Main runs one command line (without the program's name) and returns the exit status.
func Main(ctx context.Context, p *Program, argv []string) int {
	if len(argv) == 2 && argv[0] == dashboard.KeeperCommand {
		return dashboard.Keep(argv[1])
	}
	defer p.flush()
	if version.Asked(argv) { // a build with a release answers earlier, when the package version is initialised
		_ = p.printVersion() // an error of standard output cannot be reported
		return 0
	}
	argv = p.takeOldName(argv)
	root := p.root()
	root.SetArgs(argv)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := strayCommand(root, argv)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	p.errorf("%v", err)
	return 1
}

// flagError adds a suggestion to the error about an unknown flag of a cobra command.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		hint = cobraTable(cmd).Hint(dashed(unknown.GetSpecifiedName()))
	}
	if hint == "" {
		hint = ";"
	}
	return fmt.Errorf("%w%s see %s --help", err, hint, cmd.CommandPath())
}

// dashed returns the name of a flag with its dashes.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// cobraTable returns the flags of a cobra command as a table of rows, for suggestions.
func cobraTable(cmd *cobra.Command) *setting.Table {
	var rows []setting.Row
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		row := setting.Row{Flags: []string{"--" + f.Name}, Kind: setting.Text}
		if f.Shorthand != "" {
			row.Flags = append(row.Flags, "-"+f.Shorthand)
		}
		rows = append(rows, row)
	})
	return setting.NewTable(rows)
}

// root builds the tree of commands.
func (p *Program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "aiperf",
		Short: "benchmarks of LLM inference servers",
		Long:  "aiperf sends load to an inference server and measures every answer.\n\n" + topicList(),
		Example: "  aiperf profile --url mock:// --streaming --concurrency 8      without a server\n" +
			"  aiperf profile --url localhost:8000 --streaming --request-rate 10 --benchmark-duration 2m\n" +
			"  aiperf compare artifacts/before artifacts/after\n" +
			"  aiperf help slo",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		},
	}
	root.SetFlagErrorFunc(flagError)
	tokenizers := p.newTokenizerCommand()
	tokenizers.SetOut(p.data()) // print texts and ids unchanged
	root.AddCommand(p.profileCommand(), p.mockServerCommand(), p.newReportCommand(), tokenizers, p.configCommand(), p.analyzeCommand(), p.createTemplate(), p.compareCommand(), p.explainCommand(), p.plotCommand(), p.chatCommand(), p.watchCommand())
	root.AddCommand(p.mergeCommand(), p.processExportFiles(), p.findCapacityCommand(), p.turnsCommand())
	root.AddCommand(p.traceCommands()...)
	root.AddCommand(p.datasetCommand(), p.accuracyCommand(), p.speedBenchReport(), p.versionCommand(), p.oldNameCommand(), p.doctorCommand(), p.pluginsCommand(), p.supportBundleCommand(), p.workerCommand(), p.serviceCommand(), p.kubeGroup())
	p.completionCommands(root)
	for _, c := range root.Commands() {
		c.GroupID = groupOf(c.Name())
	}
	root.Flags().Bool("version", false, "version of this program") // Main prints it
	addRefused(root)
	help := p.helpCommand(root)
	if p.old {
		underOldName(root)
		help.GroupID, help.Example = "", "  "+oldName+" help profile\n  "+oldName+" help request-rate"
	} else {
		for _, g := range commandGroups {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		}
	}
	root.SetHelpCommand(help)
	giveExamples(root)
	plainCounts(root)
	p.wrapHelp(root)
	return root
}

// plainCounts lets the errors about a wrong number of arguments show what to write. It changes root and all commands below it.
func plainCounts(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, words []string) error {
			err := check(cmd, words)
			if err == nil || !strings.Contains(err.Error(), " arg(s), ") { // cobra's own words about a number
				return err
			}
			return fmt.Errorf("%s has %s; write %s", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), terminal.Plural(len(words), "argument"), cmd.UseLine())
		}
	}
	for _, child := range c.Commands() {
		plainCounts(child)
	}
}

// groupLater is the heading of the commands that are not built.
const groupLater = "Known, not built"

// commandGroups lists the headings of the main help, each with its commands.
var commandGroups = []struct{ title, commands string }{
	{"Run", "profile chat find-capacity ab accuracy mock-server watch worker kube"},
	{"Compare", "compare merge speed-bench-report"},
	{"Reports", "explain report plot validate"},
	{"Data", "dataset tokenizer analyze-trace anonymize-trace synthesize-trace synthesize"},
	{"Configure", "config plugins completion version doctor help"},
	{"Old names", "genai-perf analyze create-template process-export-files service"},
	{groupLater, ""},
}

// groupOf returns the heading of a command.
func groupOf(command string) string {
	for _, g := range commandGroups {
		if slices.Contains(strings.Fields(g.commands), command) {
			return g.title
		}
	}
	return commandGroups[0].title
}

// strayCommand reports an unknown command as the first word, whatever flags follow it, and a flag of profile without that word.
func strayCommand(root *cobra.Command, argv []string) error {
	if len(argv) == 0 || strings.HasPrefix(argv[0], "__") {
		return nil
	}
	if !strings.HasPrefix(argv[0], "-") {
		if found, _, err := root.Find(argv[:1]); err == nil && found == root && argv[0] != "help" {
			return unknownCommand(root, argv[0])
		}
		return nil
	}
	name, _, _ := strings.Cut(argv[0], "=")
	if _, _, ok := resolve.Flags.Lookup(name); ok && root.Flags().Lookup(strings.TrimLeft(name, "-")) == nil {
		return fmt.Errorf("%s is a flag of profile: aiperf profile %s …", name, name)
	}
	return nil
}

// unknownCommand returns an error that names the most similar command and lists all.
func unknownCommand(parent *cobra.Command, word string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := ""
	if near := suggest.Name(word, names); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return fmt.Errorf("unknown command %q%s\ncommands: %s", word, hint, strings.Join(names, ", "))
}
