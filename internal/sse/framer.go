// Package sse is the grammar of server-sent events: where a message ends in a stream of bytes, what its fields are, and whether it
// tells of a failure (spec: transport, sections 7.3 to 7.5). It reads no sockets and keeps no clock.
package sse

import "bytes"

// MaxMessage is the size in bytes above which a message that has not ended yet is an error.
const MaxMessage = 256 << 20

// Framer finds the messages in a growing buffer that the caller owns. Every byte is looked at once, however the stream is cut.
// The zero value is ready for the start of a stream.
type Framer struct {
	pos    int  // first byte not looked at
	line   int  // first byte of the current line
	start  int  // first byte of the pending message
	end    int  // end of its last line that holds something
	lines  int  // lines of it that hold something; 0 = no message pending
	lf     int  // next LF at or after pos, if lf >= pos; no LF in buf[pos:clear]
	clear  int  //
	skipLF bool // a CR ended the last line: an LF that follows belongs to it
	begun  bool // the byte order mark is behind us
}

// Span is a message inside the caller's buffer: its lines without the empty one that ends it.
type Span struct {
	Start, End int
	Lines      int // lines that hold something, at least 1
}

// Next gives the next complete message of buf, which must begin with the bytes of earlier calls (less what Rebase took away).
func (f *Framer) Next(buf []byte) (Span, bool) {
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

// Finish gives the message that the end of the stream left unterminated, if there is one. Call it after Next has found no more.
func (f *Framer) Finish(buf []byte) (Span, bool) {
	f.skipLF, f.begun = false, true
	if f.line < len(buf) {
		if s, ok := f.closeLine(buf, len(buf)); ok {
			return s, true
		}
	}
	f.pos, f.line = len(buf), len(buf)
	return f.take()
}

// Pending is the index of the first byte that the caller must keep; what lies before it is no longer needed by the framer.
func (f *Framer) Pending() int {
	if f.lines > 0 {
		return f.start
	}
	return f.line
}

// PendingLines is the number of lines of the message that has not ended yet.
func (f *Framer) PendingLines() int { return f.lines }

// Rebase tells the framer that the caller has dropped the first n bytes of the buffer (n <= Pending).
func (f *Framer) Rebase(n int) {
	f.pos -= n
	f.line -= n
	f.start -= n
	f.end -= n
	f.lf -= n
	f.clear -= n
}

// lineEnd finds the next LF or CR; -1 = not there yet. What it has looked at it does not look at again.
func (f *Framer) lineEnd(buf []byte) int {
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

// closeLine takes in the line buf[f.line:eol]; an empty line ends the pending message.
func (f *Framer) closeLine(buf []byte, eol int) (Span, bool) {
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

func (f *Framer) take() (Span, bool) {
	if f.lines == 0 {
		return Span{}, false
	}
	s := Span{f.start, f.end, f.lines}
	f.lines = 0
	return s, true
}

// dropMark passes over a byte order mark at the start of the stream; false = too few bytes to tell.
func (f *Framer) dropMark(buf []byte) bool {
	const mark = "\xEF\xBB\xBF"
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

// blank tells whether a line holds nothing but blanks.
func blank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}
