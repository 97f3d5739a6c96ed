package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Writer writes text for people. It cleans all text as Text does; if Colour is set, colours stay. It holds back an incomplete character, colour or
// secret at the end of a write until the next write or Flush. Its methods are safe for concurrent use.
type Writer struct {
	out      io.Writer
	colour   bool
	redactor Redactor

	mu         sync.Mutex
	incomplete []byte // the beginning of a character, a colour or a secret
	midLine    bool   // the current line is not complete
	// Columns returns the width at which lines break between words; nil = lines stay as they are.
	Columns func() int
	// deferred stores the output while a view has the terminal, and until Resume has written what came before; nil = output is written at once.
	deferred *strings.Builder
	viewed   bool          // a view has the terminal
	resuming chan struct{} // closed when Resume has written the stored output; nil = it does not write
}

// maxDeferred is the maximum number of bytes stored while a view has the terminal.
const maxDeferred = 256 << 10

// Defer stores the output from now on, until Resume, because a view uses the whole terminal.
func (w *Writer) Defer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.viewed = true
	if w.deferred == nil {
		w.deferred = new(strings.Builder)
	}
}

// Resume writes the stored output and ends the storing. It waits for a reader that does not read; other methods do not, because until it returns
// their output is stored too.
func (w *Writer) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.viewed = false
	if w.deferred == nil || w.resuming != nil {
		return
	}
	w.resuming = make(chan struct{})
	for !w.viewed && w.deferred.Len() > 0 {
		text := w.deferred.String()
		w.deferred.Reset()
		w.mu.Unlock()
		_, _ = io.WriteString(w.out, text) // the reader may be gone
		w.mu.Lock()
	}
	if !w.viewed {
		w.deferred = nil
	}
	close(w.resuming)
	w.resuming = nil
}

// Redactor removes secrets (redact.Secrets).
type Redactor interface {
	// Values removes the secrets from a text.
	Values(text string) string
	// PartialLength returns the length of the end of a text that may be the beginning of a secret.
	PartialLength(text string) int
}

// noRedaction is a Redactor without secrets.
type noRedaction struct{}

func (noRedaction) Values(text string) string { return text }
func (noRedaction) PartialLength(string) int  { return 0 }

// NewWriter returns a writer to out. colour lets colours through. Set it only in a program that cleans the text that it colours. secrets removes
// secrets from the output; nil = there are none.
func NewWriter(out io.Writer, colour bool, secrets Redactor) *Writer {
	if secrets == nil {
		secrets = noRedaction{}
	}
	return &Writer{out: out, colour: colour, redactor: secrets}
}

// Write implements io.Writer. It reports all of p as written or an error.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := string(append(w.incomplete, p...))
	cut := w.complete(text)
	cut = min(cut, len(text)-w.redactor.PartialLength(text))
	w.incomplete = append(w.incomplete[:0], text[cut:]...)
	if err := w.put(w.wrap(w.clean(w.redactor.Values(text[:cut])))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// wrap breaks long lines between words. It does not change a line that was written in parts.
func (w *Writer) wrap(text string) string {
	if w.Columns == nil || text == "" {
		return text
	}
	first := ""
	if w.midLine {
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			return text
		}
		first, text = text[:n], text[n:]
	}
	w.midLine = text != "" && !strings.HasSuffix(text, "\n")
	return first + Flow(text, w.Columns())
}

// Flush writes the text that was held back. It waits for Resume.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.resuming != nil {
		resumed := w.resuming
		w.mu.Unlock()
		<-resumed
		w.mu.Lock()
	}
	text := string(w.incomplete)
	w.incomplete = w.incomplete[:0]
	return w.put(w.clean(w.redactor.Values(text)))
}

// Redraw overwrites the current line of the terminal. Call it only if the output is a terminal. Colours stay, so the caller must clean foreign text.
func (w *Writer) Redraw(line string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.put("\r\x1b[K" + coloured(w.redactor.Values(line), Line))
}

func (w *Writer) put(text string) error {
	if text == "" {
		return nil
	}
	if w.deferred != nil {
		if w.deferred.Len() < maxDeferred {
			w.deferred.WriteString(text)
		}
		return nil
	}
	_, err := io.WriteString(w.out, text)
	return err
}

// Redraw overwrites the last line of a terminal. If w is a Writer, it uses its method Redraw.
func Redraw(w io.Writer, line string) error {
	if t, ok := w.(*Writer); ok {
		return t.Redraw(line)
	}
	_, err := fmt.Fprintf(w, "\r\x1b[K%s", coloured(line, Line))
	return err
}

// complete returns the length of the text without an incomplete character or colour at its end.
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

// clean applies Text; if Colour is set, colours stay.
func (w *Writer) clean(text string) string {
	if !w.colour {
		return Text(text)
	}
	return coloured(text, Text)
}

// coloured applies clean to the parts of a text between its colours.
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

// maxColour is the length of the longest colour sequence: ESC [ 3 1 m.
const maxColour = 5

// plainStyles are the allowed numbers in a colour sequence.
const plainStyles = " 0 1 2 3 4 30 31 32 33 34 35 36 37 90 91 92 93 94 95 96 97 "

// colourLength returns the length of the colour sequence at the start of a text: plain, bold, dim, italic, underlined, or one of the eight colours,
// dark or bright. 0 = there is none, -1 = the text ends within a sequence.
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
