package cli

import (
	"bufio"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/workload/dataset/trace"
)

// anonymizeCommand builds the command that converts conversations to a trace of lengths and ids.
func (p *Program) anonymizeCommand() *cobra.Command {
	var input, model, output string
	var block int
	cmd := &cobra.Command{
		Use:   "anonymize-trace [IN [OUT]]",
		Short: "trace of lengths and hash ids from real conversations",
		Long: "Reads rows {messages, output, timestamp?, session_id?} and renders the messages with the model's chat template. The new trace has only their lengths\n" +
			"and the ids of their blocks: equal blocks after equal blocks have equal ids. Rows of a session continue each other. Unreadable rows are skipped.",
		Example: "  aiperf anonymize-trace --input-file chats.jsonl --model Qwen/Qwen2.5-7B-Instruct --output-file trace.jsonl",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := positional(cmd, words, "input-file", "output-file"); err != nil {
				return err
			}
			switch {
			case input == "" || model == "":
				return errors.New("--input-file and --model are both required; the model gives the tokenizer and its chat template")
			case block < 1:
				return fmt.Errorf("--block-size %d: must be at least 1", block)
			}
			if output == "" {
				output = strings.TrimSuffix(input, filepath.Ext(input)) + "_anonymized.jsonl"
			}
			tok, err := tokenizer.Open(cmd.Context(), model, tokenizer.Options{})
			if err != nil {
				return fmt.Errorf("--model: %w", tokenizer.Worded(err, (&config.Benchmark{}).As))
			}
			if _, chat := tok.ChatTemplate(false); !chat {
				return fmt.Errorf("--model %s: its tokenizer has no chat template, so prompt lengths are unknown", model)
			}
			return p.anonymize(tok, input, output, block)
		},
	}
	f := cmd.Flags()
	f.StringVar(&input, "input-file", "", "the conversations: JSON Lines")
	f.StringVar(&model, "model", "", "tokenizer with the chat template: owner/name or a directory")
	f.StringVar(&output, "output-file", "", "trace to write (default: IN with _anonymized before its ending)")
	f.IntVar(&block, "block-size", 512, "number of tokens per hash id")
	return cmd
}

func (p *Program) anonymize(tok *tokenizer.Tokenizer, input, output string, block int) error {
	a := &trace.Anonymizer{
		Hasher: trace.Hasher{Block: block},
		Encode: func(messages []byte) ([]int32, error) {
			text, err := tok.RenderChat(messages, tokenizer.ChatOptions{AddGenerationPrompt: true})
			if err != nil {
				return nil, err
			}
			return tok.Append(nil, text), tok.Err()
		},
		Count: tok.Count,
	}
	file, err := p.draftFile(output)
	if err != nil {
		return fmt.Errorf("--output-file: %w", err)
	}
	defer file.drop()
	n, m, out := 0, p.newMeter("anonymize-trace", "rows written"), bufio.NewWriter(file)
	var line []byte
	left, why, err := a.Anonymize(input, func(r *trace.Record) error {
		n++
		m.tick()
		line = append(trace.AppendRow(line[:0], r, r.Session), '\n')
		_, err := out.Write(line)
		return err
	})
	m.done()
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: every row was skipped: %w", input, why)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return err
	}
	if left > 0 {
		p.warnf("%s skipped, the first: %v", terminal.Plural(left, "row"), why)
	}
	if err := file.commit(); err != nil {
		return fmt.Errorf("--output-file: %w", err)
	}
	_, err = fmt.Fprintf(p.Out, "%d rows written to %s\n", n, output)
	return err
}
