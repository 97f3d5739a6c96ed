package artifact

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
)

// Limits for a line of an export.
const (
	maxLine      = 1 << 30 // bytes in memory at once: one response, or everything except the responses
	maxResponses = 1 << 22
)

// rawLines reads a raw export line by line, and each line in pieces. It parses the responses one at a time while reading; only the rest of a line is
// in memory as a whole. So a line needs no more memory than its record, however many events it has.
type rawLines struct {
	in   *bufio.Reader
	path string
	n    int // line number, from 1

	rest     []byte // the line without its responses
	element  []byte // the response that is being read
	messages []record.Message
	bad      error // the first error in the line

	depth           int  // of brackets
	quoted          bool // inside a string
	escaped         bool // after a backslash
	word            []byte
	key             bool // the last string at depth 1 was followed by a colon
	responses       int8 // 0 = before their list, 1 = inside, 2 = after it
	filled          bool // the list had an element since its last comma
	elementRequired bool // after a comma: another element must follow

	lineParser, elementParser fastjson.Parser
}

func newRawLines(r io.Reader, path string) *rawLines {
	return &rawLines{in: bufio.NewReaderSize(r, 256<<10), path: path}
}

// next reads the next line that is not blank. It returns its object without the responses, and the responses. The object is valid until the next call.
// An incomplete last line is skipped: a killed run leaves one. io.EOF = no more lines.
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
			return nil, nil, fmt.Errorf("%s:%d: the number %.40s is not a finite 64-bit number; the file is damaged, restore it", l.path, l.n, bad)
		}
		if err == nil {
			return v, l.messages, nil
		}
		if last {
			return nil, nil, io.EOF
		}
		return nil, nil, fmt.Errorf("%s:%d: not a JSON object: %w; the file is damaged, restore it", l.path, l.n, jsontext.ParseFault(err))
	}
}

// line reads to the end of a line; ended is false if the file ends without a newline.
func (l *rawLines) line() (ended bool, err error) {
	l.n++
	l.rest, l.element, l.messages, l.bad = l.rest[:0], l.element[:0], nil, nil
	l.depth, l.quoted, l.escaped, l.word, l.key, l.responses, l.filled, l.elementRequired = 0, false, false, l.word[:0], false, 0, false, false
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

// take processes the next bytes of a line.
func (l *rawLines) take(b []byte) {
	for len(b) > 0 && l.bad == nil {
		if l.quoted {
			b = b[l.inString(b):]
		} else {
			b = b[l.outside(b):]
		}
	}
}

// keep appends bytes to the response or the rest of the line.
func (l *rawLines) keep(b []byte) {
	if l.responses == 1 {
		l.element = append(l.element, b...)
		return
	}
	l.rest = append(l.rest, b...)
}

// inString consumes bytes of a string and returns their number.
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

// responsesKey is the key of the responses with its closing quote.
const responsesKey = `responses"`

// outside consumes bytes outside of strings up to the next significant one.
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

// inList reports whether the next byte is between two responses.
func (l *rawLines) inList() bool { return l.responses == 1 && l.depth == 2 }

// between consumes bytes that open or close nothing.
func (l *rawLines) between(b []byte) {
	if !l.inList() {
		l.keep(b)
	} else if !blank(b) {
		l.fail("a response is not an object")
	}
}

func (l *rawLines) comma() {
	if !l.filled {
		l.fail("a comma is not followed by a response")
	}
	l.filled, l.elementRequired = false, true
}

func (l *rawLines) open(b []byte) {
	if l.depth == 1 && b[0] == '[' && l.responses == 0 && l.key && string(l.word) == responsesKey {
		l.keep(b)
		l.responses = 1
		l.depth++
		return
	}
	if l.inList() && (b[0] != '{' || l.filled) {
		l.fail("a response is not an object")
	}
	l.depth++
	l.keep(b)
}

func (l *rawLines) close(b []byte) {
	if l.inList() {
		if b[0] != ']' || l.elementRequired && !l.filled {
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

// response parses the response that is now complete.
func (l *rawLines) response() {
	v, err := l.elementParser.ParseBytes(l.element)
	if err != nil {
		l.bad = err
		return
	}
	if bad := jsontext.OutOfRange(l.element); bad != "" {
		l.fail(fmt.Sprintf("the number %.40s of a response is not a finite 64-bit number; the file is damaged, restore it", bad))
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
