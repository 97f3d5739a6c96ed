package endpoint

import (
	"encoding/json"
	"fmt"
	"sync"

	"aiperf/internal/conversation"
)

// Input is what one request body is made of.
type Input struct {
	Conversation *conversation.Conversation
	Turn         int // index of the turn to send
	// Replies are the captured answers to the turns before this one, by turn index: what Capture gave, nil where a turn failed or
	// answered nothing. Shorter is fine. Read only in mode deltas_without_responses.
	Replies   []json.RawMessage
	Model     string // for turns that name none
	Streaming bool
	Extras    []Member // --extra-inputs, over the generated members
	Options   Options
}

// Member is one named JSON value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Options are the flags that change bodies.
type Options struct {
	LegacyMaxTokens   bool // max_tokens instead of max_completion_tokens (chat)
	ServerTokenCount  bool // the server's token counts are used (responses)
	PerChunkUsage     bool // ask for usage on every chunk (chat)
	ForceContentParts bool // content is always a list of parts (chat)
}

// FormatError says why a body could not be built. Such a request is an error record without a request on the wire.
type FormatError struct {
	Class   string // class of the error record
	Origin  string // where the turn was read, "" = generated
	Message string
}

func (e *FormatError) Error() string {
	if e.Origin != "" {
		return e.Origin + ": " + e.Message
	}
	return e.Message
}

func invalid(t *conversation.Turn, format string, args ...any) error {
	return &FormatError{Class: "ValueError", Origin: t.Origin, Message: fmt.Sprintf(format, args...)}
}

// body is a request body under construction.
type body struct {
	object
	streamOptions bool // ask for usage when the finished body streams
}

var bodies = sync.Pool{New: func() any { return new(body) }}

// Encode appends the request body of a turn to dst: compact JSON, UTF-8, members in the order of the contract. Ready bodies go out as
// they are. Errors are of type *FormatError.
func (e *Endpoint) Encode(dst []byte, in *Input) ([]byte, error) {
	turn := &in.Conversation.Turns[in.Turn]
	if turn.RawPayload != nil {
		return append(dst, turn.RawPayload...), nil
	}
	if e.encode == nil {
		return dst, &FormatError{Class: "NotImplementedError", Message: "endpoint type " + e.Name + " is not built yet"}
	}
	b := bodies.Get().(*body)
	defer bodies.Put(b)
	b.buf, b.members, b.streamOptions = b.buf[:0], b.members[:0], false
	if err := e.encode(b, in); err != nil {
		return dst, err
	}
	for i := range in.Extras {
		if m := &in.Extras[i]; !b.setRaw(m.Key, m.Value) {
			return dst, invalid(turn, "extra input %q: %q is not JSON", m.Key, m.Value)
		}
	}
	if turn.ExtraBody != nil {
		s := scanner{b: turn.ExtraBody}
		b.merge(&s)
		if !s.done() {
			return dst, invalid(turn, "extra body: %.80q is not a JSON object", turn.ExtraBody)
		}
	}
	if b.streamOptions {
		b.askForUsage(in.Options.PerChunkUsage)
	}
	return b.append(dst), nil
}

// askForUsage adds the request for usage to a body that streams, unless the author said something about it.
func (b *body) askForUsage(perChunk bool) {
	i := b.find("stream")
	if i < 0 || !truthy(b.value(i)) {
		return
	}
	var options object
	if i = b.find("stream_options"); i >= 0 && string(b.value(i)) != "null" {
		if b.value(i)[0] != '{' {
			return
		}
		options.merge(&scanner{b: b.value(i)})
	}
	if options.find("include_usage") < 0 {
		options.setBool("include_usage", true)
	}
	if perChunk && options.find("continuous_usage_stats") < 0 {
		options.setBool("continuous_usage_stats", true)
	}
	a := len(b.buf)
	b.buf = options.append(b.buf)
	b.end("stream_options", a)
}

// truthy tells whether a spelled JSON value counts as true where any value may stand for a bool.
func truthy(v []byte) bool {
	switch string(v) {
	case "", "null", "false", "0", "0.0", "-0.0", `""`, "[]", "{}":
		return false
	}
	return true
}

// modelOf is the model that a turn asks for.
func (in *Input) modelOf(t *conversation.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return in.Model
}

// onlyTurn is the turn of a type that sends no history.
func (in *Input) onlyTurn(name string) (*conversation.Turn, error) {
	t := &in.Conversation.Turns[in.Turn]
	if in.Turn > 0 && in.Conversation.Mode != conversation.MessageArrayWithResponses {
		return nil, invalid(t, "endpoint type %s sends exactly one turn, this is turn %d of the conversation", name, in.Turn+1)
	}
	return t, nil
}

// texts lists the texts of a turn that are not empty.
func texts(t *conversation.Turn) []string {
	var list []string
	for i := range t.Texts {
		for _, s := range t.Texts[i].Contents {
			if s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

func (b *body) strings(list []string) {
	b.buf = append(b.buf, '[')
	for i, s := range list {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		b.buf = appendString(b.buf, s)
	}
	b.buf = append(b.buf, ']')
}
