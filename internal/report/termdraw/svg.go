package termdraw

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// Sizes of cells in an SVG image, in its own units.
const (
	cellWide, cellHigh = 8, 17
	edge               = 10
	baseline           = 13
)

// Palette holds the colours of an SVG image of a screen, "#rrggbb": background, normal and faint text, and the inks.
type Palette struct{ Ground, Text, Faint, Red, Green, Yellow, Cyan string }

// Dark and Light are the palettes for dark and light screens. A test checks their contrast with the background.
var (
	Dark  = Palette{Ground: "#181a1f", Text: "#d6dae0", Faint: "#8e949e", Red: "#f0717a", Green: "#8abe69", Yellow: "#deb860", Cyan: "#56b6c2"}
	Light = Palette{Ground: "#ffffff", Text: "#282a2e", Faint: "#666b73", Red: "#b3202c", Green: "#1d6f31", Yellow: "#7f5a00", Cyan: "#0a6b78"}
)

// hueOf returns the colour of an ink.
func (h *Palette) hueOf(ink Ink) string {
	switch ink {
	case Faint:
		return h.Faint
	case Picture, Work, WorkBold:
		return h.Cyan
	case Good, GoodBold:
		return h.Green
	case Warn, WarnBold:
		return h.Yellow
	case Bad:
		return h.Red
	case Question:
		return h.Ground
	}
	return h.Text
}

// boldInks lists the inks of bold text.
var boldInks = []Ink{Bold, WorkBold, GoodBold, WarnBold, Bad}

// SVG renders the rows as a self-contained image, columns cells wide. Text stays text; blocks and lines are drawn. The image follows the viewer's dark
// mode.
func (rows Rows) SVG(columns int, title string) []byte {
	var b bytes.Buffer
	wide, high := columns*cellWide+2*edge, len(rows)*cellHigh+2*edge
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n<title>", wide, high, wide, high)
	escape(&b, title)
	b.WriteString("</title>\n<style>\ntext { font: 13px \"DejaVu Sans Mono\", Menlo, Consolas, monospace; white-space: pre }\n" + style(&Dark) +
		"@media (prefers-color-scheme: light) {\n" + style(&Light) + "}\n</style>\n")
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", wide, high)
	for i := range rows {
		column, top := 0, edge+i*cellHigh
		for _, p := range rows[i].pieces {
			cells := Width(p.text)
			if p.ink == Question {
				fmt.Fprintf(&b, `<rect class="i0" x="%d" y="%d" width="%d" height="%d"/>`+"\n", edge+column*cellWide, top, cells*cellWide, cellHigh)
			}
			p.svg(&b, edge+column*cellWide, top)
			column += cells
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func style(h *Palette) string {
	text := "  .ground { fill: " + h.Ground + " }\n"
	for ink := range inks {
		weight := ""
		if slices.Contains(boldInks, ink) {
			weight = "; font-weight: bold"
		}
		text += fmt.Sprintf("  .i%d { fill: %s%s }\n", ink, h.hueOf(ink), weight)
	}
	return text
}

// svg draws a piece: block characters as rectangles, so that they touch, the rest as text.
func (p *piece) svg(b *bytes.Buffer, x, y int) {
	words := ""
	flush := func() {
		cells := Width(words)
		if strings.TrimSpace(words) != "" {
			fmt.Fprintf(b, `<text class="i%d" x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" xml:space="preserve">`, p.ink, x, y+baseline, cells*cellWide)
			escape(b, words)
			b.WriteString("</text>\n")
		}
		x, words = x+cells*cellWide, ""
	}
	for _, r := range p.text {
		parts := shape(r)
		if parts == nil {
			words += string(r)
			continue
		}
		flush()
		for _, s := range parts {
			fmt.Fprintf(b, `<rect class="i%d" x="%g" y="%g" width="%g" height="%g"/>`+"\n", p.ink, float64(x)+s[0], float64(y)+s[1], s[2], s[3])
		}
		x += cellWide
	}
	flush()
}

// shape returns the rectangles (x, y, width, height) of a block or line character within its cell; nil = a letter.
func shape(r rune) [][4]float64 {
	const w, h = cellWide, cellHigh
	across, down := [4]float64{0, 8, w, 1}, [4]float64{4, 0, 1, h}
	switch {
	case r >= '▁' && r <= '█':
		part := h * float64(r-'▁'+1) / 8
		return [][4]float64{{0, h - part, w, part}}
	case r >= '▉' && r <= '▏':
		return [][4]float64{{0, 3, w * float64('▐'-r) / 8, h - 6}}
	}
	switch r {
	case '─':
		return [][4]float64{across}
	case '━':
		return [][4]float64{{0, 8, w, 2}}
	case '│':
		return [][4]float64{down}
	case '┬':
		return [][4]float64{across, {4, 8, 1, h - 8}}
	case '└':
		return [][4]float64{{4, 0, 1, 9}, {4, 8, w - 4, 1}}
	}
	return nil
}

func escape(b *bytes.Buffer, text string) { _ = xml.EscapeText(b, []byte(text)) } // writing to a buffer cannot fail
