package weka

import (
	"encoding/json"
	"strconv"

	"aiperf/internal/jsontext"
)

// role is whose message is.
type role uint8

const (
	system role = iota
	user
	assistant
)

var roleNames = [...]string{"system", "user", "assistant"}

// edit says how the messages of a request come from those of the one before it in its session: the first blocks are kept, and what is new
// follows them, the answer of the model first.
type edit struct {
	keep      int     // blocks of the request before
	ids       []int64 // blocks that are new
	system    int     // of them, in the system message (first request only)
	assistant int     // of them, in the message of the assistant
	tail      int     // tokens behind the blocks, of no block
	tool      bool    // what is new is the answer of a tool
}

// message is a piece of a prompt: whole blocks, and a tail where it is the last.
type message struct {
	role role
	ids  []int64
	tail int
	seed string // of the tail
	call int    // request in which it answers a tool, 0 = none
	text []byte // of the content, a JSON string; nil = not made yet
	out  []byte // the whole message, nil = not made yet
	next int    // call of the message behind it when out was made
}

// buffer is the messages of a request.
type buffer struct {
	list []message
	sent int // messages that the request before it had
}

// blocks is the number of whole blocks.
func (b *buffer) blocks() (n int) {
	for i := range b.list {
		n += len(b.list[i].ids)
	}
	return n
}

// kept is the number of messages that hold the first blocks.
func (b *buffer) kept(blocks int) int {
	for i := range b.list {
		switch n := len(b.list[i].ids); {
		case n < blocks:
			blocks -= n
		case blocks == 0:
			return i
		default:
			return i + 1
		}
	}
	return len(b.list)
}

// cut keeps the first blocks, without what stands behind them.
func (b *buffer) cut(keep int) {
	n := b.kept(keep)
	for i := range b.list[:n] {
		m := &b.list[i]
		if i == n-1 && keep <= len(m.ids) && (len(m.ids) > keep || m.tail > 0) {
			m.ids, m.tail, m.text, m.out = m.ids[:keep], 0, nil, nil
			b.sent = min(b.sent, i)
		}
		keep -= len(m.ids)
	}
	b.shorten(n)
}

// shorten keeps the first n messages.
func (b *buffer) shorten(n int) {
	if n < len(b.list) {
		b.sent = min(b.sent, n)
	}
	b.list = b.list[:n]
}

// apply makes the messages of the next request. turn counts from 0; seed is that of the new tail.
func (b *buffer) apply(e *edit, turn int, seed string) {
	before := len(b.list)
	b.sent = before
	b.cut(e.keep)
	if b.sent < before {
		b.sent = 0 // something changed that was sent: all of it is sent anew
	}
	ids := e.ids
	add := func(r role, n, tail int, call int) {
		b.list = append(b.list, message{role: r, ids: ids[:n:n], tail: tail, seed: seed, call: call})
		ids = ids[n:]
	}
	if e.system > 0 {
		add(system, e.system, 0, 0)
	}
	if e.assistant > 0 {
		add(assistant, e.assistant, 0, 0)
	}
	if len(ids) > 0 || e.tail > 0 || len(b.list) == 0 {
		call := 0
		if e.tool && turn > 0 {
			call = turn
		}
		add(user, len(ids), e.tail, call)
	}
	b.settle()
}

// settle lets an answer of a tool stand where the call that it answers is sent in the same piece; else it is a message of the user for good.
func (b *buffer) settle() {
	for i := b.sent; i < len(b.list); i++ {
		if m := &b.list[i]; m.call > 0 && (i == b.sent || b.list[i-1].role != assistant) {
			m.call = 0
		}
	}
}

// Texts makes the texts of messages.
type Texts interface {
	// Text is the text of the blocks of hash ids with so many tokens behind them; seed names these.
	Text(ids []int64, tail int, seed string) string
}

// messages are the messages of the request in the words of chat bodies; what did not change since the last time is the same bytes. tools = answers
// of tools are told as such.
func (b *buffer) messages(texts Texts, tools bool) []json.RawMessage {
	out := make([]json.RawMessage, len(b.list))
	for i := range b.list {
		m, next := &b.list[i], 0
		if tools && i+1 < len(b.list) {
			next = b.list[i+1].call
		}
		if m.out == nil || m.next != next {
			m.render(texts, tools, next)
		}
		out[i] = m.out
	}
	return out
}

// render writes a message; next is the call that the message behind it answers, 0 = none.
func (m *message) render(texts Texts, tools bool, next int) {
	if m.text == nil {
		m.text = jsontext.AppendString(nil, texts.Text(m.ids, m.tail, m.seed))
	}
	o := jsontext.Open(nil)
	if tools && m.call > 0 {
		o.Text("role", "tool")
		o.Text("tool_call_id", callID(m.call))
	} else {
		o.Text("role", roleNames[m.role])
	}
	o.Raw("content", m.text)
	if next > 0 {
		o.Raw("tool_calls", []byte(`[{"id":"`+callID(next)+`","type":"function","function":{"name":"recorded_tool","arguments":"{}"}}]`))
	}
	m.out, m.next = o.Close(), next
}

// callID names the call of a tool that a request answers.
func callID(turn int) string { return "call_turn_" + strconv.Itoa(turn) }
