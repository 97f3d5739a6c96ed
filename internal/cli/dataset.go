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

	"aiperf/internal/config"
	"aiperf/internal/dataset/custom"
	"aiperf/internal/dataset/survey"
	"aiperf/internal/draw"
	"aiperf/internal/jsontext"
	"aiperf/internal/rng"
	"aiperf/internal/terminal"
	"aiperf/internal/tokenizer"
)

// datasetCommand tells what data files hold, and converts them.
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

// describeCommand tells what a file holds.
func (p *Program) describeCommand() *cobra.Command {
	var kind, column, words, output string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "describe FILE",
		Short: "Rows, sessions, token lengths, prefix sharing, media, arrivals of a file",
		Long: "Reads a data file row by row and tells what it holds. Lengths are those that rows state, else tokens counted with --tokenizer.\n" +
			"Formats: " + custom.Streamed() + ".",
		Example: "  aiperf dataset describe trace.jsonl\n  aiperf dataset describe prompts.jsonl --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			count := p.counter(cmd.Context(), words)
			m := p.newMeter("dataset describe", "rows read")
			defer m.done()
			c := survey.NewCollector(args[0], count.count, m.tick)
			format, warnings, err := custom.Stream(args[0], kind, custom.Options{Root: rng.New(nil), InputColumn: column}, func(e custom.Entry) error {
				return errors.Join(c.Add(e), count.err, cmd.Context().Err())
			})
			if m.done(); err != nil {
				return err
			}
			for _, w := range warnings {
				p.warnf("%s", w)
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
	f.StringVar(&output, "output-file", "", "write the figures as JSON too")
	f.BoolVar(&asJSON, "json", false, "print JSON in place of the picture")
	return cmd
}

// counter counts the tokens of texts with a tokenizer that is opened for the first of them.
type counter struct {
	open func() (*tokenizer.Tokenizer, error)
	tok  *tokenizer.Tokenizer
	err  error
}

func (p *Program) counter(ctx context.Context, name string) *counter {
	return &counter{open: func() (*tokenizer.Tokenizer, error) {
		tok, err := tokenizer.Open(ctx, name, tokenizer.Options{})
		return tok, tokenizer.Worded(err, (&config.Benchmark{}).As)
	}}
}

func (c *counter) count(text string) int {
	if c.tok == nil && c.err == nil {
		c.tok, c.err = c.open()
	}
	if c.err != nil {
		return 0
	}
	return c.tok.Count(text)
}

// drawSurvey draws what a file holds.
func (p *Program) drawSurvey(s *survey.Survey) error {
	var b strings.Builder
	n := func(v int) string { return thousands(float64(v), 0) }
	fmt.Fprintf(&b, "%s: %s\nrows %s, sessions %s, turns %s\n", terminal.Line(s.Path), s.Format, n(s.Rows), n(s.Sessions), n(s.Turns))
	bar := min(barWidth, max(leastBar, p.columns()-besideBar))
	drawTokens(&b, "Input tokens of a turn", s.Input, bar)
	drawTokens(&b, "Output tokens asked for", s.Output, bar)
	if m := s.Prefixes; m != nil {
		fmt.Fprintf(&b, "\nPrefix sharing: %s leading sequences, %s groups\nreuse ratio %.3f, hit rate of a cache without end %.3f\n", n(m.Unique), n(m.Groups), m.ReuseRatio, m.HitRate)
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
		text = draw.ASCII(text)
	}
	_, err := fmt.Fprint(p.Out, text)
	return err
}

// A histogram, in characters: the longest bar where there is room, and where there is none; what stands beside it.
const (
	barWidth  = 40
	leastBar  = 8
	besideBar = 36
)

func drawTokens(b *strings.Builder, title string, t *survey.Tokens, width int) {
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

// columns draws counts as columns of eight heights; a count that is not 0 is seen.
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

// convertCommand writes a file in another format.
func (p *Program) convertCommand() *cobra.Command {
	var from, column, to, words string
	var force bool
	cmd := &cobra.Command{
		Use:   "convert FROM TO",
		Short: "Write a data file in another format",
		Long: "Reads FROM row by row and writes TO. What the format of TO cannot say is refused with the row, and nothing is written\n" +
			"(rows for a pipe, as /dev/stdout, go out as they come).\n" +
			"Formats of FROM: " + custom.Streamed() + ".\nFormats of TO: " + survey.Targets + ".",
		Example: "  aiperf dataset convert chats.jsonl trace.jsonl --to mooncake_trace\n  aiperf dataset convert BurstGPT.csv trace.jsonl --to mooncake_trace",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			count := p.counter(cmd.Context(), words)
			convert, err := survey.NewTarget(to, count.count)
			if err != nil {
				return fmt.Errorf("--to %w", err)
			}
			w := p.Out
			if info, err := os.Stat(args[1]); err == nil && !info.Mode().IsRegular() {
				w = p.Err // TO may be the output itself
			} else if err == nil && !force {
				return fmt.Errorf("%s is there already; --force writes over it", args[1])
			}
			rows, err := p.convert(cmd.Context(), args[0], args[1], custom.Options{Type: from, InputColumn: column}, convert, count)
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
	f.StringVar(&to, "to", "", "format of TO: "+survey.Targets)
	f.StringVar(&words, "tokenizer", tokenizer.BuiltinName, "tokenizer that counts prompts, for a format that states their tokens (baseten_trace)")
	f.BoolVar(&force, "force", false, "write over a file")
	return cmd
}

func (p *Program) convert(ctx context.Context, from, to string, o custom.Options, target *survey.Target, count *counter) (rows int, err error) {
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
		p.warnf("its rows ask for no least length: replay it with --no-force-min-tokens")
	}
	return rows, file.keep()
}
