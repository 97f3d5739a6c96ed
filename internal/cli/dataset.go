package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/dataset/convert"
	"aiperf/internal/workload/dataset/custom"
)

// datasetCommand builds the commands that describe and convert data files.
func (p *Program) datasetCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "dataset", Short: "content, conversion and download of data files", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		},
	}
	root.AddCommand(p.describeCommand(), p.convertCommand(), p.listCommand(), p.pullCommand())
	return root
}

// describeCommand builds the command that describes the content of a file.
func (p *Program) describeCommand() *cobra.Command {
	var kind, column, words, output string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "rows, sessions, token lengths, prefix sharing, media, arrivals of a file",
		Long: "Reads a data file row by row and describes its content. Lengths come from the rows, or are counted with --tokenizer.\n" +
			"Formats: " + custom.Streamed() + ".",
		Example: "  aiperf dataset describe trace.jsonl\n  aiperf dataset describe prompts.jsonl --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			count := p.counter(cmd.Context(), words)
			m := p.newMeter("dataset describe", "rows read")
			defer m.done()
			c := convert.NewCollector(args[0], count.count, m.tick)
			c.BlockSize = config.FlagOf("datasets.main.prompts.block_size")
			format, warnings, err := custom.Stream(args[0], kind, custom.Options{Root: rng.New(nil), InputColumn: column, Spell: config.FlagOf}, func(e custom.Entry) error {
				return errors.Join(c.Add(e), count.err, cmd.Context().Err())
			})
			if m.done(); err != nil {
				return err
			}
			for _, w := range warnings {
				p.warnf("%s", w)
			}
			if text := c.Mismatch(); text != "" {
				p.warnf("%s", text)
			}
			s, err := c.Result(format)
			if err != nil {
				return err
			}
			if output != "" {
				if err := writeJSON(output, s); err != nil {
					return fmt.Errorf("--output-file: %w", err)
				}
			}
			if !asJSON {
				return p.drawSurvey(s)
			}
			text, err := jsontext.Marshal(s)
			if err == nil {
				text, err = jsontext.Indent(text)
			}
			if err == nil {
				_, err = fmt.Fprintf(p.data(), "%s\n", text)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&kind, "custom-dataset-type", "", "format of the file (default: recognised from its content)")
	f.StringVar(&column, "input-column", "", "key or column of the prompts (default: text, prompt, question, instruction, input or query)")
	f.StringVar(&words, "tokenizer", tokenizer.BuiltinName, "tokenizer that counts texts")
	f.StringVar(&output, "output-file", "", "also write the figures to this JSON file")
	f.BoolVar(&asJSON, "json", false, "print JSON instead of the charts")
	return cmd
}

// tokenCounter counts the tokens of texts; it opens the tokenizer at the first text.
type tokenCounter struct {
	open func() (*tokenizer.Tokenizer, error)
	tok  *tokenizer.Tokenizer
	err  error
}

func (p *Program) counter(ctx context.Context, name string) *tokenCounter {
	return &tokenCounter{open: func() (*tokenizer.Tokenizer, error) {
		tok, err := tokenizer.Open(ctx, name, tokenizer.Options{})
		return tok, tokenizer.Worded(err, (&config.Benchmark{}).As)
	}}
}

func (c *tokenCounter) count(text string) int {
	if c.tok == nil && c.err == nil {
		c.tok, c.err = c.open()
	}
	if c.err != nil {
		return 0
	}
	return c.tok.Count(text)
}

// drawSurvey prints the description of a file.
func (p *Program) drawSurvey(s *convert.Survey) error {
	var b strings.Builder
	n := func(v int) string { return thousands(float64(v), 0) }
	fmt.Fprintf(&b, "%s: %s\nrows %s, sessions %s, turns %s\n", terminal.Line(s.Path), s.Format, n(s.Rows), n(s.Sessions), n(s.Turns))
	bar := min(barWidth, max(minBarWidth, p.columns()-barMargin))
	drawTokens(&b, "Input tokens of a turn", s.Input, bar)
	drawTokens(&b, "Requested output tokens", s.Output, bar)
	if m := s.Prefixes; m != nil {
		fmt.Fprintf(&b, "\nPrefix sharing: %s leading sequences, %s groups\nreuse ratio %.3f, hit rate of an unlimited cache %.3f\n", n(m.Unique), n(m.Groups), m.ReuseRatio, m.HitRate)
	}
	if len(s.Media) > 0 {
		b.WriteString("\nMedia:")
		for _, key := range slices.Sorted(maps.Keys(s.Media)) {
			fmt.Fprintf(&b, " %s %s", strings.ReplaceAll(key, "_", " "), n(s.Media[key]))
		}
		b.WriteByte('\n')
	}
	if a := s.Arrivals; a != nil {
		fmt.Fprintf(&b, "\nArrivals: %s s, %.3g a second on average; each column %.3g s\n%s\n", thousands((a.Last-a.First)/1000, 1),
			float64(s.Turns)/max(0.001, (a.Last-a.First)/1000), a.BucketMs/1000, columns(a.Counts))
	}
	text := b.String()
	if p.ASCII {
		text = termdraw.ASCII(text)
	}
	_, err := fmt.Fprint(p.Out, text)
	return err
}

