package custom

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"sort"
	"strconv"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// inputsReader walks through an inputs.json, one JSON value that may be far larger than memory: sessions are taken one by one.
type inputsReader struct {
	*json.Decoder
	path  string
	base  int64 // bytes before the first one of JSON
	lines *lineCounter
}

// newInputs walks through content; path stands in errors.
func newInputs(path string, file io.Reader) *inputsReader {
	lines := &lineCounter{from: file, line: 1}
	in := bufio.NewReaderSize(lines, 1<<16)
	base := int64(0)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		n, _ := in.Discard(3) // they are in the buffer
		base = int64(n)
	}
	r := &inputsReader{json.NewDecoder(in), path, base, lines}
	r.UseNumber() // numbers that are passed over may be of any size
	return r
}

// offset is where the reader is in the file.
func (r *inputsReader) offset() int64 { return r.base + r.InputOffset() }

// value reads the next value and tells where it begins.
func (r *inputsReader) value() (text json.RawMessage, at rows.Line, err error) {
	if err = r.Decode(&text); err != nil {
		return nil, at, err
	}
	from := r.offset() - int64(len(text))
	return text, rows.Line{Path: r.path, Number: r.lines.at(from), Offset: from}, nil
}

// lineCounter knows the lines of what was read lately.
type lineCounter struct {
	from   io.Reader
	read   int64
	line   int     // in which the first of breaks stands
	breaks []int64 // offsets of line ends that were read and not passed
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for at := 0; ; at++ {
		next := bytes.IndexByte(p[at:n], '\n')
		if next < 0 {
			break
		}
		at += next
		c.breaks = append(c.breaks, c.read+int64(at))
	}
	c.read += int64(n)
	return n, err
}

// at is the line of an offset, which must not be before that of the last call.
func (c *lineCounter) at(offset int64) int {
	n := sort.Search(len(c.breaks), func(i int) bool { return c.breaks[i] >= offset })
	c.line += n
	c.breaks = append(c.breaks[:0], c.breaks[n:]...)
	return c.line
}

// find goes to the value of a key of the object it is in; false = the object has none, or is broken.
func (r *inputsReader) find(key string) bool {
	for r.More() {
		t, err := r.Token()
		if err != nil {
			return false
		}
		if t == key {
			return true
		}
		if r.skip() != nil {
			return false
		}
	}
	return false
}

// deepest is how deep values may lie in each other that are passed over: as deep as they may where they are read.
const deepest = 10_000

