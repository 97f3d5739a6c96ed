package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/report/console"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/trace"
)

// traceCommands builds the commands for recorded traffic.
func (p *Program) traceCommands() []*cobra.Command {
	synthesize := p.synthesizeCommand()
	return []*cobra.Command{p.analyzeTraceCommand(), synthesize, p.rewriteCommand("synthesize-trace IN [OUT]"), p.validateCommand(), p.anonymizeCommand()}
}

// analyzeTraceCommand builds the command that reports lengths and prefix sharing of a trace.
func (p *Program) analyzeTraceCommand() *cobra.Command {
	var input, output string
	var block int
	cmd := &cobra.Command{
		Use:   "analyze-trace FILE [BLOCK-SIZE [OUTPUT-FILE]]",
		Short: "lengths, prefix reuse and cache hit rate of a trace",
		Long: "Reads a trace of rows in the mooncake format (input_length, output_length, hash_ids) twice. Prints the lengths of its inputs and outputs,\n" +
			"how much of them the rows share, and the hit rate of an unlimited prefix cache. --output-file writes the same as JSON.",
		Example: "  aiperf analyze-trace trace.jsonl\n  aiperf analyze-trace trace.jsonl --block-size 16 --output-file report.json",
		Args:    cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := positional(cmd, words, "input-file", "block-size", "output-file"); err != nil {
				return err
			}
			switch {
			case input == "":
				return errors.New("--input-file: the trace is missing; aiperf analyze-trace FILE")
			case block < 1:
				return fmt.Errorf("--block-size %d: must be at least 1", block)
			}
			a, err := trace.Analyze(block, func(f func(trace.Shape)) error {
				m := p.newMeter("analyze-trace", "rows read")
				defer m.done()
				return trace.Shapes(input, func(s trace.Shape) { m.tick(); f(s) })
			})
			if err != nil {
				return err
			}
			if err := p.printAnalysis(a); err != nil || output == "" {
				return err
			}
			if err := writeJSON(output, a); err != nil {
				return fmt.Errorf("--output-file: %w", err)
			}
			_, err = fmt.Fprintf(p.Out, "\nAnalysis report saved to %s\n", output)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&input, "input-file", "", "trace file: JSON Lines, also .gz")
	f.IntVar(&block, "block-size", 512, "number of tokens per hash id")
	f.StringVar(&output, "output-file", "", "also write the figures to this JSON file")
	return cmd
}

// positional assigns the words of a command to the flags that they represent, unless those are given.
func positional(cmd *cobra.Command, words []string, flags ...string) error {
	for i, w := range words {
		if cmd.Flags().Changed(flags[i]) {
			return fmt.Errorf("--%s is given twice: %q too", flags[i], w)
		}
		if err := cmd.Flags().Set(flags[i], w); err != nil {
			return fmt.Errorf("--%s %q: %w", flags[i], w, err)
		}
	}
	return nil
}

