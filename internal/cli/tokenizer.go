package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/text/tokenizer"
)

// maxLine is the length of the longest line of --jsonl, in bytes.
const maxLine = 256 << 20

// tokenizerFlags holds the flags of the tokenizer commands.
type tokenizerFlags struct{ jsonl, special, chat bool }

// tokenizerUse is one of the tokenizer commands.
type tokenizerUse struct {
	use, short string
	flags      []string // names in tokenizerRows
	run        func(cmd *cobra.Command, f *tokenizerFlags, t *tokenizer.Tokenizer, args []string) error
}

var tokenizerUses = []tokenizerUse{
	{"info", "properties of the tokenizer", nil, tokenizerInfo},
	{"count [TEXT…]", "number of tokens", []string{"--jsonl", "--special", "--chat"}, tokenizerText(func(ids []int32) any { return len(ids) })},
	{"encode [TEXT…]", "token ids", []string{"--jsonl", "--special", "--chat"}, tokenizerText(func(ids []int32) any { return ids })},
	{"decode [ID…]", "text of token ids", []string{"--jsonl"}, tokenizerDecode},
}

// tokenizerRows lists the flags of the tokenizer commands besides those of profile.
var tokenizerRows = []setting.Row{
	{Flags: []string{"--jsonl"}, Kind: setting.Bool, Help: "read and write one JSON value per line"},
	{Flags: []string{"--special"}, Kind: setting.Bool, Help: "add the special tokens that begin and end a sequence"},
	{Flags: []string{"--chat"}, Kind: setting.Bool, Help: "the input is a JSON list of messages, put through the chat template"},
}

// tokenizerTable returns the flags of a tokenizer command.
func tokenizerTable(flags []string) *setting.Table {
	rows := rowsOfProfile([2]string{"--tokenizer", tokenizer.BuiltinName}, [2]string{"--tokenizer-revision", "main"})
	for _, row := range tokenizerRows {
		if slices.Contains(flags, row.Name()) {
			rows = append(rows, row)
		}
	}
	return setting.NewTable(rows)
}

const tokenizerLong = "Shows how a tokenizer splits a text, given as arguments or on standard input.\n" +
	"With --jsonl every input line is a JSON value and produces one output line."

// newTokenizerCommand builds "tokenizer info|count|encode|decode", to check token counts.
func (p *Program) newTokenizerCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "tokenizer", Short: "counts, encoding and decoding with the tokenizer of a run", Long: tokenizerLong,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		},
	}
	for _, c := range tokenizerUses {
		root.AddCommand(p.command(tableCommand{
			use: c.use, short: c.short, long: c.short, words: true, bare: cobra.ShellCompDirectiveNoFileComp,
			table: func() *setting.Table { return tokenizerTable(c.flags) },
			run: func(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
				t, err := tokenizer.Open(cmd.Context(), set.Text("--tokenizer", tokenizer.BuiltinName), tokenizer.Options{Revision: set.Text("--tokenizer-revision", "main")})
				if err != nil {
					return tokenizer.Worded(err, (&config.Benchmark{}).As)
				}
				f := &tokenizerFlags{jsonl: set.True("--jsonl", false), special: set.True("--special", false), chat: set.True("--chat", false)}
				return c.run(cmd, f, t, set.Words)
			},
		}))
	}
	return root
}

// tokenizerInfo prints facts, one per line.
func tokenizerInfo(cmd *cobra.Command, _ *tokenizerFlags, t *tokenizer.Tokenizer, _ []string) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "name             %s\nvocabulary size  %d\nspecial added    %d\n", t.Name(), t.VocabSize(), t.NumSpecialAdded())
	for _, x := range []struct {
		name string
		get  func() (int32, bool)
	}{{"BOS", t.BOS}, {"EOS", t.EOS}} {
		if id, ok := x.get(); ok {
			fmt.Fprintf(out, "%-16s %d %q\n", x.name, id, t.Decode([]int32{id}))
		} else {
			fmt.Fprintf(out, "%-16s none\n", x.name)
		}
	}
	_, chat := t.ChatTemplate(false)
	_, err := fmt.Fprintf(out, "chat template    %v\n", chat)
	return err
}

// tokenizerText returns the function of a command that encodes; result converts the ids to output.
func tokenizerText(result func(ids []int32) any) func(*cobra.Command, *tokenizerFlags, *tokenizer.Tokenizer, []string) error {
	return func(cmd *cobra.Command, f *tokenizerFlags, t *tokenizer.Tokenizer, args []string) error {
		var ids []int32
		return f.each(cmd, args, func(raw []byte) (any, error) {
			text, err := f.text(t, raw)
			if err != nil {
				return nil, err
			}
			if f.special {
				ids = t.AppendSpecial(ids[:0], text)
			} else {
				ids = t.Append(ids[:0], text)
			}
			if ids == nil {
				ids = []int32{}
			}
			return result(ids), t.Err()
		})
	}
}

// text returns the text to encode: the input, or its rendering by the chat template.
func (f *tokenizerFlags) text(t *tokenizer.Tokenizer, raw []byte) (string, error) {
	if f.chat {
		return t.RenderChat(raw, tokenizer.ChatOptions{AddGenerationPrompt: true})
	}
	if !f.jsonl {
		return string(raw), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("found %.40q, want a JSON string", raw)
	}
	return s, nil
}

// tokenizerDecode prints the text of ids.
func tokenizerDecode(cmd *cobra.Command, f *tokenizerFlags, t *tokenizer.Tokenizer, args []string) error {
	return f.each(cmd, args, func(raw []byte) (any, error) {
		if !f.jsonl {
			raw = []byte("[" + strings.Join(strings.FieldsFunc(strings.Trim(string(raw), "[] \t\r\n"), func(r rune) bool {
				return strings.ContainsRune(", \t\r\n", r)
			}), ",") + "]")
		}
		var ids []int32
		if err := json.Unmarshal(raw, &ids); err != nil {
			return nil, fmt.Errorf("found %.40q, want token ids", raw)
		}
		return t.Decode(ids), nil
	})
}

// each calls do for the input and prints the result: as JSON, one line per input line, or plain.
func (f *tokenizerFlags) each(cmd *cobra.Command, args []string, do func(raw []byte) (any, error)) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	err := f.run(cmd.InOrStdin(), args, func(raw []byte) error {
		v, err := do(raw)
		if err != nil {
			return err
		}
		if s, ok := v.(string); ok && !f.jsonl {
			_, err = fmt.Fprintln(out, s)
			return err
		}
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	})
	return errors.Join(err, out.Flush())
}

// run calls do for each input.
func (f *tokenizerFlags) run(in io.Reader, args []string, do func(raw []byte) error) error {
	switch {
	case len(args) > 0 && !f.jsonl:
		return do([]byte(strings.Join(args, " ")))
	case !f.jsonl:
		b, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		return do(b)
	}
	if len(args) > 0 {
		in = strings.NewReader(strings.Join(args, "\n"))
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		if err := do(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lines.Err()
}
