package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Writer writes text for people. Everything that goes through it is made harmless as Text does it; with Colour its own colours stay.
// It keeps back what a write leaves incomplete, a character, a colour or a secret, until the next, or until Flush. Its methods may be called
// by several goroutines.
type Writer struct {
	out    io.Writer
	colour bool
	hider  Hider

	mu    sync.Mutex
	held  []byte // the beginning of a character, a colour or a secret
	begun bool   // a line that has not ended yet
	// Columns is the width at which lines break between words; nil = they are left as they are.
	Columns func() int
	// aside keeps what is written while somebody else has the terminal; nil = nobody has.
	aside *strings.Builder
}

// keptAside bounds what is kept while somebody else has the terminal, in bytes.
const keptAside = 256 << 10

// Aside keeps what is written from now on, until Resume: a view has the whole terminal.
func (w *Writer) Aside() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.aside == nil {
		w.aside = new(strings.Builder)
	}
}

// Resume writes what was kept aside, and the rest as it comes.
func (w *Writer) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.aside == nil {
		return
	}
	text := w.aside.String()
	w.aside = nil
	_ = w.put(text) // who reads may be gone
}

// Hider knows secrets (redact.Secrets).
type Hider interface {
	// Values takes them out of a text.
	Values(text string) string
	// Begun is the length of the end of a text with which one of them may begin.
	Begun(text string) int
}

// open hides nothing.
type open struct{}

func (open) Values(text string) string { return text }
func (open) Begun(string) int          { return 0 }

// NewWriter returns a writer to out. colour lets colours through, which only a program that cleans what it colours may ask for. secrets are
// taken out of what is written; nil = there are none.
func NewWriter(out io.Writer, colour bool, secrets Hider) *Writer {
	if secrets == nil {
		secrets = open{}
	}
	return &Writer{out: out, colour: colour, hider: secrets}
}

// Write implements io.Writer. It reports all of p as written or an error.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(append(w.held, p...))
	cut := w.complete(text)
	cut = min(cut, len(text)-w.hider.Begun(text))
	w.held = append(w.held[:0], text[cut:]...)
	if err := w.put(w.flowed(w.clean(w.hider.Values(text[:cut])))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flowed breaks long lines between words. A line that came in parts is left alone.
func (w *Writer) flowed(text string) string {
	if w.Columns == nil || text == "" {
		return text
	}
	first := ""
	if w.begun {
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			return text
		}
		first, text = text[:n], text[n:]
	}
	w.begun = text != "" && !strings.HasSuffix(text, "\n")
	return first + Flow(text, w.Columns())
}

// Flush writes what was kept back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(w.held)
	w.held = w.held[:0]
	return w.put(w.clean(w.hider.Values(text)))
}

// Redraw writes a line over the one in which the cursor stands; only a terminal is asked for it. Colours in it stay: who draws cleans foreign text.
func (w *Writer) Redraw(line string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.put("\r\x1b[K" + coloured(w.hider.Values(line), Line))
}

func (w *Writer) put(text string) error {
	if text == "" {
		return nil
	}
	if w.aside != nil {
		if w.aside.Len() < keptAside {
			w.aside.WriteString(text)
		}
		return nil
	}
	_, err := io.WriteString(w.out, text)
	return err
}

// Redraw writes a line over the last one on a terminal. Of a Writer it uses the way past the filter.
func Redraw(w io.Writer, line string) error {
	if t, ok := w.(*Writer); ok {
		return t.Redraw(line)
	}
	_, err := fmt.Fprintf(w, "\r\x1b[K%s", coloured(line, Line))
	return err
}

// complete is the length of the text without a character or colour that has only begun.
func (w *Writer) complete(text string) int {
	if at := strings.LastIndexByte(text, '\x1b'); w.colour && at >= 0 && len(text)-at < maxColour && colourLength(text[at:]) < 0 {
		return at
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(text[len(text)-n:]) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

// clean is Text, but for colours.
func (w *Writer) clean(text string) string {
	if !w.colour {
		return Text(text)
	}
	return coloured(text, Text)
}

// coloured is a text that is cleaned between its colours.
func coloured(text string, clean func(string) string) string {
	if strings.IndexByte(text, '\x1b') < 0 {
		return clean(text)
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			b.WriteString(clean(text))
			return b.String()
		}
		n := max(colourLength(text[at:]), 0)
		b.WriteString(clean(text[:at]))
		if b.WriteString(text[at : at+n]); n == 0 {
			b.WriteString(clean(text[at : at+1]))
			n = 1
		}
		text = text[at+n:]
	}
}

// maxColour is the length of the longest colour: ESC [ 3 1 m.
const maxColour = 5

// plainStyles are the numbers that may stand in a colour.
const plainStyles = " 0 1 2 3 4 30 31 32 33 34 35 36 37 90 91 92 93 94 95 96 97 "

// colourLength is the length of the colour with which a text begins: plain, bold, dim, italic, underlined, or one of the eight colours,
// dark or bright; 0 = there is none, -1 = the text ends before that is known.
func colourLength(text string) int {
	const begin = "\x1b["
	if len(text) < len(begin) && strings.HasPrefix(begin, text) {
		return -1
	}
	rest, ok := strings.CutPrefix(text, begin)
	if !ok {
		return 0
	}
	n := 0
	for n < len(rest) && n < 2 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	switch {
	case n == len(rest):
		return -1
	case rest[n] != 'm' || !strings.Contains(plainStyles, " "+rest[:n]+" "):
		return 0
	}
	return len(begin) + n + 1
}
