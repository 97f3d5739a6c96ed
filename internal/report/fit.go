package report

import (
	"slices"
	"strings"
)

// On a terminal tables are no wider than the terminal: the names fold first, then columns go, the least missed first. Everywhere else the
// layout is the contract's, whatever its width.

// leastName is the width below which names never fold; a terminal that is narrower breaks the lines itself.
const leastName = 10

// expendable are the columns of a metric table that a narrow terminal drops, in this order, each only to leave the names this width.
var expendable = []struct {
	column string
	names  int
}{{"std", 30}, {"p90", 30}, {"min", 24}, {"max", 16}}

// fit makes a metric table with the names in its first column no wider than room.
func (t *table) fit(room int) {
	t.blankMissing()
	for _, e := range expendable {
		if t.overflow(room, e.names) > 0 {
			t.drop(slices.Index(t.head, e.column))
		}
	}
	over := t.overflow(room, 0)
	if over <= 0 {
		return
	}
	names := max(leastName, t.widths()[0]-over)
	t.left = make([]bool, len(t.head))
	t.left[0] = true // a folded name reads from the left
	for _, r := range t.rows {
		r[0] = hang(strings.ReplaceAll(r[0], "\n", " "), names, 2)
	}
}

// overflow is by how many columns the table is wider than room when its first column is cut to most; 0 = not cut.
func (t *table) overflow(room, most int) int {
	width := t.widths()
	if most > 0 {
		width[0] = min(width[0], most)
	}
	total := 1
	for _, n := range width {
		total += n + 3
	}
	return total - room
}

// drop removes a column.
func (t *table) drop(i int) {
	if i < 0 {
		return
	}
	t.head = slices.Delete(t.head, i, i+1)
	for k, r := range t.rows {
		t.rows[k] = slices.Delete(r, i, i+1)
	}
}

// blankMissing shows nothing where a metric has no such statistic: six times N/A hides the one figure of a rate.
func (t *table) blankMissing() {
	for _, r := range t.rows {
		for i, cell := range r {
			if cell == missing {
				r[i] = ""
			}
		}
	}
}

// hang breaks a text at blanks into lines of at most width columns, all but the first indented. Escape sequences take no room.
func hang(text string, width, indent int) string {
	var out strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		n := visible(word)
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

// flow is hang for a text of several lines, each with its own indent, which its continuation keeps and deepens by two.
func flow(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if visible(l) <= width {
			continue
		}
		own := len(l) - len(strings.TrimLeft(l, " "))
		lines[i] = strings.Repeat(" ", own) + strings.ReplaceAll(hang(l, width-own, 2), "\n", "\n"+strings.Repeat(" ", own))
	}
	return strings.Join(lines, "\n")
}

// visible is columnsOf without the sequences that style paints.
func visible(s string) int {
	n := columnsOf(s)
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return n
		}
		end := strings.IndexByte(s[i:], 'm')
		if end < 0 {
			return n
		}
		n -= columnsOf(s[i : i+end+1])
		s = s[i+end+1:]
	}
}

// cut shortens a line to width columns, the last of them an ellipsis when something is missing.
func cut(line string, width int) string {
	if columnsOf(line) <= width {
		return line
	}
	runes := []rune(line)
	return string(runes[:fits(runes, width-1)]) + "…"
}
