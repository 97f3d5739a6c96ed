package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/setting"
	"aiperf/internal/cli/exampleconfigs"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
)

// configCommand builds the commands for configuration files.
func (p *Program) configCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "config", Short: "configuration files: templates, checks, conversion",
		Long:               "A configuration file holds the settings that profile takes as flags. Run one with: aiperf profile --config FILE",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, words []string) error {
			switch {
			case len(words) == 0 || wantsHelp(words):
				return cmd.Help()
			case strings.HasPrefix(words[0], "-"):
				return p.configFile(cmd.Context(), words)
			}
			return unknownCommand(cmd, words[0])
		},
	}
	root.AddCommand(p.configInit(), p.configImport(), p.configValidate(), p.configShow(), p.configExpand(), &cobra.Command{
		Use: "schema", Short: "JSON Schema of configuration files, for editors", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var inline []config.InlineKeys
			for _, one := range custom.KeysOfRows() {
				inline = append(inline, config.InlineKeys(one))
			}
			text, err := config.Schema(resolve.Flags.Rows, resolve.GoodputMetrics(), inline)
			if err == nil {
				_, err = p.data().Write(text)
			}
			return err
		},
	})
	return root
}

// configInit builds the command that prints or writes a template.
func (p *Program) configInit() *cobra.Command {
	var name, search, category, model, url, output string
	var list, verbose, force bool
	cmd := &cobra.Command{
		Use: "init [TEMPLATE]", Short: "template of a configuration file, printed or written", Args: cobra.ArbitraryArgs,
		Example: "  aiperf config init --list\n  aiperf config init minimal\n  aiperf config init minimal --model my/model --url localhost:8000 --output run.yaml",
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 1 || len(words) == 1 && name != "" {
				return fmt.Errorf("config init takes one template, not %s", strings.Join(append(words, name), " and "))
			}
			if len(words) == 1 {
				name = words[0]
			}
			switch {
			case list || search != "" || category != "":
				return p.listTemplates(search, category, verbose)
			case name == "" && output == "" && model == "" && url == "":
				p.errorf("config init needs --template NAME (prints a template), --list (lists all) or --search TEXT (lists matches)")
				return exitStatus(2)
			case name == "":
				name = "minimal"
			}
			t, err := exampleconfigs.Find(name)
			if err != nil {
				return fmt.Errorf("config init: %w", err)
			}
			text := t.With(model, url)
			if output == "" {
				_, err = fmt.Fprint(p.data(), text)
				return err
			}
			if err := writeNew(output, text, force); err != nil {
				return fmt.Errorf("--output: %w", err)
			}
			p.printErr("%s: written; aiperf profile --config %s runs it", output, output)
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&name, "template", "t", "", "name of the template")
	f.BoolVarP(&list, "list", "l", false, "list the templates by category")
	f.StringVarP(&search, "search", "s", "", "list the templates that mention this text")
	f.StringVarP(&category, "category", "c", "", "list the templates of this category")
	f.BoolVarP(&verbose, "verbose", "v", false, "list tags and difficulty too")
	f.StringVarP(&model, "model", "m", "", "model name to insert")
	f.StringVarP(&url, "url", "u", "", "server URL to insert")
	f.StringVarP(&output, "output", "o", "", "new file to write")
	f.BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

// writeNew writes a file that does not exist yet, or replaces it with force.
func writeNew(path, text string, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; overwrite it with --force", path)
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (p *Program) listTemplates(search, category string, verbose bool) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	last := ""
	for _, t := range exampleconfigs.All() {
		if search != "" && !t.Matches(search) || category != "" && !strings.Contains(strings.ToLower(t.Category), strings.ToLower(category)) {
			continue
		}
		if t.Category != last {
			if last != "" {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, t.Category)
			last = t.Category
		}
		fmt.Fprintf(w, "  %s\t%s\t%s", t.Name, t.Title, t.Description)
		if verbose {
			fmt.Fprintf(w, "\t%s\t%s", t.Tags, t.Difficulty)
		}
		fmt.Fprintln(w)
	}
	if last == "" {
		return fmt.Errorf("no template matches; list all with aiperf config init --list")
	}
	return w.Flush()
}

// loadFile resolves a file as profile would without flags. It prints problems and returns nil if there are any.
func (p *Program) loadFile(ctx context.Context, path string) *config.Run {
	set, faults := setting.Scan(resolve.Flags, []string{"--config", path})
	if len(faults) > 0 {
		p.say(nil, resolve.Findings{Problems: faults})
		return nil
	}
	run, found := resolve.FromFile(set, p.surroundings(p.modelLister(ctx, true)))
	for i, text := range found.Problems {
		found.Problems[i] = strings.TrimPrefix(text, "--config: ")
	}
	found.Notes = nil
	p.say(run, found)
	if len(found.Problems) > 0 {
		return nil
	}
	return run
}

func (p *Program) configValidate() *cobra.Command {
	return &cobra.Command{
		Use: "validate FILE", Short: "check of a configuration file", Args: oneFile,
		RunE: func(cmd *cobra.Command, words []string) error {
			if p.loadFile(cmd.Context(), words[0]) == nil {
				return exitStatus(1)
			}
			_, err := fmt.Fprintf(p.Out, "Configuration valid: %s\n", words[0])
			return err
		},
	}
}

// oneFile requires the name of exactly one file.
func oneFile(cmd *cobra.Command, words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("%s takes one file, not %d", cmd.CommandPath(), len(words))
	}
	return nil
}

