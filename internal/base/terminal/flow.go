package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Hang breaks a text at blanks into lines of at most width columns and indents all but the first. Colours have no width. A word that is longer than a
// line stays whole, so that a path can be copied.
func Hang(text string, width, indent int) string {
	var out strings.Builder
	used := 0
	for _, word := range joinGroups(strings.Fields(text), width-indent) {
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

// joinGroups joins words that belong on one line, unless together they are wider than room: a number and its unit, a flag and its value.
func joinGroups(words []string, room int) (list []string) {
	for _, w := range words {
		last := len(list) - 1
		if last >= 0 && (isUnit(list[last], w) || isGiven(list[last], w)) && ansi.StringWidth(list[last]+" "+w) <= room {
			list[last] += " " + w
			continue
		}
		list = append(list, w)
	}
	return list
}

func isUnit(before, word string) bool {
	switch strings.TrimRight(word, ".,;:)") {
	case "%", "ms", "s", "µs":
		end := before[len(before)-1]
		return end >= '0' && end <= '9'
	}
	return false
}

// isGiven reports whether a word is the value after the name of a flag: --tables all.
func isGiven(before, word string) bool {
	end := before[len(before)-1]
	return strings.HasPrefix(ansi.Strip(before), "--") && !strings.Contains(before, " ") && (end >= 'a' && end <= 'z') && !strings.HasPrefix(word, "-")
}

// Flow applies Hang to each line of a text. Continuation lines have the indent of their line plus two columns.
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
