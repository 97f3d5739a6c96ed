package sse

import (
	"bytes"
	"strings"

	"aiperf/internal/utf8text"
)

// Field is one line of a message. Null means that the line had no colon and hence no value.
type Field struct {
	Name, Value string
	Null        bool
}

// Fields takes a message apart, for export: comments are named "comment", names and values are trimmed, empty lines are left out,
// invalid UTF-8 is replaced, and lines that continue a JSON value are glued to it.
func Fields(raw []byte) []Field {
	var e Event
	e.Parse(raw)
	out := make([]Field, 0, len(e.lines))
	for _, l := range e.lines {
		out = append(out, Field{string(l.name), string(trim(l.value)), l.null})
	}
	return out
}

// Event is one message taken apart. The zero value is ready; Parse may be called again and again, what it returned before is then
// invalid. The slices that its methods return point into the parsed message wherever possible.
type Event struct {
	lines []line
	join  []byte
}

// line is one field. The name is trimmed, the value is everything after the colon.
type line struct {
	name, value []byte
	null        bool
	glue        *gluer // non-nil: the value was continued on further lines
}

// Reset forgets the message, so that Add can build another.
func (e *Event) Reset() {
	clear(e.lines)
	e.lines = e.lines[:0]
}

// Add appends a field that was read from an export instead of a wire.
func (e *Event) Add(name, value string) {
	e.lines = append(e.lines, line{name: []byte(name), value: []byte(value)})
}

// Parse reads a message as a Framer cut it.
func (e *Event) Parse(raw []byte) {
	e.Reset()
	ls := lineScanner{rest: utf8text.Valid(raw), lf: -1}
	for len(ls.rest) > 0 {
		if l := ls.next(); !blank(l) {
			e.parseLine(l)
		}
	}
}

func (e *Event) parseLine(l []byte) {
	name, value, colon := bytes.Cut(l, []byte{':'})
	name = trim(name)
	isData := colon && fold(name, "data")
	if !isData && e.continues(l) {
		return
	}
	if colon && len(name) == 0 {
		name = []byte("comment")
	}
	e.lines = append(e.lines, line{name: name, value: value, null: !colon})
}

// continues glues l to the last data value if that is a JSON object with open brackets.
func (e *Event) continues(l []byte) bool {
	if len(e.lines) == 0 {
		return false
	}
	last := &e.lines[len(e.lines)-1]
	v := trim(last.value)
	if !fold(last.name, "data") || last.null || len(v) == 0 || v[0] != '{' {
		return false
	}
	if last.glue == nil {
		last.glue = &gluer{}
		last.glue.scan(v)
	}
	g := last.glue
	if g.depth <= 0 {
		return false
	}
	if !g.owned {
		last.value, g.owned = bytes.Clone(v), true
	}
	if g.inString {
		last.value = append(last.value, `\n`...)
	} else {
		last.value = append(last.value, '\n')
	}
	last.value = append(last.value, l...)
	g.scan(l)
	return true
}

// gluer follows the brackets of a JSON value over several lines.
type gluer struct {
	depth             int
	inString, escaped bool
	owned             bool // the value is a copy that may be appended to
}

func (g *gluer) scan(b []byte) {
	for _, c := range b {
		switch {
		case g.escaped:
			g.escaped = false
		case g.inString:
			g.escaped = c == '\\'
			g.inString = c != '"'
		case c == '"':
			g.inString = true
		case c == '{' || c == '[':
			g.depth++
		case c == '}' || c == ']':
			g.depth--
		}
	}
}

// Name is the value of the last event field; nil = none.
func (e *Event) Name() []byte {
	for i := len(e.lines) - 1; i >= 0; i-- {
		if l := &e.lines[i]; fold(l.name, "event") {
			return trim(l.value)
		}
	}
	return nil
}

// Comment is the first comment that is not empty; nil = none.
func (e *Event) Comment() []byte {
	for i := range e.lines {
		if l := &e.lines[i]; string(l.name) == "comment" {
			if v := trim(l.value); len(v) > 0 {
				return v
			}
		}
	}
	return nil
}

// DataLines appends the trimmed data values that are not empty to dst.
func (e *Event) DataLines(dst [][]byte) [][]byte {
	for i := range e.lines {
		if l := &e.lines[i]; fold(l.name, "data") {
			if v := trim(l.value); len(v) > 0 {
				dst = append(dst, v)
			}
		}
	}
	return dst
}

// Data is the JSON text of the message: its data values, trimmed, the empty ones left out, joined by LF. nil = no data.
func (e *Event) Data() []byte { return e.joined(trim) }

// Text is the data of a message whose content is no JSON: of every value only one leading blank is taken away.
func (e *Event) Text() []byte {
	return e.joined(func(v []byte) []byte { return bytes.TrimPrefix(v, []byte{' '}) })
}

func (e *Event) joined(cut func([]byte) []byte) []byte {
	var one []byte
	n := 0
	for i := range e.lines {
		l := &e.lines[i]
		if !fold(l.name, "data") {
			continue
		}
		v := cut(l.value)
		if len(v) == 0 {
			continue
		}
		n++
		switch n {
		case 1:
			one = v
			continue
		case 2:
			e.join = append(e.join[:0], one...)
		}
		e.join = append(append(e.join, '\n'), v...)
	}
	if n < 2 {
		return one
	}
	return e.join
}

// done is the data that says that a stream is over.
const done = "[DONE]"

// Done tells whether the message is the end mark of a stream.
func (e *Event) Done() bool { return string(e.Data()) == done }

// IsDone is Done for a message that was not parsed; it is cheap for messages that are not the mark.
func IsDone(raw []byte) bool {
	if len(raw) == len("data: ")+len(done) && string(raw) == "data: "+done {
		return true
	}
	if len(raw) > 256 || !bytes.Contains(raw, []byte(done)) {
		return false
	}
	var e Event
	e.Parse(raw)
	return e.Done()
}

// lineScanner splits a message into lines; CRLF, LF and CR end one. Every byte is looked at once for either.
type lineScanner struct {
	rest []byte
	lf   int // index of the next LF in rest, len(rest) = none, -1 = not looked for
}

func (s *lineScanner) next() []byte {
	if s.lf < 0 {
		if s.lf = bytes.IndexByte(s.rest, '\n'); s.lf < 0 {
			s.lf = len(s.rest)
		}
	}
	end := s.lf
	if i := bytes.IndexByte(s.rest[:end], '\r'); i >= 0 {
		end = i
	}
	l, n := s.rest[:end], min(end+1, len(s.rest))
	if end < s.lf && n == s.lf && n < len(s.rest) {
		n++ // CRLF is one line end
	}
	s.rest, s.lf = s.rest[n:], max(s.lf-n, -1)
	return l
}

func trim(b []byte) []byte { return bytes.Trim(b, " \t") }

func fold(b []byte, name string) bool {
	return len(b) == len(name) && strings.EqualFold(string(b), name)
}
