package endpoint

import (
	"bytes"
	"cmp"
	"fmt"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

// programAnswer is an answer that a program reads, in one call at its end. Until then every message counts as content, for example for the limit of
// requests before their first token.
type programAnswer struct {
	codec    *programCodec
	format   framing.Format
	remember bool
	event    framing.Event
	body     bool
	texts    []string // what the program receives, one for each message
	at       []int64
	index    []int
	failure  *record.Error
}

// Add implements Answer.
func (a *programAnswer) Add(m *record.Message, index int) (content bool, failure *record.Error) {
	text := bytes.TrimSpace(m.Raw)
	if !m.Body {
		framing.Take(a.format, &a.event, m)
		if a.failure = streamFailure(a.format, &a.event); a.failure != nil {
			return false, a.failure
		}
		text = a.event.Text()
	}
	if len(text) == 0 {
		return false, nil
	}
	a.body = a.body || m.Body
	a.texts, a.at, a.index = append(a.texts, string(text)), append(a.at, m.At), append(a.index, index)
	return string(text) != "[DONE]", nil
}

// Next implements Answer: there is no follow-up.
func (a *programAnswer) Next() *FollowUp { return nil }

// parsedMessage is what the program says of one message.
type parsedMessage struct {
	Text         string         `json:"text"`
	Reasoning    string         `json:"reasoning"`
	ToolCalls    string         `json:"tool_calls"` // as text
	FinishReason string         `json:"finish_reason"`
	Error        string         `json:"error"`
	Usage        *programCounts `json:"usage"`
}

// programCounts are token counts.
type programCounts struct {
	Prompt     *float64 `json:"prompt_tokens"`
	Completion *float64 `json:"completion_tokens"`
	Total      *float64 `json:"total_tokens"`
	Reasoning  *float64 `json:"reasoning_tokens"`
	Cached     *float64 `json:"cached_tokens"`
}

// Result implements Answer.
func (a *programAnswer) Result() Result {
	res := Result{Reply: &record.Reply{PerChunkTokens: -1}, Failure: a.failure}
	if a.failure != nil {
		return res
	}
	noContent := &record.Error{Type: invalidResult, Message: "Invalid inference result: No responses were received"}
	if len(a.texts) == 0 {
		res.Failure = noContent
		return res
	}
	var parsed struct {
		Messages []*parsedMessage `json:"messages"`
	}
	err := a.codec.call("parse", map[string]any{"messages": a.texts, "stream": !a.body, "status": 200}, &parsed)
	if err == nil && len(parsed.Messages) != len(a.texts) {
		err = fmt.Errorf("plug-in %s: parse: the result has %d messages, but the answer has %d", a.codec.entry.ID(), len(parsed.Messages), len(a.texts))
	}
	if err != nil {
		res.Failure = &record.Error{Type: "PluginError", Message: err.Error()}
		return res
	}
	if res.Failure = a.fill(res.Reply, parsed.Messages); res.Failure == nil && len(res.Reply.Contents) == 0 {
		noContent.Message = "Invalid inference result: No responses with actual content were received"
		res.Failure = noContent
	}
	if a.remember && res.Failure == nil {
		res.Memory = programReply(cmp.Or(res.Reply.Output, res.Reply.Reasoning))
	}
	return res
}

// fill builds the reply of what the program said. It returns the failure that it found in the answer.
func (a *programAnswer) fill(r *record.Reply, list []*parsedMessage) *record.Error {
	var out, reasoning []byte
	type piece struct {
		kind          record.Kind
		i, text, mind int // index of the message; ends of its texts
	}
	var pieces []piece
	var counts usageCounts
	for i, m := range list {
		if m == nil {
			continue
		}
		if m.Error != "" {
			return &record.Error{Code: defaultCode, Type: a.format.Failure(), Message: m.Error}
		}
		out, reasoning = append(append(out, m.Text...), m.ToolCalls...), append(reasoning, m.Reasoning...)
		if m.FinishReason != "" {
			r.FinishReason = m.FinishReason
		}
		if usage := counts.add(m.Usage); usage != nil {
			r.Usage = parseUsage(usage)
		}
		kind := record.Text
		switch {
		case m.Reasoning != "":
			kind = record.Reasoning
		case m.ToolCalls != "":
			kind = record.ToolCall
		case m.Text == "":
			continue
		}
		if len(pieces) == 0 && m.Usage != nil && m.Usage.Completion != nil {
			r.PerChunkTokens = int(*m.Usage.Completion)
		}
		pieces = append(pieces, piece{kind, i, len(out), len(reasoning)})
	}
	r.Output, r.Reasoning = string(out), string(reasoning)
	text, mind := 0, 0
	for _, p := range pieces {
		r.Contents = append(r.Contents, record.Content{At: a.at[p.i], Message: a.index[p.i], Kind: p.kind, Text: r.Output[text:p.text], Reasoning: r.Reasoning[mind:p.mind]})
		text, mind = p.text, p.mind
	}
	return nil
}

// usageCounts are the latest counts of an answer, by their places in usageNames.
type usageCounts map[string]float64

// add takes over the counts of a message and returns all as a usage object; nil = the message has none.
func (c *usageCounts) add(m *programCounts) []byte {
	if m == nil {
		return nil
	}
	for i, v := range []*float64{m.Prompt, m.Completion, m.Total, m.Cached, m.Reasoning} { // as in usageNames
		if v == nil {
			continue
		}
		if *c == nil {
			*c = usageCounts{}
		}
		(*c)[usageNames[i].path] = *v
	}
	if *c == nil {
		return nil
	}
	return usageObject(usageNames, *c)
}
