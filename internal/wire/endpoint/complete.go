package endpoint

import (
	"bytes"
	"fmt"

	"github.com/valyala/fastjson"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// openChat makes the codec of chat, which can require streams to be complete.
func openChat(s Settings) (Codec, error) {
	c, err := chatType.open(s)
	if err != nil || !s.Complete {
		return c, err
	}
	return strictCodec{c.(*jsonCodec)}, nil
}

// strictCodec is a codec that requires complete streams (transport, section 7.6).
type strictCodec struct{ *jsonCodec }

// NewAnswer implements Codec.
func (c strictCodec) NewAnswer(remember bool) Answer {
	return &strictAnswer{Answer: c.newAnswer(remember), finished: map[int]bool{}}
}

// strictAnswer checks what normal decoding ignores: broken events, data after the end, choices without a finish reason.
type strictAnswer struct {
	Answer
	done     bool
	finished map[int]bool    // choices that were seen, by index, and whether they have a finish reason
	whole    *record.Message // an answer that is not a stream
	fault    string          // the first fault, "" = none
}

// Add implements Answer.
func (a *strictAnswer) Add(m *record.Message, index int) (content bool, failure *record.Error) {
	content, failure = a.Answer.Add(m, index)
	if failure == nil && a.fault == "" {
		a.checkMessage(m)
	}
	return content, failure
}

// quotedBytes is the part of an answer that a message quotes, in bytes.
const quotedBytes = 200

func quote(b []byte) string {
	if len(b) > quotedBytes {
		return fmt.Sprintf("%q…", b[:quotedBytes])
	}
	return fmt.Sprintf("%q", b)
}

func (a *strictAnswer) checkMessage(m *record.Message) {
	if m.Body {
		kept := *m
		kept.Raw = bytes.Clone(m.Raw[:min(len(m.Raw), quotedBytes+1)])
		a.whole = &kept
		return
	}
	var e framing.Event
	framing.Take(framing.SSE, &e, m)
	data := e.Data()
	switch {
	case len(data) == 0:
	case a.done:
		a.fault = "data after [DONE]: " + quote(data)
	case e.Done():
		a.done = true
	default:
		a.fault = a.choices(data)
	}
}

// choices records which choices an event contains and which of them it finishes.
func (a *strictAnswer) choices(data []byte) (fault string) {
	p := parsers.Get()
	defer parsers.Put(p)
	v, err := p.ParseBytes(data)
	if err != nil {
		return "an event that is not JSON: " + quote(data)
	}
	list, usage := v.Get("choices"), v.Get("usage")
	if (list == nil || list.Type() != fastjson.TypeArray) && (usage == nil || usage.Type() != fastjson.TypeObject) {
		return "an event with neither choices nor usage: " + quote(data)
	}
	for _, one := range list.GetArray() {
		i := one.GetInt("index")
		a.finished[i] = a.finished[i] || len(one.GetStringBytes("finish_reason")) > 0
	}
	return ""
}

// end checks the request's payload when the answer has ended.
func (a *strictAnswer) end(payload []byte) {
	switch {
	case a.fault != "":
	case a.whole != nil:
		p := parsers.Get()
		defer parsers.Put(p)
		if v, err := p.ParseBytes(payload); err == nil && v.Exists("stream") && !v.GetBool("stream") {
			return // no stream was requested
		}
		a.fault = fmt.Sprintf("the answer is not an event stream but %s: %s", a.whole.ContentType(), quote(a.whole.Raw))
	case a.done:
	case len(a.finished) == 0:
		a.fault = "it ended without [DONE]"
	default:
		for i, finished := range a.finished {
			if !finished {
				a.fault = fmt.Sprintf("it ended without [DONE], and choice %d has no finish reason", i)
				return
			}
		}
	}
}

// Result implements Answer.
func (a *strictAnswer) Result() Result {
	r := a.Answer.Result()
	if a.fault != "" {
		r.Failure = &record.Error{Code: defaultCode, Type: "SSEResponseError", Message: "Incomplete stream: " + a.fault}
	}
	return r
}
