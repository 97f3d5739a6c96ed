// Package trace reads recorded traffic: rows of times, lengths and hash ids, some with literal texts, grouped into sessions. It filters
// and rescales them; the texts that lengths and ids stand for are made by package synth when a conversation is asked for.
package trace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// Record is one request of recorded traffic.
type Record struct {
	Where        string   // path:line
	Session      string   // "" = a conversation of its own
	Timestamp    *float64 // ms, maybe below 0: the trace's own clock begins where it likes
	Delay        *float64 // ms before this request, after the answer of the previous one of its session
	InputLength  int      // tokens of the prompt, 0 = not given
	OutputLength *int     // tokens asked for
	HashIDs      []int64  // blocks of the prompt
	Text         *string  // literal prompt

	Messages []json.RawMessage // literal messages
	Delta    bool              // they are what is new; else all that is sent
	Mode     conversation.Mode // of the session, "" = as its rows have it
	Tools    json.RawMessage   // tool definitions beside them
	Payload  json.RawMessage   // literal request body
	Extra    json.RawMessage   // object merged over the body
}

// MaxInput is the length of the longest prompt that is made from a length, in tokens: many times the longest context there is.
const MaxInput = 10_000_000

// MooncakeType is the name of the mooncake format.
const MooncakeType = "mooncake_trace"

// MooncakeKeys are the keys that a row of the format may have; others are ignored with a warning. priority is read and not used.
var MooncakeKeys = []string{
	"type", "timestamp", "delay", "session_id", "input_length", "output_length", "hash_ids", "text_input", "messages", "tools",
	"payload", "extra", "priority", "message_mode", "context_mode",
}

// prompts are the keys of which a mooncake row has exactly one.
var prompts = []string{"input_length", "text_input", "messages", "payload"}

// Mooncake reads a row of the mooncake format. What is wrong is noted as a fault of the row.
func Mooncake(r *rows.Row) Record {
	rec := Record{
		Where:        r.Where,
		Timestamp:    r.Number("timestamp"),
		Delay:        r.Duration("delay"),
		OutputLength: r.Int("output_length", 1),
		Text:         r.String("text_input"),
		Payload:      r.Object("payload"),
		Extra:        r.Object("extra"),
	}
	if t := r.String("type"); t != nil && *t != MooncakeType {
		r.Fault("type", "must be %q, got %q", MooncakeType, *t)
	}
	if id := r.String("session_id"); id != nil {
		rec.Session = *id
	}
	inputLength(r, &rec)
	if string(rec.Payload) == "{}" {
		r.Fault("payload", "must not be empty")
	}
	mooncakeMessages(r, &rec)
	mooncakePrompt(r, &rec)
	return rec
}

// mooncakeMessages reads messages and what belongs to them.
func mooncakeMessages(r *rows.Row, rec *Record) {
	if r.Has("messages") {
		rec.Messages = Messages(r)
	}
	if r.Has("tools") {
		tools := r.List("tools")
		switch {
		case !r.Has("messages"):
			r.Fault("tools", "needs messages")
		case tools != nil && len(tools) == 0:
			r.Fault("tools", "must not be empty")
		default:
			rec.Tools = rows.Compact(r.Raw("tools"))
		}
	}
	messageMode(r, rec)
	if mode := r.String("context_mode"); mode != nil {
		if rec.Mode = conversation.Mode(*mode); !slices.Contains(contextModes, rec.Mode) {
			r.Fault("context_mode", "must be one of %v, got %q", contextModes, *mode)
		}
	}
}

// contextModes are the ways in which a session's history goes out.
var contextModes = []conversation.Mode{conversation.DeltasWithoutResponses, conversation.DeltasWithResponses, conversation.MessageArrayWithResponses}

// messageMode reads whether the messages of a row are all that is sent or what is new.
func messageMode(r *rows.Row, rec *Record) {
	mode := r.String("message_mode")
	switch {
	case mode == nil || *mode == "history":
		return
	case *mode != "delta":
		r.Fault("message_mode", "must be history or delta, got %q", *mode)
		return
	case !r.Has("messages"):
		r.Fault("message_mode", "delta needs messages")
	}
	rec.Delta = true
	if r.Has("extra") {
		if extra := r.Child("extra"); extra != nil && extra.Has("messages") {
			extra.Fault("messages", "has no place beside message_mode delta: the history is put together here")
		}
	}
}