// Sizes of a histogram, in characters: the longest bar on wide and on narrow screens, and the text next to it.
const (
	barWidth    = 40
	minBarWidth = 8
	barMargin   = 36
)

func drawTokens(b *strings.Builder, title string, t *convert.Tokens, width int) {
	if t == nil {
		return
	}
	fmt.Fprintf(b, "\n%s\nmean %s, min %s, p50 %s, p90 %s, p99 %s, max %s\n", title, thousands(t.Mean, 1), thousands(float64(t.Min), 0), thousands(t.P50, 0),
		thousands(t.P90, 0), thousands(t.P99, 0), thousands(float64(t.Max), 0))
	most := int64(1)
	for _, k := range t.Buckets {
		most = max(most, k.Count)
	}
	for _, k := range t.Buckets {
		bar := int((k.Count*int64(width) + most - 1) / most)
		fmt.Fprintf(b, "%10s – %-10s %s %s\n", thousands(float64(k.From), 0), thousands(float64(k.To), 0), strings.Repeat("█", bar), thousands(float64(k.Count), 0))
	}
}

// columns draws counts as columns of eight heights; every count except 0 is visible.
func columns(counts []int64) string {
	most := max(1, slices.Max(counts))
	var b strings.Builder
	for _, n := range counts {
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[(n*8-1)/most])
	}
	return b.String()
}

// convertCommand builds the command that converts a file to another format.
func (p *Program) convertCommand() *cobra.Command {
	var from, column, to, words string
	var force bool
	cmd := &cobra.Command{
		Use:   "convert FROM TO",
		Short: "conversion of a data file to another format",
		Long: "Reads FROM row by row and writes TO. If the format of TO cannot hold a row, convert stops, names the row and writes nothing\n" +
			"(a pipe such as /dev/stdout gets the rows as they are converted).\n" +
			"Formats of FROM: " + custom.Streamed() + ".\nFormats of TO: " + convert.Targets + ".",
		Example: "  aiperf dataset convert chats.jsonl trace.jsonl --to mooncake_trace\n  aiperf dataset convert BurstGPT.csv trace.jsonl --to mooncake_trace",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			count := p.counter(cmd.Context(), words)
			convert, err := convert.NewTarget(to, count.count)
			if err != nil {
				return fmt.Errorf("--to %w", err)
			}
			w := p.Out
			if info, err := os.Stat(args[1]); err == nil && !info.Mode().IsRegular() {
				w = p.Err // TO may be standard output
			} else if err == nil && !force {
				return fmt.Errorf("%s exists; overwrite it with --force", args[1])
			}
			rows, err := p.convert(cmd.Context(), args[0], args[1], custom.Options{Type: from, InputColumn: column, Spell: config.FlagOf}, convert, count)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(w, "%s rows of %s written to %s as %s\n", thousands(float64(rows), 0), args[0], args[1], to)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "custom-dataset-type", "", "format of FROM (default: recognised from its content)")
	f.StringVar(&column, "input-column", "", "key or column of the prompts (default: text, prompt, question, instruction, input or query)")
	f.StringVar(&to, "to", "", "format of TO: "+convert.Targets)
	f.StringVar(&words, "tokenizer", tokenizer.BuiltinName, "tokenizer that counts prompts, for formats with token counts (baseten_trace)")
	f.BoolVar(&force, "force", false, "overwrite an existing file")
	return cmd
}

func (p *Program) convert(ctx context.Context, from, to string, o custom.Options, target *convert.Target, count *tokenCounter) (rows int, err error) {
	file, err := p.draftFile(to)
	if err != nil {
		return 0, err
	}
	defer file.drop()
	out, m := bufio.NewWriterSize(file, 1<<16), p.newMeter("dataset convert", "rows read")
	if _, err := out.WriteString(target.Head); err != nil {
		return 0, err
	}
	var line []byte
	o.Root = rng.New(nil)
	_, warnings, err := custom.Stream(from, o.Type, o, func(e custom.Entry) (err error) {
		rows++
		m.tick()
		if line, err = target.Append(line[:0], e); err != nil {
			return err
		}
		_, err = out.Write(line)
		return errors.Join(err, count.err, ctx.Err())
	})
	m.done()
	if err == nil {
		if line, err = target.End(); err == nil {
			_, err = out.Write(line)
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return 0, err
	}
	for _, w := range warnings {
		p.warnf("%s", w)
	}
	if target.Block > 0 {
		p.warnf("its hash ids stand for %d tokens: replay it with --isl-block-size %[1]d", target.Block)
	}
	if target.Free {
		p.warnf("its rows have no minimum output length: replay it with --no-force-min-tokens")
	}
	return rows, file.commit()
}
