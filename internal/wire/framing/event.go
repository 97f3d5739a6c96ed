package framing

import (
	"bytes"
	"strings"
)

// Field is one line of a message. Null means that the line had no colon and hence no value.
type Field struct {
	Name, Value string
	Null        bool
}

// Fields returns the fields for export. Comments are named "comment"; values are trimmed.
func (e *Event) Fields() []Field {
	out := make([]Field, 0, len(e.lines))
	for _, l := range e.lines {
		out = append(out, Field{string(l.name), string(trim(l.value)), l.null})
	}
	return out
}

// Event is one message split into fields, like those of a server-sent event. The zero value is ready for use. A format may fill it repeatedly, which
// invalidates what its methods returned before. The returned slices point into the parsed message wherever possible.
type Event struct {
	lines []line
	join  []byte
}

// line is one field. The name is trimmed, the value is everything after the colon.
type line struct {
	name, value []byte
	null        bool
	glue        *bracketJoiner // non-nil: the value was continued on further lines
}

// Reset clears the message, so that Add can build another.
func (e *Event) Reset() {
	clear(e.lines)
	e.lines = e.lines[:0]
}

// Add appends a field that was read from an export instead of a wire.
func (e *Event) Add(name, value string) {
	e.lines = append(e.lines, line{name: []byte(name), value: []byte(value)})
}

// parseLine parses a line of a server-sent event.
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

// continues appends l to the last data value if that is a JSON object with open brackets. It reports whether it did.
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
		last.glue = &bracketJoiner{}
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

// bracketJoiner counts the open brackets of a JSON value over several lines.
type bracketJoiner struct {
	depth             int
	inString, escaped bool
	owned             bool // the value is a copy and may be appended to
}

func (g *bracketJoiner) scan(b []byte) {
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

// Name returns the value of the last event field; nil = none.
func (e *Event) Name() []byte {
	for i := len(e.lines) - 1; i >= 0; i-- {
		if l := &e.lines[i]; fold(l.name, "event") {
			return trim(l.value)
		}
	}
	return nil
}

// Comment returns the first non-empty comment; nil = none.
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

// DataLines appends the trimmed, non-empty data values to dst.
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

// Data returns the JSON text of the message: its trimmed, non-empty data values, joined by LF. nil = no data.
func (e *Event) Data() []byte { return e.joinData(trim) }

// Text returns the data of a message whose content is not JSON. It removes only one leading space from every value.
func (e *Event) Text() []byte {
	return e.joinData(func(v []byte) []byte { return bytes.TrimPrefix(v, []byte{' '}) })
}

func (e *Event) joinData(cut func([]byte) []byte) []byte {
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

// Done reports whether the message is the end mark of a stream.
func (e *Event) Done() bool { return string(e.Data()) == done }

// lineScanner splits a message into lines that end with CRLF, LF or CR. It scans every byte once for each of the two characters.
type lineScanner struct {
	rest []byte
	lf   int // index of the next LF in rest, len(rest) = none, -1 = not searched yet
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
