package termdraw

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// Ink is the meaning of a piece of text; the terminal and the user decide how it looks. Only bold, faint, reverse and four of the terminal's own 16
// colours are used, so it works with light and dark themes. Every meaning is also expressed by a word or a mark.
type Ink uint8

// The inks.
const (
	Plain    Ink = iota
	Bold         // the main figure, labels
	Faint        // units, axes, normal values
	Picture      // bars and columns
	Work         // in progress
	WorkBold     //
	Good         // done, healthy
	GoodBold     //
	Warn         // attention: the result is still usable
	WarnBold     //
	Bad          // an error
	Question     // waiting for an answer
	inks
)

// escapePair holds the escape sequences before and after a text.
type escapePair struct{ on, off string }

// Paint holds the capabilities and styles of a terminal.
type Paint struct {
	ASCII  bool // only ASCII characters
	Colour bool // colours are shown
	inks   [inks]escapePair
}

// NewPaint returns the paint of a terminal. colour = it shows colours and the user did not disable them; emphasis = it shows bold and faint text;
// ascii = it shows only ASCII.
func NewPaint(colour, emphasis, ascii bool) *Paint {
	p := &Paint{ASCII: ascii, Colour: colour && emphasis}
	if !emphasis {
		return p
	}
	p.mix(colour, [4]color.Color{lipgloss.Red, lipgloss.Green, lipgloss.Yellow, lipgloss.Cyan})
	return p
}

// OnLight returns the paint for a terminal with a light background and 256 colours: the yellow and cyan of most terminals are too pale to read on it.
func (p *Paint) OnLight() *Paint {
	light := &Paint{ASCII: p.ASCII, Colour: true}
	light.mix(true, lightColours)
	return light
}

// lightColours are red, green, yellow and cyan for a light background, from the 256 colours that are the same on every such terminal.
var lightColours = [4]color.Color{lipgloss.ANSIColor(124), lipgloss.ANSIColor(22), lipgloss.ANSIColor(94), lipgloss.ANSIColor(23)}

// mix sets the inks from red, green, yellow and cyan; without colour, only bold and faint are used.
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
		// One sequence for each property: terminal.Writer, which passes only colours, recognises only these.
		if !strings.Contains(on, "38;5") { // a colour of the 256 is one sequence of three numbers
			on = strings.ReplaceAll(on, ";", "m\x1b[")
		}
		p.inks[i] = escapePair{on, "\x1b[0m"}
	}
}

// ShowsUnicode reports whether a terminal shows more than ASCII, from its environment.
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

// standIns maps drawing characters to ASCII ones; each takes one cell too.
var standIns = map[rune]byte{
	'▁': '.', '▂': '.', '▃': ':', '▄': '-', '▅': '=', '▆': '+', '▇': '*', '█': '#',
	'▏': ' ', '▎': '.', '▍': ':', '▌': '-', '▋': '=', '▊': '+', '▉': '*', '░': '.',
	'─': '-', '━': '=', '│': '|', '┤': '|', '┬': '+', '└': '+', '·': '-', '…': '~', '✔': '+', '✘': 'x', '▸': '>', 'µ': 'u', '±': '~', '→': '>',
	'×': 'x', '–': '-', '≥': '>', '•': '*', '“': '"', '”': '"', '↑': '^', '↓': 'v',
}

// ASCII converts a text to ASCII with the same number of cells.
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
	if n := Width(text) - b.Len(); n > 0 { // a cluster may be wider or narrower than its parts
		b.WriteString(blanks(n))
	}
	return b.String()[:Width(text)]
}
