// Package trace reads recorded traffic: rows of times, lengths and hash ids, some with literal texts, grouped into sessions. It filters and rescales
// them. Package synth generates the texts for lengths and ids when a conversation is requested.
package trace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
)

// Record is one request of recorded traffic.
type Record struct {
	Where        string   // path:line
	Session      string   // "" = a separate conversation
	Timestamp    *float64 // ms on the clock of the trace, whose zero is arbitrary; may be negative
	Delay        *float64 // ms between the previous answer in its session and this request
	InputLength  int      // prompt tokens; 0 = not given
	OutputLength *int     // requested output tokens
	HashIDs      []int64  // hash ids of the prompt's blocks
	Text         *string  // literal prompt

	Messages []json.RawMessage // literal messages
	Delta    bool              // Messages are only the new ones; false = all that are sent
	Mode     conversation.Mode // mode of the session; "" = determined by its rows
	Tools    json.RawMessage   // tool definitions for Messages
	Payload  json.RawMessage   // literal request body
	Extra    json.RawMessage   // object merged into the body
}

// MaxInput is the maximum length of a generated prompt, in tokens. It is many times the longest known context.
const MaxInput = 10_000_000

// MooncakeType is the name of the mooncake format.
const MooncakeType = "mooncake_trace"

// MooncakeKeys are the keys that a row of the format may have. Others are ignored with a warning. priority is accepted and not used, and
// so are group_id and is_restart, which the generator of coding agents writes for its reports.
var MooncakeKeys = []string{
	"type", "timestamp", "delay", "session_id", "input_length", "output_length", "hash_ids", "text_input", "messages", "tools",
	"payload", "extra", "priority", "message_mode", "context_mode", "group_id", "is_restart",
}

// prompts are the keys of which a mooncake row must have exactly one.
var prompts = []string{"input_length", "text_input", "messages", "payload"}

// Mooncake parses a row of the mooncake format. It records errors in the row.
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

// mooncakeMessages parses messages and the fields that belong to them.
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

// contextModes are the ways in which requests carry the history of their session.
var contextModes = []conversation.Mode{conversation.DeltasWithoutResponses, conversation.DeltasWithResponses, conversation.MessageArrayWithResponses}

// messageMode parses whether the messages of a row are all that is sent, or only the new ones.
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
			extra.Fault("messages", "cannot be used with message_mode delta, for which aiperf builds the history")
		}
	}
}

// Messages parses the message array of a row. Every message is an object with a role.
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

// mooncakePrompt checks that the row specifies its request in exactly one way. A literal text may be combined with its length and the ids of its
// blocks.
func mooncakePrompt(r *rows.Row, rec *Record) {
	var given []string
	for _, key := range prompts {
		if r.Has(key) {
			given = append(given, key)
		}
	}
	switch {
	case len(given) == 0:
		r.Fault("", "exactly one of %s is needed; the row has %s", strings.Join(prompts, ", "), keys(r))
	case len(given) == 2 && given[0] == "input_length" && given[1] == "text_input":
		rec.InputLength = 0 // the text wins
	case len(given) > 1:
		r.Fault("", "%s cannot be used together", strings.Join(given, ", "))
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

// payloadKeys are the known keys of a row in GenAI-Perf's payload files. All other keys go into the request body.
var payloadKeys = []string{"timestamp", "delay", "session_id", "input_length", "output_length", "hash_ids", "text", "text_input"}

// Payload parses a row of GenAI-Perf's payload files. Its delay is the wait after the row. isl is the default prompt length, in tokens.
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
		r.Fault("", "text and text_input cannot be used together")
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

// inputLength parses the length of a prompt.
func inputLength(r *rows.Row, rec *Record) {
	if n := r.Int("input_length", 1); n != nil {
		if rec.InputLength = *n; *n > MaxInput {
			r.Fault("input_length", "must be at most %d tokens, got %d", MaxInput, *n)
		}
	}
}

// DelaysBefore moves every delay to the next record of its session, because it is a wait after its own record.
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