// writeJSON writes a value as indented JSON to a file and creates its directory.
func writeJSON(path string, v any) error {
	text, err := jsontext.Marshal(v)
	if err == nil {
		text, err = jsontext.Indent(text)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// printAnalysis prints the report of a trace.
func (p *Program) printAnalysis(a *trace.Analysis) error {
	count := func(n int) string { return thousands(float64(n), 0) }
	fmt.Fprintf(p.Out, "\nTrace Analysis Report\nTotal requests:   %s\nUnique prefixes:  %s\nPrefix groups:    %s\n\n", count(a.Requests), count(a.UniquePrefixes), count(a.PrefixGroups))
	return console.Table(p.Out, p.Colour, "Trace Statistics", []string{"Metric", "Mean", "Std Dev", "Min", "P25", "Median", "P75", "Max"}, [][]string{
		spreadRow("Input Length", a.ISL), spreadRow("Context Length", a.Context), spreadRow("Unique Prompt Length", a.Unique), spreadRow("Output Length", a.OSL),
		spreadRow("Theoretical Hit Rates", a.HitRate),
	})
}

func spreadRow(name string, s *trace.Spread) []string {
	if s == nil {
		return []string{name, "N/A", "N/A", "N/A", "N/A", "N/A", "N/A", "N/A"}
	}
	row := []string{name}
	for _, v := range []float64{s.Mean, s.StdDev, s.Min, s.P25, s.Median, s.P75, s.Max} {
		row = append(row, thousands(v, 2))
	}
	return row
}

// thousands formats a number with decimals and thousands separators.
func thousands(v float64, decimals int) string {
	return terminal.Thousands(strconv.FormatFloat(v, 'f', decimals, 64))
}

// traceRewrite holds the flags of the command that rewrites a trace.
type traceRewrite struct {
	input, output, kind   string
	block, maxISL, maxOSL int
	seed                  uint64
	by                    trace.Synthesis
}

// rewriteCommand builds the command that makes a trace from a trace.
func (p *Program) rewriteCommand(use string) *cobra.Command {
	r := &traceRewrite{}
	cmd := &cobra.Command{
		Use: use, Short: "rewritten trace: scaled and capped times, prefixes and lengths",
		Long: "Reads recorded traffic, rescales it like profile --synthesis-…, and writes it in the mooncake format. The block ids form a prefix\n" +
			"tree: the prefix multiplier scales the shared parts, the root multiplier copies them, and the prompt multiplier scales the rest.",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := positional(cmd, words, "input-file", "output-file"); err != nil {
				return err
			}
			return p.rewrite(r, cmd.Flags().Changed("random-seed"))
		},
	}
	r.flags(cmd)
	return cmd
}

func (r *traceRewrite) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.input, "input-file", "", "the trace")
	f.StringVar(&r.output, "output-file", "", "file to write (default: IN with _synth before its ending)")
	f.StringVar(&r.kind, "custom-dataset-type", trace.MooncakeType, "format of the trace: mooncake_trace, bailian_trace, burst_gpt_trace")
	f.IntVar(&r.block, "block-size", 0, "number of tokens per hash id (default: 512; 16 for bailian_trace)")
	f.Uint64Var(&r.seed, "random-seed", 0, "seed of the copies of --prefix-root-multiplier (default: entropy)")
	for _, prefix := range []string{"", "synthesis-"} { // the names of profile are accepted too
		f.Float64Var(&r.by.Speedup, prefix+"speedup-ratio", 1, "divide times by this")
		f.Float64Var(&r.by.PrefixLen, prefix+"prefix-len-multiplier", 1, "factor for shared prefix lengths")
		f.IntVar(&r.by.PrefixRoot, prefix+"prefix-root-multiplier", 1, "independent copies of the prefix tree")
		f.Float64Var(&r.by.PromptLen, prefix+"prompt-len-multiplier", 1, "factor for unshared prompt lengths")
		f.Float64Var(&r.by.OutputLen, prefix+"output-len-multiplier", 1, "factor for output lengths")
		f.IntVar(&r.maxISL, prefix+"max-isl", 0, "skip rows with longer inputs (default: none)")
		f.IntVar(&r.maxOSL, prefix+"max-osl", 0, "cut longer outputs (default: none)")
		if prefix != "" {
			for _, name := range []string{"speedup-ratio", "prefix-len-multiplier", "prefix-root-multiplier", "prompt-len-multiplier", "output-len-multiplier", "max-isl", "max-osl"} {
				_ = f.MarkHidden(prefix + name) // the flag exists
			}
		}
	}
}

func (r *traceRewrite) check() error {
	for _, one := range []struct {
		flag string
		bad  bool
		v    any
	}{
		{"--speedup-ratio", !(r.by.Speedup > 0), r.by.Speedup}, {"--prefix-len-multiplier", !(r.by.PrefixLen > 0), r.by.PrefixLen},
		{"--prompt-len-multiplier", !(r.by.PromptLen > 0), r.by.PromptLen}, {"--output-len-multiplier", !(r.by.OutputLen > 0), r.by.OutputLen},
	} {
		if one.bad {
			return fmt.Errorf("%s %v: must be above 0", one.flag, one.v)
		}
	}
	switch {
	case r.input == "":
		return errors.New("--input-file: the trace is missing; aiperf synthesize trace IN OUT")
	case r.by.PrefixRoot < 1:
		return fmt.Errorf("--prefix-root-multiplier %d: must be at least 1", r.by.PrefixRoot)
	case r.maxISL < 0 || r.maxOSL < 0 || r.block < 0:
		return errors.New("--max-isl, --max-osl, --block-size: must be at least 1")
	}
	if r.output == "" {
		ext := filepath.Ext(strings.TrimSuffix(r.input, ".gz"))
		r.output = strings.TrimSuffix(strings.TrimSuffix(r.input, ".gz"), ext) + "_synth.jsonl"
	}
	if a, err := os.Stat(r.input); err == nil {
		if b, err := os.Stat(r.output); err == nil && os.SameFile(a, b) {
			return fmt.Errorf("--output-file %s is the trace itself", r.output)
		}
	}
	return nil
}

