package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"aiperf/internal/base/rng"
	htmlpage "aiperf/internal/report/htmlreport"
	"aiperf/internal/workload/dataset/agentic"
)

// synthesizeCommand builds the commands that make traces: from a trace, or from the distributions of a workload.
func (p *Program) synthesizeCommand() *cobra.Command {
	// Without a target word, a trace is rewritten.
	root := p.rewriteCommand("synthesize")
	root.Short = "rewritten trace, or generated trace of a workload"
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
	root.AddCommand(p.rewriteCommand("trace IN [OUT]"), p.agenticCommand())
	return root
}

// agenticCommand builds the command that generates the trace of coding agents.
func (p *Program) agenticCommand() *cobra.Command {
	var sessions, maxISL, maxOSL int
	var output, config string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "agentic-code",
		Short: "trace of coding agents: long prompts that grow and share prefixes",
		Long: "Draws sessions from the distributions of a configuration and writes a directory with these files: dataset.jsonl (mooncake rows, for profile --input-file),\n" +
			"manifest.json (can be given to --config), quality.json and comparison.txt (target and actual distributions), cache_structure.json (the layers of the prompts).\n" +
			"It also writes self-contained pages for a browser: report.html, cache_explorer.html, simulation.html (a cache under these sessions).",
		Example: "  aiperf synthesize agentic-code --num-sessions 200 --output traces --seed 7",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for flag, n := range map[string]int{"num-sessions": sessions, "max-isl": maxISL, "max-osl": maxOSL} {
				if cmd.Flags().Changed(flag) && n < 1 {
					return fmt.Errorf("--%s %d: must be at least 1", flag, n)
				}
			}
			c, name, err := agentic.Load(config)
			if err != nil {
				return fmt.Errorf("--config: %w", err)
			}
			if maxISL > 0 {
				c.MaxPrompt = maxISL
			}
			if maxOSL > 0 {
				most := float64(maxOSL)
				c.Output.Max = &most
			}
			if err := c.Check(); err != nil {
				return fmt.Errorf("--config, --max-isl, --max-osl: %w", err)
			}
			return p.generateAgents(c, name, sessions, seed, output)
		},
	}
	f := cmd.Flags()
	f.IntVar(&sessions, "num-sessions", 1000, "number of sessions to generate; splits add more")
	f.StringVar(&output, "output", ".", "parent of the new trace directory")
	f.StringVar(&config, "config", "", "a bundled name (default), a JSON file, or the manifest.json of a former run")
	f.Uint64Var(&seed, "seed", 42, "random seed; the same seed gives the same sessions")
	f.IntVar(&maxISL, "max-isl", 0, "longest prompt, in tokens; overrides the configuration")
	f.IntVar(&maxOSL, "max-osl", 0, "longest output, in tokens; overrides the configuration")
	return cmd
}

func (p *Program) generateAgents(c *agentic.Config, name string, n int, seed uint64, output string) error {
	fmt.Fprintf(p.Err, "Generating %d sessions (seed=%d)...\n", n, seed)
	m := p.newMeter("synthesize", fmt.Sprintf("of %s sessions", thousands(float64(n), 0)))
	sessions, err := agentic.Generate(c, n, rng.New(&seed), m.reach)
	m.done()
	if err != nil {
		return err
	}
	made := &agentic.Made{Config: c, Name: name, Seed: seed, Sessions: sessions}
	made.Command = fmt.Sprintf("aiperf synthesize agentic-code --config manifest.json --num-sessions %d --seed %d", n, seed)
	dir := filepath.Join(output, fmt.Sprintf("%s_%ds_seed%d_%s", name, n, seed, time.Now().UTC().Format("20060102-150405")))
	comparison, err := p.writeAgents(made, dir)
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	_, err = fmt.Fprintf(p.Out, "Run directory: %s\n  dataset.jsonl (%d turns), manifest.json, quality.json, cache_structure.json, comparison.txt\n"+
		"  for a browser: report.html, cache_explorer.html, simulation.html\n\n%s", dir, agentic.Requests(sessions), comparison)
	return err
}

// writeAgents writes a dataset and its pages into a directory, completely or not at all.
func (p *Program) writeAgents(made *agentic.Made, dir string) (comparison string, err error) {
	part, err := p.draftDirectory(dir)
	if err != nil {
		return "", err
	}
	defer part.drop()
	if comparison, err = made.Write(part.path); err != nil {
		return "", err
	}
	for _, one := range []struct {
		file string
		make func(*agentic.Made, string) ([]byte, error)
	}{{htmlpage.AgentsReportFile, htmlpage.Agents}, {htmlpage.AgentsCacheFile, htmlpage.AgentsCache}, {htmlpage.AgentsSimulationFile, htmlpage.AgentsSimulation}} {
		text, err := one.make(made, Version())
		if err == nil {
			err = os.WriteFile(filepath.Join(part.path, one.file), text, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", one.file, err)
		}
	}
	return comparison, part.commit()
}
