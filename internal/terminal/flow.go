package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Hang breaks a text at blanks into lines of at most width columns, all but the first indented. Colours take no room. A word that is longer than
// a line stays whole: a path must survive being copied.
func Hang(text string, width, indent int) string {
	var out strings.Builder
	used := 0
	for _, word := range measured(strings.Fields(text)) {
		n := ansi.StringWidth(word)
		switch {
		case used == 0:
		case used+1+n <= width:
			out.WriteByte(' ')
			used++
		default:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		}
		out.WriteString(word)
		used += n
	}
	return out.String()
}

// measured joins numbers and their units, which stay on one line.
func measured(words []string) (list []string) {
	for _, w := range words {
		unit := strings.TrimRight(w, ".,;:)")
		if last := len(list) - 1; last >= 0 && (unit == "%" || unit == "ms" || unit == "s" || unit == "µs") {
			if end := list[last][len(list[last])-1]; end >= '0' && end <= '9' {
				list[last] += " " + w
				continue
			}
		}
		list = append(list, w)
	}
	return list
}

// Flow is Hang for a text of several lines, each with its own indent, which its continuation keeps and deepens by two.
func Flow(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if ansi.StringWidth(l) <= width {
			continue
		}
		own := len(l) - len(strings.TrimLeft(l, " "))
		lines[i] = strings.Repeat(" ", own) + strings.ReplaceAll(Hang(l, width-own, 2), "\n", "\n"+strings.Repeat(" ", own))
	}
	return strings.Join(lines, "\n")
}