// rewrite reads, rescales and writes a trace, and reports the changes.
func (p *Program) rewrite(r *traceRewrite, seeded bool) error {
	if err := r.check(); err != nil {
		return err
	}
	root := rng.New(nil)
	if seeded {
		root = rng.New(&r.seed)
	}
	r.by.MaxISL, r.by.MaxOSL = r.maxISL, r.maxOSL
	m := p.newMeter("synthesize", "rows read")
	defer m.done()
	t, info, err := custom.ReadTraffic(r.input, custom.Options{Root: root, Type: r.kind, Spell: config.FlagOf, BlockSize: r.block, DelayRatio: 1, Limits: trace.Limits{MaxISL: r.maxISL, MaxOSL: r.maxOSL},
		Reading: m.reach})
	if err != nil {
		return err
	}
	for _, w := range info.Warnings {
		p.warnf("%s", w)
	}
	all := trace.InOrder(t.Records, t.Sessions)
	before, err := analysisOf(all, t.Block)
	if err != nil {
		return err
	}
	for i := range t.Sessions {
		trace.Limits{MaxOSL: r.maxOSL}.Cap(t.Sessions[i].Records, &info)
	}
	if err := r.by.Apply(t.Sessions, t.Block, root); err != nil {
		return err
	}
	after, err := analysisOf(all, t.Block)
	if err != nil {
		return err
	}
	m.done()
	if err := p.writeRows(r.output, all); err != nil {
		return fmt.Errorf("--output-file: %w", err)
	}
	if info.TooLong+info.Capped > 0 {
		p.printErr("note: %d rows skipped (input above %d), %d outputs cut to %d", info.TooLong, r.maxISL, info.Capped, r.maxOSL)
	}
	return p.printChange(r.output, before, after)
}

func analysisOf(all []*trace.Record, block int) (*trace.Analysis, error) {
	return trace.Analyze(block, func(f func(trace.Shape)) error {
		for _, rec := range all {
			s := trace.Shape{Input: rec.InputLength, IDs: rec.HashIDs}
			if rec.OutputLength != nil {
				s.Output = *rec.OutputLength
			}
			f(s)
		}
		return nil
	})
}

// writeRows writes a trace; after an error no file remains.
func (p *Program) writeRows(path string, all []*trace.Record) error {
	file, err := p.draftFile(path)
	if err != nil {
		return err
	}
	defer file.drop()
	if err := trace.WriteRows(file, all); err != nil {
		return err
	}
	return file.commit()
}

func (p *Program) printChange(path string, before, after *trace.Analysis) error {
	rows := [][]string{}
	add := func(name string, decimals int, get func(*trace.Analysis) float64) {
		rows = append(rows, []string{name, thousands(get(before), decimals), thousands(get(after), decimals)})
	}
	mean := func(s *trace.Spread) float64 {
		if s == nil {
			return 0
		}
		return s.Mean
	}
	add("Requests", 0, func(a *trace.Analysis) float64 { return float64(a.Requests) })
	add("Mean input length", 1, func(a *trace.Analysis) float64 { return a.AvgISL })
	add("Mean context length", 1, func(a *trace.Analysis) float64 { return mean(a.Context) })
	add("Mean output length", 1, func(a *trace.Analysis) float64 { return a.AvgOSL })
	add("Unique prefixes", 0, func(a *trace.Analysis) float64 { return float64(a.UniquePrefixes) })
	add("Prefix groups", 0, func(a *trace.Analysis) float64 { return float64(a.PrefixGroups) })
	add("Theoretical hit rate", 3, func(a *trace.Analysis) float64 { return a.CacheHitRate })
	if err := console.Table(p.Out, p.Colour, "Trace Synthesis", []string{"Metric", "Before", "After"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Out, "%d rows written to %s\n", after.Requests, path)
	return err
}
