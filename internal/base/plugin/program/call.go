package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"aiperf/internal/base/jsontext"
)

// call is a request to the program that has no answer yet.
type call struct {
	id       int64
	events   chan message // parts and the answer
	gone     chan struct{}
	streamed bool        // parts are allowed
	silence  *time.Timer // ends the program if it does not answer
	limit    time.Duration
}

// message is one line of the program.
type message struct {
	ID      *int64          `json:"id"`
	Part    json.RawMessage `json:"part"`
	Result  json.RawMessage `json:"result"`
	Error   *problem        `json:"error"`
	Type    string          `json:"type"`
	Message string          `json:"message"`
}

// problem is why the program could not answer a call.
type problem struct {
	Message string `json:"message"`
}

// partsAhead is the number of parts that are read ahead of their use.
const partsAhead = 16

// Call calls a method and stores the result in result, a pointer. The error names the plug-in and the method.
func (p *Program) Call(ctx context.Context, method string, params, result any) error {
	c, err := p.begin(ctx, method, params, false)
	if err != nil {
		return p.wrap(method, err)
	}
	m, err := p.await(ctx, c)
	if err == nil {
		err = m.decode(result)
	}
	if err != nil {
		return p.wrap(method, err)
	}
	return nil
}

// Stream calls a method whose result comes in parts, and passes each part to each. The parts are valid during that call only. An error of each ends the
// call. A slow each delays the answers of other calls.
func (p *Program) Stream(ctx context.Context, method string, params any, each func(part json.RawMessage) error) error {
	c, err := p.begin(ctx, method, params, true)
	for err == nil {
		var m message
		if m, err = p.await(ctx, c); err != nil {
			break
		}
		if m.Part == nil {
			if err = m.decode(nil); err == nil {
				return nil
			}
			break
		}
		c.silence.Stop() // the time that aiperf takes is not the program's
		err = each(m.Part)
		p.resume(c)
		if err != nil {
			p.abandon(c)
			return err
		}
	}
	return p.wrap(method, err)
}

// begin sends a call.
func (p *Program) begin(ctx context.Context, method string, params any, streamed bool) (*call, error) {
	select {
	case p.slots <- struct{}{}:
	case <-p.ended:
		return nil, p.Fault()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c := &call{events: make(chan message, 1), gone: make(chan struct{}), streamed: streamed}
	if streamed {
		c.events = make(chan message, partsAhead)
	}
	if err := p.register(c, method); err != nil {
		<-p.slots
		return nil, err
	}
	line, err := encode(map[string]any{"id": c.id, "method": method, "params": params})
	if err == nil && len(line) > p.s.Limits.Line {
		err = fmt.Errorf("the parameters take %d bytes, but the maximum is %s", len(line), size(p.s.Limits.Line))
	}
	if err != nil {
		p.remove(c.id)
		return nil, err
	}
	select {
	case p.lines <- line:
	case <-p.ended:
		return nil, p.Fault()
	}
	return c, nil
}

// register gives a call its id and starts its deadline. The calls before it may take as long each.
func (p *Program) register(c *call, method string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		return p.fault
	}
	p.last++
	c.id, c.limit = p.last, time.Duration(len(p.calls)+1)*p.s.Limits.Call
	p.calls[c.id] = c
	c.silence = time.AfterFunc(c.limit, func() {
		p.fail(&Fault{Found: fmt.Sprintf("no answer to %s within %v", method, c.limit)})
	})
	return nil
}

// await returns the next line for a call.
func (p *Program) await(ctx context.Context, c *call) (message, error) {
	select {
	case m := <-c.events: // what arrived before a fault counts
		return m, nil
	default:
	}
	select {
	case m := <-c.events:
		return m, nil
	case <-p.ended:
		p.abandon(c)
		return message{}, p.Fault()
	case <-ctx.Done():
		p.abandon(c)
		return message{}, context.Cause(ctx)
	}
}

// abandon says that nobody waits for a call any more. Its answer is still expected, and ignored.
func (p *Program) abandon(c *call) { close(c.gone) }

// resume starts the deadline of a call again, unless it has been answered.
func (p *Program) resume(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[c.id] != nil {
		c.silence.Reset(c.limit)
	}
}

// remove forgets a call, because it is answered.
func (p *Program) remove(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.calls[id]; c != nil {
		c.silence.Stop()
		delete(p.calls, id)
		<-p.slots
	}
}

