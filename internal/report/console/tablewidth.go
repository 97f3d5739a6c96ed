package console

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/report/termdraw"
)

// On a terminal, tables fit the terminal: first the least important columns are dropped, then names are cut. Elsewhere the layout is
// that of the specification, whatever its width.

// expendable lists the columns of a metric table that a narrow terminal drops, in this order.
var expendable = []string{"std", "min", "p90", "max", "p99", "p50"}

// minNameWidth is the smallest width to which names are cut; a narrower terminal wraps the lines itself.
const minNameWidth = 10

// gap is the space between two columns of a table without frames.
const gap = 2

// fit makes a table with names in its first column no wider than room.
func (t *table) fit(room int) {
	t.blankMissing()
	for _, c := range expendable {
		if i := slices.Index(t.head, c); i > 0 && len(t.head) > 2 && t.overflow(room) > 0 {
			t.drop(i)
		}
	}
	over := t.overflow(room)
	if over <= 0 {
		return
	}
	names := max(minNameWidth, t.widths()[0]-over)
	for _, r := range t.rows {
		r[0] = termdraw.Cut(strings.ReplaceAll(r[0], "\n", " "), names)
	}
}

// overflow returns by how many columns the table without frames is wider than room.
func (t *table) overflow(room int) int {
	total := -gap
	for _, n := range t.widths() {
		total += n + gap
	}
	return total - room
}

// open writes the table without frames: heads, and figures aligned below each other. Names and texts are left-aligned.
func (t *table) open(w io.Writer, s style) error {
	width := t.widths()
	var b strings.Builder
	for i, r := range append([][]string{t.head}, t.rows...) {
		cells := slices.Clone(r)
		if i == 0 {
			if !t.nameless {
				cells[0] = "" // the names need no head
			}
		}
		t.openRow(&b, s, width, cells, i == 0)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// openRow writes one row, with as many lines as its highest cell; lines have no trailing blanks.
func (t *table) openRow(b *strings.Builder, s style, width []int, cells []string, head bool) {
	for k := 0; ; k++ {
		line, more := "", false
		for i, c := range cells {
			parts := strings.Split(c, "\n")
			text := ""
			if k < len(parts) {
				text = parts[k]
			}
			more = more || k+1 < len(parts)
			pad := strings.Repeat(" ", max(width[i]-ansi.StringWidth(text), 0))
			if head {
				text = s.dim(text)
			} else if i == 0 && !t.nameless {
				text = s.unit(text)
			}
			if i > 0 {
				line += strings.Repeat(" ", gap)
			}
			if i == 0 && !t.nameless || t.leftAligned != nil && t.leftAligned[i] {
				line += text + pad
			} else {
				line += pad + text
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if !more {
			return
		}
	}
}

// unit formats the unit after a name.
func (s style) unit(label string) string {
	if i := strings.LastIndex(label, " ("); i > 0 {
		return label[:i] + s.dim(label[i:])
	}
	return label
}

// drop removes a column.
func (t *table) drop(i int) {
	if i < 0 {
		return
	}
	t.head = slices.Delete(t.head, i, i+1)
	if i < len(t.leftAligned) {
		t.leftAligned = slices.Delete(t.leftAligned, i, i+1)
	}
	for k, r := range t.rows {
		t.rows[k] = slices.Delete(r, i, i+1)
	}
}

// blankMissing removes N/A where a metric has no such statistic: six times N/A would hide the only figure of a rate.
func (t *table) blankMissing() {
	for _, r := range t.rows {
		for i, cell := range r {
			if cell == missing {
				r[i] = ""
			}
		}
	}
}
