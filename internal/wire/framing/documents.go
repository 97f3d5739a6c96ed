package framing

import "bytes"

// Documents is a stream of JSON objects: one after the other, or as the elements of one list that grows, as some servers send it under the media type
// of a whole answer. Everything between the objects is skipped. The objects are those of NDJSON.
type Documents struct{ NDJSON }

var documentsMedia = []string{"application/json", "application/json-seq", "application/stream+json"}

// Media implements Format.
func (Documents) Media() []string { return documentsMedia }

// Framer implements Format.
func (Documents) Framer() Framer { return new(objectFramer) }

// Unlabelled implements Format. It reports whether a body is a list of objects.
func (Documents) Unlabelled(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 1 && body[0] == '[' && bytes.HasPrefix(bytes.TrimSpace(body[1:]), []byte{'{'})
}

// objectFramer finds JSON objects. The zero value is ready for the start of a stream.
type objectFramer struct {
	pos               int // first byte not scanned yet
	start             int // first byte of the object that is open
	depth             int // number of open brackets; 0 = no object is open
	inString, escaped bool
}

// Next implements Framer.
func (f *objectFramer) Next(buf []byte) (Span, bool) {
	for f.pos < len(buf) {
		c := buf[f.pos]
		f.pos++
		switch {
		case f.escaped:
			f.escaped = false
		case f.inString:
			f.escaped, f.inString = c == '\\', c != '"'
		case c == '"':
			f.inString = true
		case c == '{' || c == '[' && f.depth > 0:
			if f.depth == 0 {
				f.start = f.pos - 1
			}
			f.depth++
		case f.depth > 0 && (c == '}' || c == ']'):
			if f.depth--; f.depth == 0 {
				return Span{f.start, f.pos, 1}, true
			}
		}
	}
	return Span{}, false
}

// Finish implements Framer: an object that is still open is an incomplete message.
func (f *objectFramer) Finish(buf []byte) (Span, bool) {
	s := Span{f.start, len(buf), 1}
	open := f.depth > 0
	*f = objectFramer{pos: len(buf)}
	return s, open
}

// Pending implements Framer.
func (f *objectFramer) Pending() int {
	if f.depth > 0 {
		return f.start
	}
	return f.pos
}

// PendingLines implements Framer: line ends do not matter.
func (f *objectFramer) PendingLines() int { return 0 }

// Rebase implements Framer.
func (f *objectFramer) Rebase(n int) {
	f.pos -= n
	f.start -= n
}
