package draw

import (
	"image/color"
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
	ASCII  bool // it shows no more than ASCII
	Colour bool // it shows colours
	inks   [inks]strokes
}

// NewPaint makes the paint of a terminal: colour = it shows colours and nobody asked for none; emphasis = it shows bold and faint text; ascii =
// it shows ASCII only.
func NewPaint(colour, emphasis, ascii bool) *Paint {
	p := &Paint{ASCII: ascii, Colour: colour && emphasis}
	if !emphasis {
		return p
	}
	p.mix(colour, [4]color.Color{lipgloss.Red, lipgloss.Green, lipgloss.Yellow, lipgloss.Cyan})
	return p
}

// OnLight is the paint for a terminal with a light ground that shows 256 colours: the own yellow and cyan of most are too pale on it to be read.
func (p *Paint) OnLight() *Paint {
	light := &Paint{ASCII: p.ASCII, Colour: true}
	light.mix(true, lightColours)
	return light
}

// lightColours are red, green, yellow and cyan on a light ground, of the 256 that every such terminal has alike.
var lightColours = [4]color.Color{lipgloss.ANSIColor(124), lipgloss.ANSIColor(22), lipgloss.ANSIColor(94), lipgloss.ANSIColor(23)}

// mix makes the inks of red, green, yellow and cyan; colour false leaves bold and faint.
func (p *Paint) mix(colour bool, of [4]color.Color) {
	red, green, yellow, cyan := of[0], of[1], of[2], of[3]
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
		Picture:  hue(faint.Foreground(cyan), plain),
		Work:     hue(plain.Foreground(cyan), plain),
		WorkBold: hue(bold.Foreground(cyan), bold),
		Good:     hue(plain.Foreground(green), plain),
		GoodBold: hue(bold.Foreground(green), bold),
		Warn:     hue(plain.Foreground(yellow), plain),
		WarnBold: hue(bold.Foreground(yellow), bold),
		Bad:      hue(bold.Foreground(red), bold),
		Question: plain.Reverse(true),
	}
	for i, s := range styles {
		const mark = "x"
		on, _, _ := strings.Cut(s.Render(mark), mark)
		if on == "" {
			continue
		}
		// One sequence for each property: what lets colours through and nothing else (terminal.Writer) knows these.
		if !strings.Contains(on, "38;5") { // one of 256 is three numbers in one
			on = strings.ReplaceAll(on, ";", "m\x1b[")
		}
		p.inks[i] = strokes{on, "\x1b[0m"}
	}
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
