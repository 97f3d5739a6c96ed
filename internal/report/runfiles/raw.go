package runfiles

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/valyala/fastjson"
)

// Turn is what one request of a conversation sent.
type Turn struct {
	ID           string // x_request_id
	Session      string // x_correlation_id
	Parent       string // of an agent that another one started; "" = none
	Conversation string // conversation_id
	Index        int
	Start        int64 // wall clock, ns
	Depth        int   // of nested agents; 0 = a root
	Messages     []Message
}

// Message is one message of a body: its role and its text, or its parts as JSON.
type Message struct{ Role, Text string }

// Turns calls visit for the requests of the raw export with the messages that they sent. A run without one gives ErrNone.
func (r *Run) Turns(visit func(Turn)) error {
	n := 0
	err := r.lines(rawFile, func(v *fastjson.Value) error {
		n++
		md := v.Get("metadata")
		text := func(key string) string { return string(md.GetStringBytes(key)) }
		t := Turn{
			ID:      text("x_request_id"),
			Session: text("x_correlation_id"), Parent: text("parent_correlation_id"), Conversation: text("conversation_id"), Index: md.GetInt("turn_index"),
			Start: md.GetInt64("request_start_ns"), Depth: md.GetInt("agent_depth"),
		}
		payload := v.Get("payload")
		for _, key := range []string{"messages", "input"} {
			for _, m := range payload.GetArray(key) {
				t.Messages = append(t.Messages, readMessage(m))
			}
		}
		if t.Messages == nil {
			for _, key := range []string{"prompt", "input", "text_input", "inputs"} {
				if m := payload.Get(key); m != nil {
					t.Messages = []Message{{key, plainText(m)}}
					break
				}
			}
		}
		visit(t)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && n == 0 {
		return fmt.Errorf("raw export (%s): %w", rawFile, ErrNone)
	}
	return err
}

// readMessage returns a message with its content and its other members, such as tool calls.
func readMessage(m *fastjson.Value) Message {
	if m.Type() != fastjson.TypeObject {
		return Message{"input", plainText(m)}
	}
	out := Message{Role: string(m.GetStringBytes("role"))}
	if c := m.Get("content"); c != nil {
		out.Text = plainText(c)
	}
	m.GetObject().Visit(func(key []byte, value *fastjson.Value) {
		if k := string(key); k != "role" && k != "content" {
			if out.Text != "" {
				out.Text += "\n"
			}
			out.Text += k + ": " + plainText(value)
		}
	})
	if out.Role == "" {
		out.Role = string(m.GetStringBytes("type"))
	}
	return out
}

// plainText returns a text as it is, anything else as JSON.
func plainText(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeNull:
		return ""
	}
	return v.String()
}
