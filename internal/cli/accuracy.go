package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/setting"
	"aiperf/internal/cli/resolve"
	"aiperf/internal/workload/accuracy/grade"
)

// accuracyRows lists the flags of accuracy grade.
var accuracyRows = []setting.Row{
	{Flags: []string{"--grader"}, Kind: setting.Enum, Choices: grade.Names(), More: resolve.Plugins(grade.Category, grade.Names()), Help: "grading method"},
	{Flags: []string{"--jsonl"}, Kind: setting.Bool, Help: "read objects {\"answer\": …, \"gold\": …}, one per line, and write their grades"},
	{Flags: []string{"--answer"}, Kind: setting.Text, Empty: true, Help: "the answer, without --jsonl"},
	{Flags: []string{"--gold"}, Kind: setting.Text, Empty: true, Help: "the benchmark's correct answer"},
}

// accuracyCommand builds "accuracy grade", which grades answers without a run.
func (p *Program) accuracyCommand() *cobra.Command {
	root := &cobra.Command{
		Use: "accuracy", Short: "grades of answers without a run", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		},
	}
	grades := p.command(tableCommand{
		use: "grade", short: "grades of given answers",
		long: "Grades one answer, or with --jsonl every line of standard input, in the same way as a run with --accuracy-benchmark.\n" +
			"An answer that cannot be graded counts as incorrect and unparsed; its explanation gives the reason.",
		table: func() *setting.Table { return setting.NewTable(accuracyRows) },
		run:   gradeAnswers,
	})
	grades.SetOut(p.data()) // print answers unchanged
	root.AddCommand(grades)
	return root
}

func gradeAnswers(cmd *cobra.Command, set *setting.CommandLine, _ []string) error {
	grader, err := grade.Find(set.Text("--grader", ""))
	if err != nil {
		return fmt.Errorf("--grader: %w", err)
	}
	if grader.Check != nil {
		if err := grader.Check(cmd.Context()); err != nil {
			return fmt.Errorf("--grader %s: %w", grader.Name, err)
		}
	}
	stop, err := grader.Start(cmd.Context(), func(line string) { _, _ = fmt.Fprintln(cmd.ErrOrStderr(), line) })
	if err != nil {
		return fmt.Errorf("--grader: %w", err)
	}
	defer stop() //nolint:errcheck // a grader at fault has failed its calls
	out := bufio.NewWriter(cmd.OutOrStdout())
	write := func(o jsontext.Object, r grade.Result) error {
		r.AppendTo(&o)
		_, err := out.Write(append(o.Close(), '\n'))
		return errors.Join(err, out.Flush())
	}
	if !set.True("--jsonl", false) {
		answer, gold := set.Text("--answer", "\x00"), set.Text("--gold", "\x00")
		if answer == "\x00" || gold == "\x00" {
			return errors.New("--answer and --gold are both required, or --jsonl")
		}
		result, err := grader.Judge(cmd.Context(), grade.Question{Answer: answer, Gold: gold})
		if err != nil {
			return err
		}
		return write(jsontext.Open(nil), result)
	}
	lines := bufio.NewReaderSize(cmd.InOrStdin(), 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			others, answer, gold, bad := readPair(line)
			result := grade.Result{Unparsed: true}
			if bad != nil {
				result.Explanation = bad.Error()
			} else if result, bad = grader.Judge(cmd.Context(), grade.Question{Answer: answer, Gold: gold}); bad != nil {
				return bad
			}
			if err := write(others, result); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readPair reads an answer and its gold from an object; its other members are written to a new one.
func readPair(line string) (others jsontext.Object, answer, gold string, err error) {
	others = jsontext.Open(nil)
	d := json.NewDecoder(strings.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return others, "", "", fmt.Errorf("found %.40q, want an object {\"answer\": …, \"gold\": …}", strings.TrimSpace(line))
	}
	texts := map[string]*string{"answer": nil, "gold": nil}
	for d.More() {
		var raw json.RawMessage
		key, err := d.Token()
		if err == nil {
			err = d.Decode(&raw)
		}
		if err != nil {
			return others, "", "", fmt.Errorf("%.40q: %w", strings.TrimSpace(line), err)
		}
		name, _ := key.(string) // keys of objects are strings
		if _, ok := texts[name]; !ok {
			others.Raw(name, raw)
			continue
		}
		var text *string
		if err := json.Unmarshal(raw, &text); err != nil || text == nil {
			return others, "", "", fmt.Errorf("%s: found %.40s, want text", name, raw)
		}
		texts[name] = text
	}
	for _, name := range []string{"answer", "gold"} {
		if texts[name] == nil {
			return others, "", "", fmt.Errorf("no %q in the object", name)
		}
	}
	return others, *texts["answer"], *texts["gold"], nil
}
