package custom

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// inputsReader walks through an inputs.json, one JSON value that may be far larger than memory: sessions are taken one by one.
type inputsReader struct {
	*json.Decoder
	io.Closer
}

func openInputs(path string) (*inputsReader, error) {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(file, 1<<16)
	if mark, _ := in.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // they are in the buffer
	}
	r := &inputsReader{json.NewDecoder(in), file}
	r.UseNumber() // numbers that are passed over may be of any size
	return r, nil
}

// enter reads the bracket that opens an object or a list; false = there is something else.
func (r *inputsReader) enter(bracket json.Delim) bool {
	t, err := r.Token()
	return err == nil && t == bracket
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

// skip passes over a value without keeping it.
func (r *inputsReader) skip() error {
	for depth := 0; ; {
		t, err := r.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
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
	r, err := openInputs(path)
	if err != nil {
		return false
	}
	defer r.Close()
	if !r.enter('{') || !r.find("data") || !r.enter('[') {
		return false
	}
	if !r.More() {
		t, err := r.Token()
		return err == nil && t == json.Delim(']')
	}
	return r.enter('{') && r.find("payloads")
}

// readInputs reads an inputs.json: the bodies of earlier runs, sent as they stand.
func readInputs(l *loader, path string) error {
	r, err := openInputs(path)
	if err != nil {
		return err
	}
	defer r.Close()
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
	seen := map[string]bool{}
	n := 0
	for ; r.More(); n++ {
		field := "data[" + strconv.Itoa(n) + "]"
		var raw json.RawMessage
		if err := r.Decode(&raw); err != nil {
			return r.broken(path, field, err)
		}
		if session := rows.ParseItem(path, field, raw, &l.faults); session != nil {
			l.inputs(session, path+": "+field, seen)
		}
	}
	if n == 0 {
		l.faults.Add(path, "data", "at least one session is needed")
	}
	return l.endOfInputs(r, path)
}

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
		l.faults.Add(path, "", "must be one JSON object, %s follows it in line %d", token(t), lineOf(path, r.InputOffset()))
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
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if field != "" {
		field += ": "
	}
	return fmt.Errorf("%s: %sinvalid JSON after line %d: %w", path, field, lineOf(path, r.InputOffset()), err)
}

// lineOf is the line in which a byte of a file stands, from 1.
func lineOf(path string, offset int64) int {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return 1
	}
	defer file.Close()
	line := 1
	in := bufio.NewReader(io.LimitReader(file, offset))
	for {
		part, err := in.ReadSlice('\n')
		if bytes.HasSuffix(part, []byte("\n")) {
			line++
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return line
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

// inputs reads one session of an inputs.json.
func (l *loader) inputs(session *rows.Row, where string, seen map[string]bool) {
	c := conversation.Conversation{Mode: conversation.MessageArrayWithResponses}
	switch id := session.String("session_id"); {
	case id == nil:
		if !session.Has("session_id") {
			session.Fault("session_id", "missing")
		}
	case seen[*id]:
		session.Fault("session_id", "%q is there twice", *id)
	default:
		c.ID, seen[*id] = *id, true
	}
	payloads := session.List("payloads")
	if len(payloads) == 0 && (payloads != nil || !session.Has("payloads")) {
		session.Fault("payloads", "at least one body is needed")
	}
	for k, raw := range payloads {
		if session.Item("payloads", k, raw) != nil {
			c.Turns = append(c.Turns, conversation.Turn{RawPayload: rows.Compact(raw), Origin: where + ".payloads[" + strconv.Itoa(k) + "]"})
		}
	}
	l.put(c)
}
