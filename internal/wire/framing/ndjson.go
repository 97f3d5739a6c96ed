package framing

import (
	"bytes"

	"aiperf/internal/base/utf8text"
)

// NDJSON is a stream of JSON documents, one on each line. LF and CRLF end a line. Empty lines are skipped. The last line needs no line end.
type NDJSON struct {
	// Last reports whether a document ends the stream, and whether it has no content; nil = only the end of the body ends the stream.
	Last func(doc []byte) (last, mark bool)
}

// ndjsonMedia are the media types with which servers send such streams. Only the first is common; none is registered.
var ndjsonMedia = []string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/stream+json"}

// Media implements Format.
func (NDJSON) Media() []string { return ndjsonMedia }

// Framer implements Format.
func (NDJSON) Framer() Framer { return new(lineFramer) }

// Ends implements Format.
func (n NDJSON) Ends(raw []byte) (last, mark bool) {
	if n.Last == nil {
		return false, false
	}
	return n.Last(raw)
}

// MayFail implements Format. The first search string begins with a byte that is rare in answers, as in SSE.
func (NDJSON) MayFail(raw []byte, _ bool) bool {
	return bytes.Contains(raw, []byte(`rror"`)) && bytes.Contains(raw, []byte(`"error"`))
}

// Data implements Format.
func (NDJSON) Data(raw []byte, _ bool) (doc []byte, ok bool) { return raw, true }

// Parse implements Format: the document is the data of an event.
func (NDJSON) Parse(e *Event, raw []byte) {
	e.Reset()
	e.lines = append(e.lines, line{name: dataName, value: utf8text.Valid(raw)})
}

var dataName = []byte("data")

// Unlabelled implements Format. It reports whether the first of several lines is a complete document.
func (NDJSON) Unlabelled(body []byte) bool {
	first, rest, _ := bytes.Cut(body, []byte{'\n'})
	first, rest = bytes.TrimSpace(first), bytes.TrimSpace(rest)
	return len(first) > 0 && first[0] == '{' && first[len(first)-1] == '}' && len(rest) > 0 && rest[0] == '{'
}

// Failure implements Format.
func (NDJSON) Failure() string { return "StreamResponseError" }

// lineFramer finds lines. The zero value is ready for the start of a stream.
type lineFramer struct {
	pos   int // first byte not scanned yet
	line  int // first byte of the current line
	begun bool
}

// Next implements Framer.
func (f *lineFramer) Next(buf []byte) (Span, bool) {
	for {
		i := bytes.IndexByte(buf[f.pos:], '\n')
		if i < 0 {
			f.pos = len(buf)
			return Span{}, false
		}
		from, to := f.line, f.pos+i
		f.pos = to + 1
		f.line = f.pos
		if s, ok := f.content(buf, from, to); ok {
			return s, true
		}
	}
}

// Finish implements Framer.
func (f *lineFramer) Finish(buf []byte) (Span, bool) {
	from := f.line
	f.pos, f.line = len(buf), len(buf)
	return f.content(buf, from, len(buf))
}

// content returns a line without surrounding white space and without the byte order mark of the stream; false = nothing is left.
func (f *lineFramer) content(buf []byte, from, to int) (Span, bool) {
	if !f.begun && from < to {
		f.begun = true
		if bytes.HasPrefix(buf[from:to], []byte(byteOrderMark)) {
			from += len(byteOrderMark)
		}
	}
	for from < to && jsonBlank(buf[from]) {
		from++
	}
	for from < to && jsonBlank(buf[to-1]) {
		to--
	}
	return Span{from, to, 1}, from < to
}

// jsonBlank reports whether a byte is white space around a JSON document on a line.
func jsonBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// Pending implements Framer.
func (f *lineFramer) Pending() int { return f.line }

// PendingLines implements Framer: a message is one line.
func (f *lineFramer) PendingLines() int { return 0 }

// Rebase implements Framer.
func (f *lineFramer) Rebase(n int) {
	f.pos -= n
	f.line -= n
}
