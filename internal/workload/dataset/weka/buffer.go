package weka

import (
	"encoding/json"
	"strconv"

	"aiperf/internal/base/jsontext"
)

// role is the role of a message.
type role uint8

const (
	system role = iota
	user
	assistant
)

var roleNames = [...]string{"system", "user", "assistant"}

// edit describes how the messages of a request follow from those of the previous request in its session. The first blocks are kept, and new ones are
// appended, starting with the answer of the model.
type edit struct {
	keptBlocks int     // number of blocks kept from the previous request
	ids        []int64 // new blocks
	system     int     // number of new blocks in the system message (first request only)
	assistant  int     // number of new blocks in the assistant message
	tail       int     // tokens after the blocks, without a block
	tool       bool    // the new part is the result of a tool
}

// message is a part of a prompt: whole blocks, and a tail if it is the last message.
type message struct {
	role role
	ids  []int64
	tail int
	seed string // names the text of the tail
	call int    // turn number if it is a tool result, 0 = it is not
	text []byte // content as a JSON string; nil = not generated yet
	out  []byte // the whole message as JSON; nil = not generated yet
	next int    // call of the next message when out was generated
}

// buffer holds the messages of a request.
type buffer struct {
	list []message
	sent int // number of messages that the previous request sent unchanged
}

// blocks returns the number of whole blocks.
func (b *buffer) blocks() (n int) {
	for i := range b.list {
		n += len(b.list[i].ids)
	}
	return n
}

// messagesWithin returns the number of messages that contain the first blocks.
func (b *buffer) messagesWithin(blocks int) int {
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

// truncate keeps the first blocks and drops what follows.
func (b *buffer) truncate(keep int) {
	n := b.messagesWithin(keep)
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

// apply builds the messages of the next request. turn counts from 0. seed names the new tail.
func (b *buffer) apply(e *edit, turn int, seed string) {
	before := len(b.list)
	b.sent = before
	b.truncate(e.keptBlocks)
	if b.sent < before {
		b.sent = 0 // a sent message changed: all messages are sent anew
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
	b.checkToolResults()
}

// checkToolResults checks new tool results. A result stays one if it directly follows an assistant message that is sent with it. Otherwise it becomes a user
// message permanently.
func (b *buffer) checkToolResults() {
	for i := b.sent; i < len(b.list); i++ {
		if m := &b.list[i]; m.call > 0 && (i == b.sent || b.list[i-1].role != assistant) {
			m.call = 0
		}
	}
}

// Texts generates the texts of messages.
type Texts interface {
	// Text returns the text of the blocks of hash ids, followed by tail tokens. seed names these tokens.
	Text(ids []int64, tail int, seed string) string
}

// messages returns the messages of the request in the format of chat bodies. Unchanged messages are the same bytes as before. tools = tool results are
// sent as such.
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

// render encodes a message. next is the tool call that the next message answers, 0 = none.
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

// callID returns the id of the tool call that a request answers.
func callID(turn int) string { return "call_turn_" + strconv.Itoa(turn) }
