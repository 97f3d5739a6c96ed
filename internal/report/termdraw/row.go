// Package termdraw makes text and block-character charts for terminals: rows of cells with known widths, bars, columns, distributions and timelines.
// The result is plain data until it is painted, so nothing here needs a terminal.
package termdraw

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/base/terminal"
)

// Row is one line of a terminal, made of pieces. The zero value is empty.
type Row struct {
	pieces []piece
	cells  int
}

// piece is text of one ink.
type piece struct {
	ink  Ink
	text string
}

// Rows is a list of lines, from top to bottom.
type Rows []Row

// Text returns a row of one piece.
func Text(ink Ink, text string) Row {
	var r Row
	r.Put(ink, text)
	return r
}

// Cells returns the width of the row.
func (r *Row) Cells() int { return r.cells }

// usual is the initial capacity of a row in pieces.
const usual = 4

// Put appends text.
func (r *Row) Put(ink Ink, text string) *Row {
	if text != "" {
		if r.pieces == nil {
			r.pieces = make([]piece, 0, usual)
		}
		r.pieces = append(r.pieces, piece{ink, text})
		r.cells += Width(text)
	}
	return r
}

// Row appends the pieces of another row.
func (r *Row) Row(o Row) *Row {
	if r.pieces == nil {
		r.pieces = slices.Clip(o.pieces) // later appends must not write to the other row
	} else {
		r.pieces = append(r.pieces, o.pieces...)
	}
	r.cells += o.cells
	return r
}

// To appends blanks up to a column; nothing if the row is already that long.
func (r *Row) To(column int) *Row { return r.Put(Plain, blanks(column-r.cells)) }

// Left appends text left-aligned in a field of cells cells; longer text is cut.
func (r *Row) Left(ink Ink, text string, cells int) *Row {
	end := r.cells + max(cells, 0)
	return r.Put(ink, Cut(text, cells)).To(end)
}

// Right appends text right-aligned in a field of cells cells; longer text is cut.
func (r *Row) Right(ink Ink, text string, cells int) *Row {
	text = Cut(text, cells)
	r.To(r.cells + cells - Width(text))
	return r.Put(ink, text)
}

// Most cuts the row to cells cells; the last one is … if something was cut.
func (r Row) Most(cells int) Row {
	if r.cells <= cells {
		return r
	}
	var out Row
	for _, p := range r.pieces {
		if w := Width(p.text); out.cells+w < cells {
			out.Put(p.ink, p.text)
			continue
		}
		room := cells - out.cells
		text := ansi.Truncate(p.text, max(room-1, 0), "")
		return *out.Put(p.ink, text+blanks(room-1-Width(text))+"…")
	}
	return out
}

// Plain returns the text of the row.
func (r *Row) Plain() string {
	var b strings.Builder
	for _, p := range r.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// Append appends the row with its escape sequences.
func (r *Row) Append(dst []byte, p *Paint) []byte {
	for _, one := range r.pieces {
		text := one.text
		if p.ASCII {
			text = ASCII(text)
		}
		ink := p.inks[one.ink]
		dst = append(dst, ink.on...)
		dst = append(dst, text...)
		dst = append(dst, ink.off...)
	}
	return dst
}

// String returns the rows with their escape sequences, each followed by a newline.
func (rows Rows) String(p *Paint) string {
	size := 0
	for i := range rows {
		size++
		for _, one := range rows[i].pieces {
			size += len(p.inks[one.ink].on) + len(one.text) + len(p.inks[one.ink].off)
		}
	}
	var b strings.Builder
	b.Grow(size)
	var line []byte
	for i := range rows {
		line = append(rows[i].Append(line[:0], p), '\n')
		b.Write(line)
	}
	return b.String()
}

// SideBySide joins two blocks of rows side by side; the right one starts at a column.
func SideBySide(left, right Rows, column int) Rows {
	out := make(Rows, max(len(left), len(right)))
	for i := range out {
		if i < len(left) {
			out[i].Row(left[i].Most(column))
		}
		if i < len(right) {
			out[i].To(column).Row(right[i])
		}
	}
	return out
}

// Indent puts blanks before every row.
func Indent(rows Rows, cells int) Rows {
	out := make(Rows, len(rows))
	for i := range rows {
		out[i].pieces = make([]piece, 0, 1+len(rows[i].pieces))
		out[i].To(cells).Row(rows[i])
	}
	return out
}

// Rule returns a titled line, cells cells wide.
func Rule(title, more string, cells int) Row {
	var r Row
	r.Put(Bold, Cut(title, cells)).Put(Faint, more).Put(Plain, " ")
	return *r.Put(Faint, strings.Repeat("─", max(cells-r.cells, 0)))
}

// Ends returns a row of cells cells with one part at the left and one at the right; the left one is cut where they would overlap.
func Ends(left, right Row, cells int) Row {
	if left.cells+1+right.cells > cells {
		left = left.Most(max(cells-right.cells-1, 0))
	}
	return *left.To(cells - right.cells).Row(right)
}

// Width returns the number of terminal cells of a text.
func Width(text string) int {
	n := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= utf8.RuneSelf {
			return wide(text)
		}
		n++
	}
	return n
}

// wide is Width for text beyond ASCII; the widths of drawing characters are known.
func wide(text string) int {
	n := 0
	for _, r := range text {
		if r >= 0x300 && (r < 0x2010 || r > 0x25ff) {
			return ansi.StringWidth(text)
		}
		n++
	}
	return n
}

// Cut shortens a text to cells cells; the last one is … if something was cut.
func Cut(text string, cells int) string {
	switch {
	case cells < 1:
		return ""
	case Width(text) <= cells:
		return text
	}
	return ansi.Truncate(text, cells, "…")
}

// CutMiddle shortens a path or a URL in the middle: its beginning and its end stay.
func CutMiddle(text string, cells int) string {
	if Width(text) <= cells {
		return text
	}
	if short := terminal.Shorten(text, cells); cells > 8 && Width(short) <= cells {
		return short
	}
	return Cut(text, cells)
}

// blanks returns n blanks; none if n is negative.
func blanks(n int) string {
	const many = "                                                                                                                                "
	switch {
	case n <= 0:
		return ""
	case n <= len(many):
		return many[:n]
	}
	return strings.Repeat(" ", n)
}
