package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"aiperf/internal/base/lazyregexp"
)

// firstColumn is the indent and the first column of a row of flags or commands, up to the second column.
var firstColumn = lazyregexp.New(`^ +\S.*?  +`)

// wrapHelp wraps the help of root, and of all commands below it that have cobra's help, at the width of the terminal.
func (p *Program) wrapHelp(root *cobra.Command) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, words []string) {
		out := cmd.OutOrStdout()
		var text bytes.Buffer
		cmd.SetOut(&text)
		plain(cmd, words)
		cmd.SetOut(out)
		fmt.Fprint(out, wrappedHelp(text.String(), min(max(p.columns(), 60), 140))) // an error of standard output cannot be reported
	})
}

// joined returns a help text in which no line of the description ends inside a sentence, so that it can be wrapped at any width. The description ends at
// "Usage:". Indented lines and lines that end in a full stop or a colon stay as they are.
func joined(text string) string {
	lines := strings.Split(text, "\n")
	var out strings.Builder
	for i, line := range lines {
		if line == "Usage:" {
			return out.String() + strings.Join(lines[i:], "\n")
		}
		out.WriteString(line)
		switch {
		case i+1 == len(lines):
		case line != "" && line[0] != ' ' && !strings.HasSuffix(line, ".") && !strings.HasSuffix(line, ":") && lines[i+1] != "" && lines[i+1][0] != ' ':
			out.WriteByte(' ')
		default:
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// wrappedHelp wraps the lines of a help text at width. The second column of a row stays in its column. Examples are unchanged, because people copy them.
func wrappedHelp(text string, width int) string {
	var out strings.Builder
	examples := false
	for line := range strings.Lines(joined(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && line[0] != ' ' {
			examples = line == "Examples:"
		}
		start := firstColumn.FindString(line)
		switch {
		case examples || utf8.RuneCountInString(line) <= width:
			fmt.Fprintln(&out, line)
		case line[0] != ' ':
			for _, part := range wrap(line, width) {
				fmt.Fprintln(&out, part)
			}
		case start != "" && utf8.RuneCountInString(start) < width/2:
			for i, part := range wrap(line[len(start):], width-utf8.RuneCountInString(start)) {
				if i > 0 {
					start = strings.Repeat(" ", utf8.RuneCountInString(start))
				}
				fmt.Fprintln(&out, start+part)
			}
		default:
			fmt.Fprintln(&out, line)
		}
	}
	return out.String()
}
