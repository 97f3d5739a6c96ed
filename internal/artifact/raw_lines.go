package artifact

import (
	"aiperf/internal/jsontext"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/valyala/fastjson"

	"aiperf/internal/record"
)

// Bounds of a line of an export.
const (
	maxLine      = 1 << 30 // bytes that are held at once: one response, or everything but the responses
	maxResponses = 1 << 22
)

// rawLines reads a raw export line by line and each line piece by piece: the responses are parsed one at a time while they come, and only
// the rest of a line is held as a whole. What a line takes is what its record takes, however many events it has.
type rawLines struct {
	in   *bufio.Reader
	path string
	n    int // of the line, from 1

	rest     []byte // the line without its responses
	element  []byte // the response that is being read
	messages []record.Message
	bad      error // the first thing wrong with the line

	depth     int  // of brackets
	quoted    bool // inside a string
	escaped   bool // behind a backslash
	word      []byte
	key       bool // the last string at depth 1 was followed by a colon
	responses int8 // 0 = their list has not come, 1 = inside, 2 = behind it
	filled    bool // the list has had an element since its last comma
	again     bool // a comma came: another element must follow

	lineParser, elementParser fastjson.Parser
}

func newRawLines(r io.Reader, path string) *rawLines {
	return &rawLines{in: bufio.NewReaderSize(r, 256<<10), path: path}
}

// next reads the next line that is not blank: its object, whose responses are taken out, and the responses. The object is valid until the
// next call. A last line without its end that is no complete object is what a killed run leaves; it is left out. io.EOF = there are no more.
func (l *rawLines) next() (*fastjson.Value, []record.Message, error) {
	for {
		ended, err := l.line()
		if err != nil {
			return nil, nil, err
		}
		last := !ended
		if blank(l.rest) && l.bad == nil {
			if last {
				return nil, nil, io.EOF
			}
			continue
		}
		var v *fastjson.Value
		if err = l.bad; err == nil {
			v, err = l.lineParser.ParseBytes(l.rest)
		}
		if bad := jsontext.OutOfRange(l.rest); err == nil && bad != "" {
			return nil, nil, fmt.Errorf("%s:%d: the number %.40s is no finite number of 64 bits; the file is damaged: restore it", l.path, l.n, bad)
		}
		if err == nil {
			return v, l.messages, nil
		}
		if last {
			return nil, nil, io.EOF
		}
		return nil, nil, fmt.Errorf("%s:%d: not a JSON object: %w", l.path, l.n, err)
	}
}

// line reads up to the end of a line; ended is false where the file ends without one.
func (l *rawLines) line() (ended bool, err error) {
	l.n++
	l.rest, l.element, l.messages, l.bad = l.rest[:0], l.element[:0], nil, nil
	l.depth, l.quoted, l.escaped, l.word, l.key, l.responses, l.filled, l.again = 0, false, false, l.word[:0], false, 0, false, false
	for {
		part, err := l.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return false, fmt.Errorf("%s:%d: %w", l.path, l.n, err)
		}
		l.take(part)
		if len(l.rest)+len(l.element) > maxLine {
			return false, fmt.Errorf("%s:%d: the line is longer than %d bytes", l.path, l.n, maxLine)
		}
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, io.EOF):
			return false, nil
		}
	}
}

// take goes over the next bytes of a line.
func (l *rawLines) take(b []byte) {
	for len(b) > 0 && l.bad == nil {
		if l.quoted {
			b = b[l.inString(b):]
		} else {
			b = b[l.outside(b):]
		}
	}
}

// keep puts bytes where they belong.
func (l *rawLines) keep(b []byte) {
	if l.responses == 1 {
		l.element = append(l.element, b...)
		return
	}
	l.rest = append(l.rest, b...)
}

// inString passes over bytes of a string; it returns how many.
func (l *rawLines) inString(b []byte) int {
	n := 0
	switch {
	case l.escaped:
		n, l.escaped = 1, false
	default:
		for n < len(b) && b[n] != '"' && b[n] != '\\' {
			n++
		}
		if n < len(b) {
			l.quoted, l.escaped = b[n] == '\\', b[n] == '\\'
			n++
		}
	}
	l.keep(b[:n])
	if l.depth == 1 && len(l.word) <= len(responsesKey) {
		l.word = append(l.word, b[:min(n, len(responsesKey)+1)]...)
	}
	return n
}

// responsesKey is the key of the responses with the mark that ends it.
const responsesKey = `responses"`

// outside takes in bytes outside of strings, up to one that means something.
func (l *rawLines) outside(b []byte) int {
	n := bytes.IndexAny(b, "\"{}[]:,")
	if n < 0 {
		l.between(b)
		return len(b)
	}
	l.between(b[:n])
	switch c := b[n]; c {
	case '"':
		l.quoted = true
		if l.depth == 1 {
			l.word, l.key = l.word[:0], false
		}
		l.between(b[n : n+1])
	case ':':
		l.key = l.key || l.depth == 1
		l.between(b[n : n+1])
	case ',':
		if l.inList() {
			l.comma()
			break
		}
		l.between(b[n : n+1])
	case '{', '[':
		l.open(b[n : n+1])
	default:
		l.close(b[n : n+1])
	}
	return n + 1
}

// inList tells whether the next byte stands between two responses.
func (l *rawLines) inList() bool { return l.responses == 1 && l.depth == 2 }

// between takes in bytes that open or close nothing.
func (l *rawLines) between(b []byte) {
	if !l.inList() {
		l.keep(b)
	} else if !blank(b) {
		l.fail("a response that is no object")
	}
}

func (l *rawLines) comma() {
	if !l.filled {
		l.fail("a comma without a response")
	}
	l.filled, l.again = false, true
}

func (l *rawLines) open(b []byte) {
	if l.depth == 1 && b[0] == '[' && l.responses == 0 && l.key && string(l.word) == responsesKey {
		l.keep(b)
		l.responses = 1
		l.depth++
		return
	}
	if l.inList() && (b[0] != '{' || l.filled) {
		l.fail("a response that is no object")
	}
	l.depth++
	l.keep(b)
}

func (l *rawLines) close(b []byte) {
	if l.inList() {
		if b[0] != ']' || l.again && !l.filled {
			l.fail("the list of responses does not end")
		}
		l.responses = 2
	}
	l.depth--
	l.keep(b)
	if l.inList() {
		l.response()
	}
	if l.depth < 0 {
		l.fail("unmatched brackets")
	}
}

// response parses the response that is complete now.
func (l *rawLines) response() {
	v, err := l.elementParser.ParseBytes(l.element)
	if err != nil {
		l.bad = err
		return
	}
	if bad := jsontext.OutOfRange(l.element); bad != "" {
		l.fail(fmt.Sprintf("the number %.40s of a response is no finite number of 64 bits; the file is damaged: restore it", bad))
		return
	}
	if len(l.messages) == maxResponses {
		l.fail(fmt.Sprintf("more than %d responses", maxResponses))
		return
	}
	l.messages = append(l.messages, readMessage(v))
	l.element, l.filled = l.element[:0], true
}

func (l *rawLines) fail(text string) {
	if l.bad == nil {
		l.bad = errors.New(text)
	}
}

func blank(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }
