// Package conversation holds the content to send: conversations of turns, as plain data. Datasets make them, endpoints convert them to requests, and
// the load generator decides when their turns leave.
package conversation

import "encoding/json"

// Mode says how the history of a conversation becomes part of the next request.
type Mode string

// The modes of the contract (datasets, section 1.4).
const (
	DeltasWithoutResponses    Mode = "deltas_without_responses"     // earlier turns + live answers + this turn (default)
	DeltasWithResponses       Mode = "deltas_with_responses"        // earlier turns, which include the answers, + this turn
	MessageArrayWithResponses Mode = "message_array_with_responses" // only this turn, which is the whole request
)

// Conversation is one entry of a dataset.
type Conversation struct {
	ID          string // session id: unique in the dataset, key into inputs.json
	Turns       []Turn // never empty
	System      string // system message, "" = none
	UserContext string // user message before the first turn, "" = none
	Mode        Mode   // "" = DeltasWithoutResponses
}

// Live reports whether later turns repeat the answers that the server gave.
func (c *Conversation) Live() bool { return c.Mode == "" || c.Mode == DeltasWithoutResponses }

// Turn is one request of a conversation.
type Turn struct {
	Model     string   // "" = the first model of the run
	Role      string   // "" = user
	MaxTokens *int     // requested output length in tokens; nil = not asked
	Timestamp *float64 // ms on the trace's own clock; nil = none
	Delay     *float64 // ms after the end of the previous turn's answer; nil = none

	Branches []Branch // conversations that begin when the turn was answered

	Parts    []Part  // content of the turn, in order
	TokenIDs []int32 // the same as token ids, for types that accept them; nil = only the parts

	RawMessages  []json.RawMessage // ready messages that replace the parts; nil = build from the parts, empty = add nothing
	RawTools     json.RawMessage   // tool definitions for RawMessages; nil = none
	RawPayload   []byte            // whole request body, sent unchanged; nil = build one
	ExtraBody    json.RawMessage   // JSON object merged into the body, keys in this order; nil = none
	ExtraHeaders []Header          // headers of this request only

	// Counted is the only text of the turn if its tokens are known; the zero value = they are not.
	Counted CountedText

	Silent bool // nothing is sent: the turn only starts other conversations or waits for them

	// After lists the turns of other conversations that were answered when this turn was recorded (the latest of each); nil = unknown.
	After []TurnRef

	// Origin is where the turn was read ("file:line"), for error messages; "" for generated turns.
	Origin string
}

// CountedText is a text with its number of tokens for the tokenizer of the run's first model.
type CountedText struct {
	Text   string
	Tokens int // 0 = unknown
}

// TurnRef identifies a turn of a conversation of the dataset.
type TurnRef struct{ Conversation, Turn int }

// Branch is a conversation that a turn starts.
type Branch struct {
	Conversation int  // index in the dataset
	Fork         bool // begins with the turn's history and answer; otherwise it begins empty
	Join         int  // turn that waits for its end; 0 = none
	Before       bool // begins before the turn, not after it
}

// Header is one HTTP header.
type Header struct{ Name, Value string }