// write sends lines until the program ends, and then closes stdin.
func (p *Program) write() {
	defer p.proc.stdin.Close()
	for {
		select {
		case line := <-p.lines:
			if _, err := p.proc.stdin.Write(line); err != nil {
				if !p.proc.awaitExit(statusWait) { // otherwise the reader sees the end and knows more
					p.fail(&Fault{Found: "the program does not read its standard input: " + err.Error()})
				}
				return
			}
		case <-p.ended:
			return
		}
	}
}

// read reads lines until the program ends.
func (p *Program) read(in *lineReader) {
	for {
		line, err := in.next()
		if err == nil {
			err = p.take(line)
		}
		if err != nil {
			p.fail(p.explain(err))
			return
		}
	}
}

// take passes one line on to the call that it answers.
func (p *Program) take(line []byte) error {
	var m message
	if fault := unmarshal("a line of its output", line, &m); fault != nil {
		return fault
	}
	if err := m.check(line); err != nil {
		return err
	}
	p.mu.Lock()
	c, last := p.calls[*m.ID], p.last
	p.mu.Unlock()
	switch {
	case c == nil && *m.ID > 0 && *m.ID <= last:
		return &Fault{Found: fmt.Sprintf("a second answer to call %d: %s", *m.ID, quote(string(line[:min(len(line), 1000)])))}
	case c == nil:
		return &Fault{Found: fmt.Sprintf("an answer to call %d, which aiperf did not make", *m.ID)}
	case m.Part != nil && !c.streamed:
		return &Fault{Found: fmt.Sprintf("a part of the answer to call %d, whose method answers at once", *m.ID)}
	case m.Part == nil:
		p.remove(c.id)
	}
	select {
	case c.events <- m:
	case <-c.gone:
	case <-p.ended:
	}
	return nil
}

// check says what is wrong with a line that is JSON.
func (m *message) check(line []byte) error {
	given := 0
	for _, is := range []bool{m.Part != nil, m.Result != nil, m.Error != nil} {
		if is {
			given++
		}
	}
	switch {
	case m.ID == nil && m.Type == "error":
		return &Fault{Found: "the program says: " + quote(m.Message)}
	case m.ID == nil || given != 1:
		return &Fault{Found: "a line that is not an answer with id and one of result, error or part: " + quote(string(line[:min(len(line), 1000)]))}
	}
	return nil
}

// decode stores the result of a call; into = nil checks only that it is not an error.
func (m *message) decode(into any) error {
	if m.Error != nil {
		return errors.New("the program says: " + quote(m.Error.Message))
	}
	if into == nil {
		return nil
	}
	if string(m.Result) == "null" {
		return errors.New("the result is null")
	}
	if key := repeatedKey(m.Result); key != "" {
		return fmt.Errorf("the result has the key %s twice: %s", quote(key), quote(string(m.Result[:min(len(m.Result), 1000)])))
	}
	if fault := unmarshal("the result", m.Result, into); fault != nil {
		return errors.New(fault.Found)
	}
	return nil
}

// encode returns a value as one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// unmarshal decodes a text of the program. The fault names the text and quotes its beginning.
func unmarshal(what string, text []byte, into any) *Fault {
	start := ": " + quote(string(text[:min(len(text), 1000)]))
	if !utf8.Valid(text) {
		return &Fault{Found: what + " is not UTF-8" + start}
	}
	err := json.Unmarshal(text, into)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return &Fault{Found: fmt.Sprintf("%s has a %s for %q, but needs %s%s", what, kind.Value, kind.Field, kindName(kind.Type), start)}
	case err != nil:
		return &Fault{Found: what + " is not a JSON object" + start}
	}
	return nil
}

// repeatedKey returns a key that an object of a text has twice; "" = there is none, or the text is too long to look. Which of two values counts differs
// between programs that read JSON.
func repeatedKey(text []byte) (found string) {
	if len(text) > mostLooked {
		return ""
	}
	s := jsontext.Scanner{Doc: text}
	var look func()
	look = func() {
		switch {
		case s.Open('{'):
			seen := map[string]bool{}
			for first := true; s.Next('}', first); first = false {
				key := string(s.Key())
				if seen[key] {
					found = key
				}
				seen[key] = true
				look()
			}
		case s.Open('['):
			for first := true; s.Next(']', first); first = false {
				look()
			}
		default:
			s.Skip()
		}
	}
	look()
	if !s.Done() {
		return "" // the decoder says what is wrong
	}
	return found
}

// mostLooked is the length of a text, in bytes, up to which repeated keys are searched for. Longer ones hold data, not figures.
const mostLooked = 64 << 10

// kindName names a type in the words of JSON.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.Int, reflect.Int64:
		return "an integer"
	}
	return "a number" // of the types of the protocol only these are left
}