func (p *Program) configShow() *cobra.Command {
	return &cobra.Command{
		Use: "show FILE", Short: "configuration file with every default, as profile understands it", Args: oneFile,
		RunE: func(cmd *cobra.Command, words []string) error {
			run := p.loadFile(cmd.Context(), words[0])
			if run == nil {
				return exitStatus(1)
			}
			if status := p.print(run); status != 0 {
				return exitStatus(status)
			}
			return nil
		},
	}
}

// expandedCell is one cell in the output of config expand.
type expandedCell struct {
	Index     int       `yaml:"index" json:"index"`
	Dir       string    `yaml:"dir_name" json:"dir_name"`
	Label     string    `yaml:"label" json:"label"`
	Values    yaml.Node `yaml:"values" json:"-"`
	Benchmark yaml.Node `yaml:"benchmark,omitempty" json:"-"`
}

// configExpand builds the command that shows the cells of a sweep.
func (p *Program) configExpand() *cobra.Command {
	var full bool
	var index int
	var format string
	cmd := &cobra.Command{
		Use: "expand FILE", Short: "cells of a sweep", Args: oneFile,
		RunE: func(cmd *cobra.Command, words []string) error {
			run := p.loadFile(cmd.Context(), words[0])
			if run == nil {
				return exitStatus(1)
			}
			if run.Sweep != nil && run.Sweep.Type == config.SweepSearch {
				p.errorf("%s: sweep.type adaptive_search: its cells depend on results", words[0])
				return exitStatus(2)
			}
			cells, err := run.Cells()
			if err != nil {
				return err
			}
			one := cmd.Flags().Changed("index")
			if one && (index < 0 || index >= len(cells)) {
				return fmt.Errorf("--index %d: the file has the cells 0 to %d", index, len(cells)-1)
			}
			var list []expandedCell
			for i := range cells {
				if one && i != index {
					continue
				}
				e, err := expand(i, &cells[i], full || one)
				if err != nil {
					return err
				}
				list = append(list, e)
			}
			return p.writeExpanded(sweepTitle(run), list, len(cells), format)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&full, "full", "F", false, "print the whole benchmark of every cell")
	f.IntVarP(&index, "index", "i", 0, "print only this cell, with its benchmark")
	f.StringVarP(&format, "format", "f", "text", "text, yaml or json")
	return cmd
}

// sweepTitle returns the name of a type of sweep for the listing.
func sweepTitle(run *config.Run) string {
	if run.Sweep == nil {
		return "none"
	}
	return map[config.SweepType]string{
		config.SweepGrid: "GridSweep", config.SweepZip: "ZipSweep", config.SweepScenarios: "ScenarioSweep", config.SweepSobol: "SobolSweep", config.SweepLatin: "LatinHypercubeSweep",
	}[run.Sweep.Type]
}

func expand(i int, c *config.Cell, full bool) (e expandedCell, err error) {
	e = expandedCell{Index: i, Dir: c.Dir, Label: c.Label}
	if c.Dir == "" {
		e.Dir, e.Label = "base", "base"
	}
	if e.Values, err = c.ValuesNode(); err == nil && full {
		e.Benchmark, err = c.Run.BodyNode()
	}
	return e, err
}

// spelledOut replaces numbers that JSON does not support by the words that a file may contain for them.
func spelledOut(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = spelledOut(v[key])
		}
	case []any:
		for i := range v {
			v[i] = spelledOut(v[i])
		}
	case float64:
		if math.IsInf(v, 0) {
			return "inf"
		}
	}
	return v
}

func (p *Program) writeExpanded(title string, list []expandedCell, of int, format string) error {
	out := p.data()
	switch format {
	case "yaml":
		enc := yaml.NewEncoder(out)
		enc.SetIndent(2)
		return errors.Join(enc.Encode(struct {
			Type       string         `yaml:"sweep_type"`
			Variations []expandedCell `yaml:"variations"`
		}{title, list}), enc.Close())
	case "json":
		var cells []map[string]any
		for _, e := range list {
			var values, body any
			if err := errors.Join(e.Values.Decode(&values), e.Benchmark.Decode(&body)); err != nil {
				return err
			}
			values, body = spelledOut(values), spelledOut(body)
			cell := map[string]any{"index": e.Index, "dir_name": e.Dir, "label": e.Label, "values": values}
			if body != nil {
				cell["benchmark"] = body
			}
			cells = append(cells, cell)
		}
		text, err := json.MarshalIndent(map[string]any{"sweep_type": title, "variations": cells}, "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", text)
		}
		return err
	case "text":
		plural := "s"
		if of == 1 {
			plural = ""
		}
		fmt.Fprintf(out, "Sweep type: %s (%d variation%s)\n\n", title, of, plural)
		for _, e := range list {
			fmt.Fprintf(out, "[%d] dir=%s  label=%s\n", e.Index, e.Dir, e.Label)
			if e.Benchmark.IsZero() {
				continue
			}
			var b strings.Builder
			enc := yaml.NewEncoder(&b)
			enc.SetIndent(2)
			if err := enc.Encode(&e.Benchmark); err != nil {
				return err
			}
			for line := range strings.Lines(b.String()) {
				fmt.Fprint(out, "    "+line)
			}
		}
		return nil
	}
	return fmt.Errorf("--format %q is not one of text, yaml, json", format)
}
