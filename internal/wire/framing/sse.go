package framing

import (
	"bytes"

	"aiperf/internal/base/utf8text"
)

// SSE is the framing of server-sent events (spec: transport, sections 7.3 to 7.5): lines with fields, and an empty line after each event.
var SSE Format = sse{}

type sse struct{}

var sseMedia = []string{"text/event-stream"}

// Media implements Format.
func (sse) Media() []string { return sseMedia }

// Framer implements Format.
func (sse) Framer() Framer { return new(eventFramer) }

// dataField is the start of a data line.
const dataField = "data:"

// done is the data that marks the end of a stream.
const done = "[DONE]"

// Ends implements Format: data: [DONE] is a mark. The test is cheap for other messages.
func (sse) Ends(raw []byte) (last, mark bool) {
	if len(raw) == len("data: ")+len(done) && string(raw) == "data: "+done {
		return true, true
	}
	if len(raw) > 256 || !bytes.Contains(raw, []byte(done)) {
		return false, false
	}
	var e Event
	sse{}.Parse(&e, raw)
	return e.Done(), e.Done()
}

// Data implements Format. It returns the value of a message with a single line "data: VALUE", the usual case.
func (sse) Data(raw []byte, line bool) (doc []byte, ok bool) {
	if len(raw) < len(dataField) || string(raw[:len(dataField)]) != dataField {
		return nil, false
	}
	if !line && (bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0) {
		return nil, false
	}
	return trim(raw[len(dataField):]), true
}

// Parse implements Format. A line that continues a JSON value belongs to it.
func (sse) Parse(e *Event, raw []byte) {
	e.Reset()
	ls := lineScanner{rest: utf8text.Valid(raw), lf: -1}
	for len(ls.rest) > 0 {
		if l := ls.next(); !blank(l) {
			e.parseLine(l)
		}
	}
}

// Unlabelled implements Format.
func (sse) Unlabelled(body []byte) bool { return bytes.HasPrefix(body, []byte(dataField)) }

// Failure implements Format.
func (sse) Failure() string { return "SSEResponseError" }

// byteOrderMark may stand at the start of a stream.
const byteOrderMark = "\xEF\xBB\xBF"

// eventFramer finds server-sent events. The zero value is ready for the start of a stream.
type eventFramer struct {
	pos    int  // first byte not scanned yet
	line   int  // first byte of the current line
	start  int  // first byte of the pending message
	end    int  // end of its last non-empty line
	lines  int  // number of its non-empty lines; 0 = no message pending
	lf     int  // next LF at or after pos, if lf >= pos; no LF in buf[pos:clear]
	clear  int  //
	skipLF bool // a CR ended the last line: a following LF belongs to it
	begun  bool // the start of the stream, with any byte order mark, was passed
}

// Next implements Framer.
func (f *eventFramer) Next(buf []byte) (Span, bool) {
	if !f.begun && !f.dropMark(buf) {
		return Span{}, false
	}
	for {
		if f.skipLF && f.pos < len(buf) {
			if buf[f.pos] == '\n' {
				f.pos++
				f.line = f.pos
			}
			f.skipLF = false
		}
		eol := f.lineEnd(buf)
		if eol < 0 {
			return Span{}, false
		}
		f.skipLF = buf[eol] == '\r'
		s, ok := f.closeLine(buf, eol)
		f.pos = eol + 1
		f.line = f.pos
		if ok {
			return s, true
		}
	}
}

// Finish implements Framer.
func (f *eventFramer) Finish(buf []byte) (Span, bool) {
	f.skipLF, f.begun = false, true
	if f.line < len(buf) {
		if s, ok := f.closeLine(buf, len(buf)); ok {
			return s, true
		}
	}
	f.pos, f.line = len(buf), len(buf)
	return f.take()
}

// Pending implements Framer.
func (f *eventFramer) Pending() int {
	if f.lines > 0 {
		return f.start
	}
	return f.line
}

// PendingLines implements Framer.
func (f *eventFramer) PendingLines() int { return f.lines }

// Rebase implements Framer.
func (f *eventFramer) Rebase(n int) {
	f.pos -= n
	f.line -= n
	f.start -= n
	f.end -= n
	f.lf -= n
	f.clear -= n
}

// lineEnd finds the next LF or CR; -1 = not there yet. It never scans a byte twice.
func (f *eventFramer) lineEnd(buf []byte) int {
	if f.lf < f.pos {
		from := max(f.pos, f.clear)
		if i := bytes.IndexByte(buf[from:], '\n'); i >= 0 {
			f.lf = from + i
		} else {
			f.clear = len(buf)
		}
	}
	to := len(buf)
	if f.lf >= f.pos && f.lf < to {
		to = f.lf
	}
	if i := bytes.IndexByte(buf[f.pos:to], '\r'); i >= 0 {
		return f.pos + i
	}
	if to < len(buf) {
		return to
	}
	f.pos = to
	return -1
}

// closeLine processes the line buf[f.line:eol]; an empty line ends the pending message.
func (f *eventFramer) closeLine(buf []byte, eol int) (Span, bool) {
	if eol == f.line {
		return f.take()
	}
	if blank(buf[f.line:eol]) {
		return Span{}, false
	}
	if f.lines == 0 {
		f.start = f.line
	}
	f.lines++
	f.end = eol
	return Span{}, false
}

func (f *eventFramer) take() (Span, bool) {
	if f.lines == 0 {
		return Span{}, false
	}
	s := Span{f.start, f.end, f.lines}
	f.lines = 0
	return s, true
}

// dropMark skips a byte order mark at the start of the stream; false = too few bytes to decide.
func (f *eventFramer) dropMark(buf []byte) bool {
	const mark = byteOrderMark
	n := min(len(buf), len(mark))
	if string(buf[:n]) == mark[:n] {
		if n < len(mark) {
			return false
		}
		f.pos, f.line = n, n
	}
	f.begun = true
	f.lf = -1
	return true
}

// blank reports whether a line holds only white space.
func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}