// skip passes over a value without keeping it.
func (r *inputsReader) skip() error {
	for depth := 0; ; {
		t, err := r.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > deepest {
				return errors.New("exceeded max depth")
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// isInputs tells whether a file is an inputs.json: an object whose data is an empty list, or one whose first item has payloads. It reads no
// further than that.
func isInputs(path string) bool {
	o, err := openOutline(path)
	if err != nil {
		return false
	}
	defer o.Close()
	if !o.enter('{') || !o.find("data") || !o.enter('[') {
		return false
	}
	b, err := o.next()
	return err == nil && (b == ']' || b == '{' && o.find("payloads"))
}

// readInputs reads an inputs.json: the bodies of earlier runs, sent as they stand.
func readInputs(l *loader, path string) error {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return err
	}
	defer file.Close()
	return l.eachInputs(path, file, func(_ rows.Line, e *entry) { l.put(e.Conversation) }, func() bool { return true })
}

// eachInputs calls take for every session of an inputs.json, as long as more says so after each.
func (l *loader) eachInputs(path string, file io.Reader, take func(rows.Line, *entry), more func() bool) error {
	r := newInputs(path, file)
	t, err := r.Token()
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: no records", path)
	case err == nil && t != json.Delim('{'):
		l.faults.Add(path, "", "must be a JSON object, got %s", token(t))
		return nil
	case err != nil || !r.find("data"):
		return l.noData(r, path, err)
	}
	if t, err = r.Token(); err != nil || t != json.Delim('[') {
		if err != nil {
			return r.broken(path, "data", err)
		}
		l.faults.Add(path, "data", "must be a list, got %s", token(t))
		return nil
	}
	seen := map[[2]uint64]bool{} // sessions, by two hashes of their ids
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	n := 0
	for on := true; r.More() && on; n++ {
		raw, at, err := r.value()
		if err != nil {
			return r.broken(path, item(n), err)
		}
		e, ok := l.inputs(at, n, raw)
		if !ok {
			continue
		}
		if key := [2]uint64{maphash.String(seeds[0], e.ID), maphash.String(seeds[1], e.ID)}; e.ID != "" && seen[key] {
			l.faults.Add(at.Where(), item(n)+".session_id", "%q is there twice", e.ID)
		} else {
			seen[key] = true
		}
		if l.rowNo++; l.Reading != nil && l.rowNo%tellRows == 0 {
			l.Reading(l.rowNo)
		}
		take(at, &e)
		if on = more(); !on {
			return nil
		}
	}
	if n == 0 {
		l.faults.Add(path, "data", "at least one session is needed")
	}
	return l.endOfInputs(r, path)
}

// item names a session of an inputs.json.
func item(n int) string { return "data[" + strconv.Itoa(n) + "]" }

var inputsLayout = layout{supply: openSessions, sessions: true}

// inputsSupply is an inputs.json whose sessions stay in it.
type inputsSupply struct{ file *rows.Held }

func openSessions(_ Format, files []string) (supply, error) {
	file, err := rows.Hold(files[0])
	if err != nil {
		return nil, err
	}
	return &inputsSupply{file}, nil
}

func (s *inputsSupply) each(l *loader, take func(rows.Line, *entry), more func() bool) error {
	return l.eachInputs(s.file.Path, s.file.From(0), take, more)
}

// again reads a session. The lines of those behind the first of its neighbours are counted, as are their places in the list.
func (s *inputsSupply) again(l *loader, at run, skip int) (e entry, err error) {
	lines := &lineCounter{from: s.file.From(at.offset), line: int(at.line)}
	in := bufio.NewReader(lines)
	passed := int64(0) // bytes before those that the decoder gets
	for n := 0; ; n++ {
		r := json.NewDecoder(in)
		var raw json.RawMessage
		if err := r.Decode(&raw); err != nil {
			return e, err
		}
		from := passed + r.InputOffset() - int64(len(raw))
		place := rows.Line{Path: s.file.Path, Number: lines.at(from), Offset: at.offset + from}
		if n == skip {
			e, _ = l.inputs(place, int(at.row)+n, raw)
			return e, l.faults.Err()
		}
		// the list goes on with a comma, which is no JSON of its own
		rest := bufio.NewReader(io.MultiReader(r.Buffered(), in))
		passed += r.InputOffset()
		for {
			b, err := rest.ReadByte()
			if err != nil {
				return e, err
			}
			passed++
			if b == ',' {
				break
			}
		}
		in = rest
	}
}

// Close closes the file.
func (s *inputsSupply) Close() error { return s.file.Close() }

// endOfInputs reads what follows the list of sessions: it must be JSON too, and nothing may follow it.
func (l *loader) endOfInputs(r *inputsReader, path string) error {
	if _, err := r.Token(); err != nil { // the end of the list
		return r.broken(path, "data", err)
	}
	if r.find("data") {
		l.faults.Add(path, "data", "is there twice")
		return nil
	}
	if _, err := r.Token(); err != nil { // the end of the object
		return r.broken(path, "", err)
	}
	if t, err := r.Token(); !errors.Is(err, io.EOF) {
		l.faults.Add(path, "", "must be one JSON object, %s follows it in line %d", token(t), lineOf(path, r.offset(), false))
	}
	return nil
}

// noData tells why there is no list of sessions: the object is broken, or has none.
func (l *loader) noData(r *inputsReader, path string, err error) error {
	if err == nil {
		var t json.Token
		if t, err = r.Token(); err == nil && t == json.Delim('}') {
			l.faults.Add(path, "data", "missing")
			return nil
		}
	}
	return r.broken(path, "", err)
}

// broken tells of JSON that ends or breaks, by line.
func (r *inputsReader) broken(path, field string, err error) error {
	begin := r.offset()
	var syntax *json.SyntaxError
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	line := lineOf(path, begin, errors.Is(err, io.ErrUnexpectedEOF))
	if errors.As(err, &syntax) { // where in the value, a reader knows that begins with it
		if at, found := brokenAt(path, begin); found {
			line = lineOf(path, at, false)
		}
	}
	if field != "" {
		field += ": "
	}
	return fmt.Errorf("%s:%d: %sinvalid JSON: %w", path, line, field, err)
}

// brokenAt is where the value is broken that begins behind a place of a file.
func brokenAt(path string, begin int64) (at int64, found bool) {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	in := bufio.NewReader(file)
	if _, err := io.CopyN(io.Discard, in, begin); err != nil {
		return 0, false
	}
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, false
		}
		if bytes.IndexByte([]byte(" \t\r\n,:"), b) < 0 {
			break
		}
		begin++
	}
	_ = in.UnreadByte() // it was read just now
	var value json.RawMessage
	var syntax *json.SyntaxError
	if err := json.NewDecoder(in).Decode(&value); !errors.As(err, &syntax) {
		return begin, true
	}
	return begin + max(0, syntax.Offset-1), true
}

// lineOf is the line of what stands behind the first offset bytes of a file, from 1; toEnd = the last line.
func lineOf(path string, offset int64, toEnd bool) int {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return 1
	}
	defer file.Close()
	line, at, last := 1, int64(0), 1
	in := bufio.NewReader(file)
	for {
		part, err := in.ReadSlice('\n')
		if at += int64(len(part)); at > offset && !toEnd && len(bytes.TrimLeft(part[max(0, int64(len(part))-(at-offset)):], " \t\r\n")) > 0 {
			return line
		}
		if len(bytes.TrimSpace(part)) > 0 {
			last = line
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			line++
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return last
		}
	}
}

// token names what a JSON token begins, the way an error message says it.
func token(t json.Token) string {
	switch t {
	case json.Delim('{'):
		return "an object"
	case json.Delim('['):
		return "an array"
	case nil:
		return "null"
	}
	switch t.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

// inputs reads a session of an inputs.json; false = it is no object.
func (l *loader) inputs(at rows.Line, n int, raw json.RawMessage) (e entry, ok bool) {
	session := rows.ParseItem(at.Where(), item(n), raw, &l.faults)
	if session == nil {
		return e, false
	}
	e.Mode = conversation.MessageArrayWithResponses
	if id := session.String("session_id"); id != nil {
		e.ID = *id
	} else if !session.Has("session_id") {
		session.Fault("session_id", "missing")
	}
	payloads := session.List("payloads")
	if len(payloads) == 0 && (payloads != nil || !session.Has("payloads")) {
		session.Fault("payloads", "at least one body is needed")
	}
	for k, raw := range payloads {
		if session.Item("payloads", k, raw) != nil {
			e.Turns = append(e.Turns, conversation.Turn{RawPayload: rows.Compact(raw), Origin: at.Where() + ": " + item(n) + ".payloads[" + strconv.Itoa(k) + "]"})
		}
	}
	return e, true
}
