package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"aiperf/internal/setting"
)

// helpIndent is the column where the text of a flag begins.
const helpIndent = 34

// writeHelp prints the flags of profile by group, fitted to a width in columns.
func writeHelp(w io.Writer, t *setting.Table, width int) error {
	width = min(max(width, 60), 140)
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "Usage: aiperf profile --model NAME --url URL [flags]")
	fmt.Fprintln(out)
	for _, line := range wrap("Sends load to an inference server, measures every answer, prints a report and writes it to a directory. "+
		"Try it without a server: aiperf profile --url mock:// --streaming --concurrency 8 --request-count 200", width) {
		fmt.Fprintln(out, line)
	}
	for _, group := range groups(t) {
		fmt.Fprintf(out, "\n%s\n", group.name)
		for _, f := range group.flags {
			writeFlag(out, f, width)
		}
	}
	fmt.Fprintln(out)
	for _, line := range wrap("N,… is a list: several words, one word with commas, or the flag again. N[,N…] is one value, or a list in one word to sweep over. "+
		"Enum values ignore case, - and _ are the same.", width) {
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// helpGroup is the flags under one heading: those of this build first.
type helpGroup struct {
	name  string
	flags []*setting.Row
}

func groups(t *setting.Table) []helpGroup {
	var list []helpGroup
	for i := range t.Rows {
		f := &t.Rows[i]
		if len(list) == 0 || list[len(list)-1].name != f.Group {
			list = append(list, helpGroup{name: f.Group})
		}
		g := &list[len(list)-1]
		g.flags = append(g.flags, f)
	}
	for _, g := range list {
		slices.SortStableFunc(g.flags, func(a, b *setting.Row) int {
			switch {
			case a.NotBuilt == b.NotBuilt:
				return 0
			case b.NotBuilt:
				return -1
			}
			return 1
		})
	}
	return list
}

func writeFlag(out *bufio.Writer, f *setting.Row, width int) {
	head := "  " + strings.Join(append(append([]string(nil), f.Flags...), f.Not...), ", ")
	if v := placeholder(f); v != "" {
		head += " " + v
	}
	text := f.Help
	if note := remarks(f); note != "" {
		text += " [" + note + "]"
	}
	lines := wrap(text, width-helpIndent)
	if len(head) >= helpIndent-1 {
		for _, line := range wrapIndent(head, width, "    ") {
			fmt.Fprintln(out, line)
		}
		head = ""
	}
	for _, line := range lines {
		fmt.Fprintf(out, "%-*s%s\n", helpIndent, head, line)
		head = ""
	}
}

// placeholder is what stands for the value of a flag.
func placeholder(f *setting.Row) string {
	v := map[setting.Kind]string{setting.Int: "N", setting.Float: "X", setting.Text: "TEXT", setting.Path: "PATH", setting.Enum: "NAME"}[f.Kind]
	switch {
	case f.List:
		v += ",…"
	case f.Sweep:
		v += "[," + v + "…]"
	}
	if f.Optional {
		v = "[" + v + "]"
	}
	return v
}

// remarks are choices, bounds and default.
func remarks(f *setting.Row) string {
	var notes []string
	if f.NotBuilt {
		notes = append(notes, "not built yet")
	}
	shown := f.Shown
	switch {
	case shown == nil && len(f.Choices) <= 12:
		shown = f.Choices
	case shown == nil:
		shown = f.Choices[:6]
	}
	if more := len(f.Choices) - len(shown); more > 0 {
		notes = append(notes, strings.Join(shown, ", ")+fmt.Sprintf(" and %d more", more))
	} else if len(shown) > 0 {
		notes = append(notes, strings.Join(shown, ", "))
	}
	if f.Bounds != "" {
		notes = append(notes, strings.NewReplacer("= ", "=", "> ", ">", "< ", "<").Replace(f.Bounds))
	}
	if f.Default != "" {
		notes = append(notes, "default: "+f.Default)
	}
	return strings.Join(notes, "; ")
}

// wrap breaks text at blanks into lines of at most width columns; a longer word stands alone.
func wrap(text string, width int) []string { return wrapIndent(text, width, "") }

func wrapIndent(text string, width int, indent string) []string {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := lead
	for _, word := range strings.Fields(text) {
		switch {
		case strings.TrimSpace(line) == "":
			line += word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines = append(lines, line)
			line = lead + indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
