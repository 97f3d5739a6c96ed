package survey

import (
	"errors"
	"fmt"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/custom"
	"aiperf/internal/jsontext"
)

// appendPooled writes contents that are drawn: they have no time, place or length of their own.
func appendPooled(dst []byte, e custom.Entry) ([]byte, error) {
	turns, err := turnsOf(e)
	if err != nil {
		return nil, err
	}
	t := &turns[0]
	if len(turns) > 1 || e.Session != "" || t.Timestamp != nil || t.Delay != nil || t.Role != "" || t.MaxTokens != nil || t.ExtraBody != nil {
		return nil, errors.New("rows of random_pool are drawn one by one: no sessions, times, roles, lengths or extras")
	}
	return appendSingle(dst, e)
}

// bodies writes conversations of whole request bodies.
type bodies struct{ sessions int }

func (b *bodies) append(dst []byte, e custom.Entry) ([]byte, error) {
	var list []byte
	add := func(t *conversation.Turn) error {
		if t.RawPayload == nil {
			return errors.New("only whole request bodies can be written as inputs_json: the words around a text are the endpoint's")
		}
		if t.Timestamp != nil || t.Delay != nil {
			return errors.New("inputs_json has no times")
		}
		list = append(append(list, ','), t.RawPayload...)
		return nil
	}
	turns := e.Turns
	if e.Record != nil {
		if e.Session != "" {
			return nil, errors.New("rows of one session stand in one place of inputs_json")
		}
		var err error
		if turns, err = turnsOf(e); err != nil {
			return nil, err
		}
	}
	for i := range turns {
		if err := add(&turns[i]); err != nil {
			return nil, err
		}
	}
	session := e.Session
	if session == "" {
		session = fmt.Sprintf("session_%06d", b.sessions)
	}
	if b.sessions++; b.sessions > 1 {
		dst = append(dst, ',', '\n')
	}
	list[0] = '['
	o := jsontext.Open(dst)
	o.Text("session_id", session)
	o.Raw("payloads", append(list, ']'))
	return o.Close(), nil
}

// graphs writes conversations as sessions that nobody starts.
type graphs struct{ sessions int }

func (g *graphs) append(dst []byte, e custom.Entry) ([]byte, error) {
	if e.Record != nil {
		return nil, errors.New("rows of traces are no sessions of dag_jsonl, which have texts and no times")
	}
	session := e.Session
	if session == "" {
		session = fmt.Sprintf("session_%06d", g.sessions)
	}
	g.sessions++
	o := jsontext.Open(dst)
	o.Text("session_id", session)
	o.Key("turns")
	o.B = append(o.B, '[')
	for i := range e.Turns {
		t := &e.Turns[i]
		if i > 0 {
			o.B = append(o.B, ',')
		}
		messages, err := messagesOf(t)
		if err != nil {
			return nil, err
		}
		inner := jsontext.Open(o.B)
		inner.Raw("messages", messages)
		inner.TextIfAny("model", t.Model)
		if t.RawTools != nil {
			inner.Raw("tools", t.RawTools)
		}
		if t.MaxTokens != nil {
			inner.Int("max_tokens", int64(*t.MaxTokens))
		}
		if t.Delay != nil {
			inner.Float("delay", *t.Delay)
		}
		if t.ExtraBody != nil {
			inner.Raw("extra", t.ExtraBody)
		}
		o.B = inner.Close()
	}
	o.B = append(o.B, ']')
	return append(o.Close(), '\n'), nil
}

// messagesOf is a turn as messages: its own, or its one text.
func messagesOf(t *conversation.Turn) ([]byte, error) {
	if t.Timestamp != nil {
		return nil, errors.New("a turn of dag_jsonl has no time")
	}
	if t.RawMessages != nil && !t.Silent && t.Branches == nil {
		list := []byte{'['}
		for i, m := range t.RawMessages {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, m...)
		}
		return append(list, ']'), nil
	}
	if err := lossless(t); err != nil {
		return nil, err
	}
	texts := t.Contents()
	if len(t.Parts) != 1 || len(texts) != 1 {
		return nil, errors.New("a turn of dag_jsonl has messages of text: no media, no lists")
	}
	m := jsontext.Open([]byte("["))
	role := t.Role
	if role == "" {
		role = "user"
	}
	m.Text("role", role)
	m.Text("content", texts[0])
	return append(m.Close(), ']'), nil
}
