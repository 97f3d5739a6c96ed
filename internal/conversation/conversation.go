// Package conversation holds what is sent: conversations of turns, as plain data. Datasets make them, endpoints put them into
// words, the load generator decides when their turns leave.
package conversation

import "encoding/json"

// Mode says how the history of a conversation is made part of the next request.
type Mode string

// The modes of the contract (datasets, section 1.4).
const (
	DeltasWithoutResponses    Mode = "deltas_without_responses"     // earlier turns + live answers + this turn (default)
	DeltasWithResponses       Mode = "deltas_with_responses"        // earlier turns + this turn; they hold the answers
	MessageArrayWithResponses Mode = "message_array_with_responses" // this turn alone is the whole request
)

// Conversation is one entry of a dataset.
type Conversation struct {
	ID          string // session id: unique in the dataset, key into inputs.json
	Turns       []Turn // never empty
	System      string // system message, "" = none
	UserContext string // user message before the first turn, "" = none
	Mode        Mode   // "" = DeltasWithoutResponses
}

// Live tells whether the answers that come are part of what later turns send.
func (c *Conversation) Live() bool { return c.Mode == "" || c.Mode == DeltasWithoutResponses }

// Turn is one request of a conversation.
type Turn struct {
	Model     string   // "" = the first model of the run
	Role      string   // "" = user
	MaxTokens *int     // requested output length in tokens; nil = not asked
	Timestamp *float64 // ms on the trace's own clock; nil = none
	Delay     *float64 // ms after the end of the previous turn's answer; nil = none

	Branches []Branch // conversations that begin when the turn has been answered

	Parts    []Part  // what the turn says, in order
	TokenIDs []int32 // the same as token ids, for types that take them; nil = the parts are all there is

	RawMessages  []json.RawMessage // ready messages, replace the parts; nil = build from the parts, empty = add nothing
	RawTools     json.RawMessage   // tool definitions beside RawMessages; nil = none
	RawPayload   []byte            // whole request body, sent verbatim; nil = build one
	ExtraBody    json.RawMessage   // JSON object merged over the body, keys in the order given; nil = none
	ExtraHeaders []Header          // headers of this request alone

	Silent bool // nothing is sent: the turn only starts others, or waits for them

	// After are the turns of other conversations that had been answered when this one was recorded (the latest of each); nil = not known.
	After []TurnRef

	// Origin is where the turn was read ("file:line"), for error messages; "" for generated turns.
	Origin string
}

// TurnRef is a turn of a conversation of the dataset.
type TurnRef struct{ Conversation, Turn int }

// Branch is a conversation that a turn starts.
type Branch struct {
	Conversation int  // index in the dataset
	Fork         bool // begins with the turn's history and answer; else it begins empty
	Join         int  // turn that waits for its end; 0 = none
	Before       bool // begins before the turn, not after it
}

// Header is one HTTP header.
type Header struct{ Name, Value string }
