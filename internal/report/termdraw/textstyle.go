package termdraw

import "strings"

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
	if colour {
		p.mix(&ownColours)
	} else {
		p.mix(nil)
	}
	return p
}

// OnLight returns the paint for a terminal with a light background and 256 colours: the yellow and cyan of most terminals are too pale to read on it.
func (p *Paint) OnLight() *Paint {
	light := &Paint{ASCII: p.ASCII, Colour: true}
	light.mix(&lightColours)
	return light
}

// Parameters of escape sequences (ECMA-48, SGR).
const (
	bold    = "1"
	faint   = "2"
	reverse = "7"
	indexed = "38;5;" // and a number: one of 256 colours
)

// hues are the parameters for red, green, yellow and cyan.
type hues struct{ red, green, yellow, cyan string }

// ownColours are those of the terminal.
var ownColours = hues{"31", "32", "33", "36"}

// lightColours are for a light background, from the 256 colours that are the same on every such terminal.
var lightColours = hues{indexed + "124", indexed + "22", indexed + "94", indexed + "23"}

// mix sets the inks; without colours (nil), only bold, faint and reverse are used.
func (p *Paint) mix(of *hues) {
	if of == nil {
		p.inks = [inks]escapePair{
			Bold: sequences(bold), Faint: sequences(faint), WorkBold: sequences(bold), GoodBold: sequences(bold), WarnBold: sequences(bold),
			Bad: sequences(bold), Question: sequences(reverse),
		}
		return
	}
	p.inks = [inks]escapePair{
		Bold: sequences(bold), Faint: sequences(faint), Picture: sequences(faint, of.cyan),
		Work: sequences(of.cyan), WorkBold: sequences(bold, of.cyan),
		Good: sequences(of.green), GoodBold: sequences(bold, of.green),
		Warn: sequences(of.yellow), WarnBold: sequences(bold, of.yellow),
		Bad: sequences(bold, of.red), Question: sequences(reverse),
	}
}

// sequences returns one escape sequence for each property, because terminal.Writer, which passes only colours, recognises only these.
func sequences(properties ...string) escapePair {
	return escapePair{"\x1b[" + strings.Join(properties, "m\x1b[") + "m", "\x1b[0m"}
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
