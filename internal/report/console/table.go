// Package console prints a run for people: the tables, notices and panels at the end of a run, and the footer that names its files. Their layout is
// specified in artifacts, section 12.
package console

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style draws with or without colour.
type style struct{ colour bool }

func (s style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string { return s.paint("1", text) }
func (s style) dim(text string) string  { return s.paint("2", text) }
func (s style) red(text string) string  { return s.paint("31", text) }

// table is a titled grid. A cell may have several lines.
type table struct {
	title       string
	head        []string
	leftAligned []bool // columns that are left-aligned
	rows        [][]string

	nameless bool // the first column holds figures like the others, no names
}

// Table writes a titled grid of numbers whose first column names them; colour: with emphasis.
func Table(w io.Writer, colour bool, title string, head []string, rows [][]string) error {
	t := table{title: title, head: head, rows: rows}
	return t.render(w, style{colour})
}

// List writes a titled grid of texts. A cell may have several lines; colour: with emphasis.
func List(w io.Writer, colour bool, title string, head []string, rows [][]string) error {
	t := table{title: title, head: head, rows: rows, leftAligned: make([]bool, len(head))}
	for i := range t.leftAligned {
		t.leftAligned[i] = true
	}
	return t.render(w, style{colour})
}

// Panel writes a framed text with a title; colour: with emphasis.
func Panel(w io.Writer, colour bool, title string, lines []string) error {
	return panel(w, style{colour}, title, lines)
}

// render writes the table.
func (t *table) render(w io.Writer, s style) error {
	width := t.widths()
	var b strings.Builder
	total := 1
	for _, n := range width {
		total += n + 3
	}
	if pad := (total - ansi.StringWidth(t.title)) / 2; pad > 0 {
		b.WriteString(strings.Repeat(" ", pad))
	}
	b.WriteString(s.bold(t.title) + "\n")
	rule(&b, width, "┏", "━", "┳", "┓")
	t.row(&b, s, width, t.head, "┃", true)
	rule(&b, width, "┡", "━", "╇", "┩")
	for _, r := range t.rows {
		t.row(&b, s, width, r, "│", false)
	}
	rule(&b, width, "└", "─", "┴", "┘")
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) widths() []int {
	width := make([]int, len(t.head))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, cell := range r {
			for line := range strings.SplitSeq(cell, "\n") {
				width[i] = max(width[i], ansi.StringWidth(line))
			}
		}
	}
	return width
}

func rule(b *strings.Builder, width []int, first, line, cross, last string) {
	for i, n := range width {
		if i == 0 {
			b.WriteString(first)
		} else {
			b.WriteString(cross)
		}
		b.WriteString(strings.Repeat(line, n+2))
	}
	b.WriteString(last + "\n")
}

// row writes one row, with as many lines as its highest cell.
func (t *table) row(b *strings.Builder, s style, width []int, cells []string, bar string, head bool) {
	parts := make([][]string, len(cells))
	height := 1
	for i, c := range cells {
		parts[i] = strings.Split(c, "\n")
		height = max(height, len(parts[i]))
	}
	for k := range height {
		for i := range cells {
			text := ""
			if k < len(parts[i]) {
				text = parts[i][k]
			}
			pad := strings.Repeat(" ", width[i]-ansi.StringWidth(text))
			switch {
			case head:
				text = s.bold(text)
			case text == missing:
				text = s.dim(text)
			}
			if t.leftAligned != nil && t.leftAligned[i] {
				text += pad
			} else {
				text = pad + text
			}
			b.WriteString(bar + " " + text + " ")
		}
		b.WriteString(bar + "\n")
	}
}

// missing is shown for a number that does not exist.
const missing = "N/A"

// panel is a framed text.
func panel(w io.Writer, s style, title string, lines []string) error {
	width := ansi.StringWidth(title) + 2
	for _, l := range lines {
		width = max(width, ansi.StringWidth(l))
	}
	var b strings.Builder
	side := width + 2 - ansi.StringWidth(title) - 2
	b.WriteString("\n╭" + strings.Repeat("─", side/2) + " " + s.bold(title) + " " + strings.Repeat("─", side-side/2) + "╮\n")
	for _, l := range lines {
		b.WriteString("│ " + l + strings.Repeat(" ", width-ansi.StringWidth(l)) + " │\n")
	}
	b.WriteString("╰" + strings.Repeat("─", width+2) + "╯\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a text into lines of at most width characters, at blanks if possible.
func wrap(text string, width int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		for fits(line, width) < len(line) {
			cut := fits(line, width)
			if i := strings.LastIndexByte(line[:cut+1], ' '); i > cut/2 {
				cut = i
			}
			out = append(out, strings.TrimRight(line[:cut], " "))
			line = strings.TrimLeft(line[cut:], " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
