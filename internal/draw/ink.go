package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Ink is what a piece of text means; how that looks is the terminal's and the user's choice. Only bold, faint, reverse and four of a
// terminal's own 16 colours are used: its theme decides how they look, so light and dark ones both work. What an ink says is also said by a
// word or a mark.
type Ink uint8

// The inks.
const (
	Plain    Ink = iota
	Bold         // the figure to read first, labels
	Faint        // units, axes, what is usual
	Picture      // bars and columns
	Work         // going on
	WorkBold     //
	Good         // done, healthy
	GoodBold     //
	Warn         // look here, the result stands
	WarnBold     //
	Bad          // wrong now
	Question     // an answer is awaited
	inks
)

// strokes are the sequences before and after a text.
type strokes struct{ on, off string }

// Paint is how a terminal is drawn on.
type Paint struct {
	ASCII bool // it shows no more than ASCII
	inks  [inks]strokes
}

// NewPaint makes the paint of a terminal: colour = it shows colours and nobody asked for none; emphasis = it shows bold and faint text; ascii =
// it shows ASCII only.
func NewPaint(colour, emphasis, ascii bool) *Paint {
	p := &Paint{ASCII: ascii}
	if !emphasis {
		return p
	}
	plain := lipgloss.NewStyle()
	hue := func(c lipgloss.Style, with lipgloss.Style) lipgloss.Style {
		if colour {
			return c
		}
		return with
	}
	bold, faint := plain.Bold(true), plain.Faint(true)
	styles := [inks]lipgloss.Style{
		Plain: plain, Bold: bold, Faint: faint,
		Picture:  hue(faint.Foreground(lipgloss.Cyan), plain),
		Work:     hue(plain.Foreground(lipgloss.Cyan), plain),
		WorkBold: hue(bold.Foreground(lipgloss.Cyan), bold),
		Good:     hue(plain.Foreground(lipgloss.Green), plain),
		GoodBold: hue(bold.Foreground(lipgloss.Green), bold),
		Warn:     hue(plain.Foreground(lipgloss.Yellow), plain),
		WarnBold: hue(bold.Foreground(lipgloss.Yellow), bold),
		Bad:      hue(bold.Foreground(lipgloss.Red), bold),
		Question: plain.Reverse(true),
	}
	for i, s := range styles {
		const mark = "x"
		on, _, _ := strings.Cut(s.Render(mark), mark)
		if on == "" {
			continue
		}
		// One sequence for each property: what lets colours through and nothing else (terminal.Writer) knows these.
		p.inks[i] = strokes{strings.ReplaceAll(on, ";", "m\x1b["), "\x1b[0m"}
	}
	return p
}

// ShowsUnicode tells whether a terminal shows more than ASCII, from its environment.
func ShowsUnicode(lookup func(string) string) bool {
	if lookup("TERM") == "linux" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := lookup(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// standIns are what stands for the characters of pictures where only ASCII is shown; each takes one cell too.
var standIns = map[rune]byte{
	'▁': '.', '▂': '.', '▃': ':', '▄': '-', '▅': '=', '▆': '+', '▇': '*', '█': '#',
	'▏': ' ', '▎': '.', '▍': ':', '▌': '-', '▋': '=', '▊': '+', '▉': '*', '░': '.',
	'─': '-', '━': '=', '│': '|', '┤': '|', '┬': '+', '└': '+', '·': '-', '…': '~', '✔': '+', '✘': 'x', '▸': '>', 'µ': 'u', '±': '~', '→': '>',
	'×': 'x', '–': '-', '≥': '>', '•': '*', '“': '"', '”': '"', '↑': '^', '↓': 'v',
}

// ASCII is a text in ASCII that takes as many cells.
func ASCII(text string) string {
	plain := true
	for i := range len(text) {
		plain = plain && text[i] < 0x80
	}
	if plain {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch c, known := standIns[r]; {
		case r < 0x80:
			b.WriteRune(r)
		case known:
			b.WriteByte(c)
		default:
			b.WriteString(strings.Repeat("?", Width(string(r))))
		}
	}
	if n := Width(text) - b.Len(); n > 0 { // clusters are wider or narrower than their parts
		b.WriteString(blanks(n))
	}
	return b.String()[:Width(text)]
}
