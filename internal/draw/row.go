// Package draw makes lines of text and pictures of block characters for terminals: rows of cells that know their width, bars, columns,
// distributions and timelines. What it draws is plain data until somebody paints it, so nothing here needs a terminal.
package draw

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"aiperf/internal/terminal"
)

// Row is one line of a terminal, piece by piece. The zero value is empty.
type Row struct {
	pieces []piece
	cells  int
}

// piece is text of one ink.
type piece struct {
	ink  Ink
	text string
}

// Rows are lines below each other.
type Rows []Row

// Text is a row of one piece.
func Text(ink Ink, text string) Row {
	var r Row
	r.Put(ink, text)
	return r
}

// Cells is the width of the row.
func (r *Row) Cells() int { return r.cells }

// usual is how many pieces a row has room for when its first one comes.
const usual = 4

// Put adds text at the end.
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

// Row adds the pieces of another row.
func (r *Row) Row(o Row) *Row {
	if r.pieces == nil {
		r.pieces = slices.Clip(o.pieces) // what comes after them goes elsewhere
	} else {
		r.pieces = append(r.pieces, o.pieces...)
	}
	r.cells += o.cells
	return r
}

// To adds blanks up to a column; nothing if the row is there already.
func (r *Row) To(column int) *Row { return r.Put(Plain, blanks(column-r.cells)) }

// Left adds text in a field of so many cells, from its left; what is too long is cut.
func (r *Row) Left(ink Ink, text string, cells int) *Row {
	end := r.cells + max(cells, 0)
	return r.Put(ink, Cut(text, cells)).To(end)
}

// Right adds text at the right of a field of so many cells; what is too long is cut.
func (r *Row) Right(ink Ink, text string, cells int) *Row {
	text = Cut(text, cells)
	r.To(r.cells + cells - Width(text))
	return r.Put(ink, text)
}

// Most cuts the row to so many cells; the last of them is … if something is missing.
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

// Plain is the row's text.
func (r *Row) Plain() string {
	var b strings.Builder
	for _, p := range r.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// Append adds the row as a terminal gets it.
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

// String is the rows as a terminal gets them, a line end behind each.
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

// Beside puts rows next to each other, the right ones from a column on.
func Beside(left, right Rows, column int) Rows {
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

// Rule is a titled line of so many cells.
func Rule(title, more string, cells int) Row {
	var r Row
	r.Put(Bold, Cut(title, cells)).Put(Faint, more).Put(Plain, " ")
	return *r.Put(Faint, strings.Repeat("─", max(cells-r.cells, 0)))
}

// Ends puts one row at the left and one at the right of so many cells; the left one is cut where they meet.
func Ends(left, right Row, cells int) Row {
	if left.cells+1+right.cells > cells {
		left = left.Most(max(cells-right.cells-1, 0))
	}
	return *left.To(cells - right.cells).Row(right)
}

// Width is the number of a terminal's cells that a text takes.
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

// wide is Width of a text beyond ASCII; the characters of pictures are known.
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

// Cut shortens a text to so many cells, the last of them … if something is missing.
func Cut(text string, cells int) string {
	switch {
	case cells < 1:
		return ""
	case Width(text) <= cells:
		return text
	}
	return ansi.Truncate(text, cells, "…")
}

// CutMiddle shortens a path or a URL: its beginning and its end stay.
func CutMiddle(text string, cells int) string {
	if Width(text) <= cells {
		return text
	}
	if short := terminal.Shorten(text, cells); cells > 8 && Width(short) <= cells {
		return short
	}
	return Cut(text, cells)
}

// blanks are n blanks; none if n is negative.
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
