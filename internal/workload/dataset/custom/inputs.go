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

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
)

// inputsReader parses an inputs.json: one JSON value that may be far larger than memory. It reads one session at a time.
type inputsReader struct {
	*json.Decoder
	path  string
	base  int64 // bytes before the JSON text
	lines *lineCounter
}

// newInputs returns a reader of JSON text. path appears in errors.
func newInputs(path string, file io.Reader) *inputsReader {
	lines := &lineCounter{from: file, line: 1}
	in := bufio.NewReaderSize(lines, 1<<16)
	base := int64(0)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		n, _ := in.Discard(3) // the bytes are in the buffer, so this cannot fail
		base = int64(n)
	}
	r := &inputsReader{json.NewDecoder(in), path, base, lines}
	r.UseNumber() // skipped numbers may be of any size
	return r
}

// offset returns the position of the reader in the file.
func (r *inputsReader) offset() int64 { return r.base + r.InputOffset() }

// value reads the next value and returns where it begins.
func (r *inputsReader) value() (text json.RawMessage, at rows.Line, err error) {
	if err = r.Decode(&text); err != nil {
		return nil, at, err
	}
	from := r.offset() - int64(len(text))
	return text, rows.Line{Path: r.path, Number: r.lines.at(from), Offset: from}, nil
}

// lineCounter converts recent offsets of its input to line numbers.
type lineCounter struct {
	from   io.Reader
	read   int64
	line   int     // line that ends at the first of breaks
	breaks []int64 // offsets of line ends that were read but not yet passed
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

// at returns the line of an offset. Offsets must not decrease between calls.
func (c *lineCounter) at(offset int64) int {
	n := sort.Search(len(c.breaks), func(i int) bool { return c.breaks[i] >= offset })
	c.line += n
	c.breaks = append(c.breaks[:0], c.breaks[n:]...)
	return c.line
}

// find moves to the value of a key in the current object. It returns false if the key is missing or the JSON is malformed.
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

// deepest is the maximum nesting of skipped values. It equals the limit of encoding/json for parsed ones.
const deepest = 10_000

// skip skips a value without storing it.
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

// isInputs reports whether a file is an inputs.json: an object whose data is an empty list, or whose first item has payloads. It reads no further than
// needed.
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

// readInputs reads an inputs.json: the request bodies of an earlier run, which are sent unchanged.
func readInputs(l *loader, path string) error {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return err
	}
	defer file.Close()
	return l.eachInputs(path, file, func(_ rows.Line, e *entry) { l.put(e.Conversation) }, func() bool { return true })
}

// eachInputs calls take for every session of an inputs.json, until more returns false.
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
	seen := map[[2]uint64]bool{} // sessions seen, by two hashes of their ids
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
			l.faults.Add(at.Where(), item(n)+".session_id", "%q is used twice", e.ID)
		} else {
			seen[key] = true
		}
		if l.rowNo++; l.Reading != nil && l.rowNo%rowsPerReport == 0 {
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

// item returns the path of a session in an inputs.json.
func item(n int) string { return "data[" + strconv.Itoa(n) + "]" }

var inputsLayout = layout{supply: openSessions, sessions: true}

// inputsSupply is an inputs.json whose sessions stay in the file.
type inputsSupply struct{ file *rows.RereadableFile }

func openSessions(_ Format, files []string) (supply, error) {
	file, err := rows.OpenRereadable(files[0])
	if err != nil {
		return nil, err
	}
	return &inputsSupply{file}, nil
}

func (s *inputsSupply) each(l *loader, take func(rows.Line, *entry), more func() bool) error {
	return l.eachInputs(s.file.Path, s.file.From(0), take, more)
}

// reread reads a session. It counts lines and list positions from the first session of the run.
func (s *inputsSupply) reread(l *loader, at rowstore.Run, skip int) (e entry, err error) {
	lines := &lineCounter{from: s.file.From(at.Offset), line: int(at.Line)}
	in := bufio.NewReader(lines)
	passed := int64(0) // bytes before the input of the current decoder
	for n := 0; ; n++ {
		r := json.NewDecoder(in)
		var raw json.RawMessage
		if err := r.Decode(&raw); err != nil {
			return e, err
		}
		from := passed + r.InputOffset() - int64(len(raw))
		place := rows.Line{Path: s.file.Path, Number: lines.at(from), Offset: at.Offset + from}
		if n == skip {
			e, _ = l.inputs(place, int(at.Row)+n, raw)
			return e, l.faults.Err()
		}
		// the next session follows a comma, which the decoder would reject
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

// endOfInputs reads what follows the list of sessions. It must be valid JSON, and nothing may follow the object.
func (l *loader) endOfInputs(r *inputsReader, path string) error {
	if _, err := r.Token(); err != nil { // the end of the list
		return r.broken(path, "data", err)
	}
	if r.find("data") {
		l.faults.Add(path, "data", "is used twice")
		return nil
	}
	if _, err := r.Token(); err != nil { // the end of the object
		return r.broken(path, "", err)
	}
	if t, err := r.Token(); !errors.Is(err, io.EOF) {
		l.faults.Add(path, "", "must be one JSON object, but %s follows it in line %d", token(t), lineOf(path, r.offset(), false))
	}
	return nil
}

// noData reports why there is no list of sessions: the object is malformed, or has no data.
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

// broken returns an error for truncated or malformed JSON, with its line.
func (r *inputsReader) broken(path, field string, err error) error {
	begin := r.offset()
	var syntax *json.SyntaxError
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	line := lineOf(path, begin, errors.Is(err, io.ErrUnexpectedEOF))
	if errors.As(err, &syntax) { // parse the value again on its own, to get the offset within it
		if at, found := brokenAt(path, begin); found {
			line = lineOf(path, at, false)
		}
	}
	if field != "" {
		field += ": "
	}
	return fmt.Errorf("%s:%d: %sinvalid JSON: %w", path, line, field, err)
}

// brokenAt returns the offset of the syntax error in the value that begins at or after begin.
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
	_ = in.UnreadByte() // cannot fail: the byte was just read
	var value json.RawMessage
	var syntax *json.SyntaxError
	if err := json.NewDecoder(in).Decode(&value); !errors.As(err, &syntax) {
		return begin, true
	}
	return begin + max(0, syntax.Offset-1), true
}

// lineOf returns the line of the first content after offset bytes of a file, from 1. toEnd = the last line.
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

// token names the kind of a JSON token for error messages.
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

// inputs reads a session of an inputs.json. It returns false if it is not an object.
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
