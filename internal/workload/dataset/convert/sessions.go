package convert

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/custom"
)

// appendPooled writes contents of a pool. They cannot have a time, position or length.
func appendPooled(dst []byte, e custom.Entry) ([]byte, error) {
	turns, err := turnsOf(e)
	if err != nil {
		return nil, err
	}
	t := &turns[0]
	if len(turns) > 1 || e.Session != "" || t.Timestamp != nil || t.Delay != nil || t.Role != "" || t.MaxTokens != nil || t.ExtraBody != nil {
		return nil, errors.New("rows of random_pool are drawn independently, so they cannot have sessions, times, roles, lengths or extras")
	}
	return appendSingle(dst, e)
}

// bodies writes conversations of whole request bodies.
type bodies struct{ sessions int }

func (b *bodies) append(dst []byte, e custom.Entry) ([]byte, error) {
	var list []byte
	add := func(t *conversation.Turn) error {
		if t.RawPayload == nil {
			return errors.New("inputs_json can hold only whole request bodies, and this row is not one")
		}
		if t.Timestamp != nil || t.Delay != nil {
			return errors.New("inputs_json cannot hold times")
		}
		list = append(append(list, ','), t.RawPayload...)
		return nil
	}
	turns := e.Turns
	if e.Record != nil {
		if e.Session != "" {
			return nil, errors.New("inputs_json holds a session in one place, so its rows cannot be converted one by one")
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

// history describes how much of its session every request of a format carries.
type history struct {
	format string
	mode   conversation.Mode
	seed   maphash.Seed
	seen   map[uint64]struct{} // hashes of sessions with another mode, whose first requests are the same in any mode
}

// checkHistory returns an error if a request would be sent with another history.
func (h *history) checkHistory(e custom.Entry) error {
	mode := e.Mode
	if mode == "" {
		mode = conversation.DeltasWithoutResponses
	}
	if h == nil || mode == h.mode {
		return nil
	}
	more := len(e.Turns) > 1
	if e.Session != "" && !more {
		if h.seen == nil {
			h.seed, h.seen = maphash.MakeSeed(), map[uint64]struct{}{}
		}
		key := maphash.String(h.seed, e.Session)
		_, more = h.seen[key]
		h.seen[key] = struct{}{}
	}
	if more {
		return fmt.Errorf("session %q has several requests with context_mode %s, but those of %s are always sent as %s", e.Session, mode, h.format, h.mode)
	}
	return nil
}

// leads reports whether the first of several turns is a system message. multi_turn adds such a message to the later requests.
func leads(turns []conversation.Turn) bool {
	return len(turns) > 1 && turns[0].Role == "system" && turns[1].Role != "system" && turns[0].Delay == nil && turns[0].Timestamp == nil && turns[0].MaxTokens == nil &&
		turns[0].ExtraBody == nil
}

// errLeading reports a leading system message that cannot be converted.
var errLeading = errors.New("the session begins with a system message, which speed_bench and dag_jsonl would send as a separate request, and multi_turn as part of the first one")

// questions writes conversations of texts as benchmark questions.
type questions struct{ rows int }

func (q *questions) append(dst []byte, e custom.Entry) ([]byte, error) {
	turns, err := turnsOf(e)
	if err != nil {
		return nil, err
	}
	if q.rows++; e.Category == "" && leads(turns) {
		return nil, errLeading
	}
	id, category := e.Session, e.Category
	switch {
	case id == "":
		id = fmt.Sprintf("%032d", q.rows-1)
	case utf8.RuneCountInString(id) != custom.QuestionID:
		return nil, fmt.Errorf("session %q: the ids of speed_bench must have %d characters", id, custom.QuestionID)
	}
	if category == "" {
		category = "other"
	}
	o := jsontext.Open(dst)
	o.Text("question_id", id)
	o.Text("category", category)
	o.Key("messages")
	o.B = append(o.B, '[')
	for i := range turns {
		t := &turns[i]
		if err := lossless(t); err != nil {
			return nil, err
		}
		texts := t.Contents()
		if len(t.Parts) != 1 || len(texts) != 1 || strings.TrimSpace(texts[0]) == "" || t.Parts[0].Name != "" ||
			t.Timestamp != nil || t.Delay != nil || t.MaxTokens != nil || t.ExtraBody != nil {
			return nil, errors.New("a message of speed_bench can hold one non-blank text only, no media, list, time, length or extra")
		}
		role := t.Role
		if role == "" {
			role = "user"
		}
		if i > 0 {
			o.B = append(o.B, ',')
		}
		m := jsontext.Open(o.B)
		m.Text("role", role)
		m.Text("content", texts[0])
		o.B = m.Close()
	}
	o.B = append(o.B, ']')
	return append(o.Close(), '\n'), nil
}

// graphs writes conversations as sessions that no other session starts.
type graphs struct {
	sessions int
	seed     maphash.Seed
	seen     map[uint64]struct{} // hashes of the ids
}

func (g *graphs) append(dst []byte, e custom.Entry) ([]byte, error) {
	if e.Record != nil {
		return nil, errors.New("rows of traces cannot be written as dag_jsonl, whose sessions have texts and no times")
	}
	session := e.Session
	if session == "" {
		session = fmt.Sprintf("session_%06d", g.sessions)
	}
	if g.sessions++; e.Session != "" {
		if g.seen == nil {
			g.seed, g.seen = maphash.MakeSeed(), map[uint64]struct{}{}
		}
		key := maphash.String(g.seed, session)
		if _, again := g.seen[key]; again {
			return nil, fmt.Errorf("session %q appears again: a session of dag_jsonl must be on one line", session)
		}
		g.seen[key] = struct{}{}
	}
	if e.Category == "" && leads(e.Turns) {
		return nil, errLeading
	}
	o := jsontext.Open(dst)
	o.Text("session_id", session)
	if len(e.Turns) > 1 {
		o.TextIfAny("context_mode", string(e.Mode))
	}
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

// messagesOf returns the messages of a turn, or its one text as a message.
func messagesOf(t *conversation.Turn) ([]byte, error) {
	if t.Timestamp != nil {
		return nil, errors.New("a turn of dag_jsonl cannot hold a time")
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
		return nil, errors.New("a turn of dag_jsonl can hold text messages only, no media or list")
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