// Messages reads the message array of a row: objects with a role each.
func Messages(r *rows.Row) []json.RawMessage {
	items := r.List("messages")
	if items != nil && len(items) == 0 {
		r.Fault("messages", "must not be empty")
	}
	out := make([]json.RawMessage, 0, len(items))
	for i, raw := range items {
		item := r.Item("messages", i, raw)
		if item == nil {
			continue
		}
		if !item.Has("role") {
			item.Fault("role", "missing")
		}
		out = append(out, rows.Compact(raw))
	}
	return out
}

// mooncakePrompt checks that the row says in exactly one way what is sent. A literal text may state its length, and the ids of its
// blocks, beside it.
func mooncakePrompt(r *rows.Row, rec *Record) {
	var given []string
	for _, key := range prompts {
		if r.Has(key) {
			given = append(given, key)
		}
	}
	switch {
	case len(given) == 0:
		r.Fault("", "exactly one of %s is needed, the row has %s", strings.Join(prompts, ", "), keys(r))
	case len(given) == 2 && given[0] == "input_length" && given[1] == "text_input":
		rec.InputLength = 0 // the text wins
	case len(given) > 1:
		r.Fault("", "%s exclude each other", strings.Join(given, ", "))
	}
	if !r.Has("hash_ids") {
		return
	}
	if !r.Has("input_length") {
		r.Fault("hash_ids", "needs input_length")
		return
	}
	if ids := r.Ints("hash_ids"); rec.Text == nil {
		rec.HashIDs = ids
	}
}

// payloadKeys are the keys of a row of GenAI-Perf's payload files; what else a row has goes into the request body.
var payloadKeys = []string{"timestamp", "delay", "session_id", "input_length", "output_length", "hash_ids", "text", "text_input"}

// Payload reads a row of GenAI-Perf's payload files, whose delay is the wait after the row. isl is the length of a prompt that the row does
// not state, in tokens.
func Payload(r *rows.Row, isl int) Record {
	rec := Record{
		Where:        r.Where,
		Timestamp:    r.Number("timestamp"),
		Delay:        r.Duration("delay"),
		OutputLength: r.Int("output_length", 1),
		InputLength:  isl,
		Extra:        r.Without(payloadKeys...),
	}
	switch rows.Kind(r.Raw("session_id")) {
	case "number":
		if n := r.Int64("session_id"); n != nil {
			rec.Session = strconv.FormatInt(*n, 10)
		}
	case "nothing":
	default:
		if id := r.String("session_id"); id != nil {
			rec.Session = *id
		}
	}
	inputLength(r, &rec)
	if r.Has("text") && r.Has("text_input") {
		r.Fault("", "text, text_input exclude each other")
	}
	for _, key := range []string{"text", "text_input"} {
		if text := r.String(key); text != nil {
			rec.Text, rec.InputLength = text, 0
		}
	}
	if r.Has("hash_ids") {
		if !r.Has("input_length") {
			r.Fault("hash_ids", "needs input_length")
		} else if ids := r.Ints("hash_ids"); rec.Text == nil {
			rec.HashIDs = ids
		}
	}
	return rec
}

// inputLength reads the length of a prompt.
func inputLength(r *rows.Row, rec *Record) {
	if n := r.Int("input_length", 1); n != nil {
		if rec.InputLength = *n; *n > MaxInput {
			r.Fault("input_length", "must be at most %d tokens, got %d", MaxInput, *n)
		}
	}
}

// DelaysBefore moves every delay, a wait after its record, to the next record of the session.
func DelaysBefore(records []Record) {
	last := map[string]*float64{}
	for i := range records {
		rec := &records[i]
		after := rec.Delay
		rec.Delay = nil
		if rec.Session != "" {
			rec.Delay, last[rec.Session] = last[rec.Session], after
		}
	}
}

// keys lists the keys of a row for an error message.
func keys(r *rows.Row) string {
	if names := r.Keys(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "no key"
}
