package endpoint

import (
	"encoding/json"
	"fmt"
	"time"

	"aiperf/internal/conversation"
	"aiperf/internal/record"
	"aiperf/internal/setting"
)

// Codec is how an endpoint type speaks in one run: turns to requests, messages to results. Its methods are called from many goroutines.
type Codec interface {
	// Encode puts a turn into words; a ready body (Turn.RawPayload) goes out as it is. Errors are of type *FormatError.
	Encode(turn *conversation.Turn, history *History) (Request, error)
	// NewAnswer begins to read the answer to one request. remember asks for the answer's Memory, which costs a copy of its text.
	NewAnswer(remember bool) Answer
	// Input reads out of a payload what counts as input.
	Input(payload []byte) Input
}

// Request is what is to be sent. Target, credentials and the headers that all requests share are the sender's.
type Request struct {
	Method string // "" = POST
	// Path is where the request goes: "" = the URL of the endpoint; "/path" = that path in place of the type's own, unless the user gave
	// one; "./path" = below the URL of the endpoint; "http…" = that URL. Another host than the endpoint's gets no credentials.
	Path        string
	ContentType string          // "" = the run's, application/json as a rule
	Headers     []record.Header // of this request alone
	Body        record.Body
	Once        bool // holds something of this request alone, so that it is not sent again for the same turn
	// Listing gives the body as inputs.json shows it; nil = as it is sent. It may be called at any time.
	Listing func() []byte
}

// Listed is the body as inputs.json shows it.
func (r *Request) Listed() []byte {
	if r.Listing != nil {
		return r.Listing()
	}
	return r.Body.Bytes()
}

// History is what came before a turn.
type History struct {
	System      string // generated or given system message, "" = none
	UserContext string // user message ahead of the first turn, "" = none
	Past        []Past // earlier turns of the session, in the order in which they were sent
	RequestID   string // of this request; "" = it is formatted for a listing only
}

// Past is an earlier turn with what its answer left.
type Past struct {
	Turn  *conversation.Turn
	Reply Memory // nil = the request failed, answered nothing, or the turns themselves hold the answers
}

// First is the earliest turn that the request speaks of: turn itself if there is no earlier one.
func (h *History) First(turn *conversation.Turn) *conversation.Turn {
	if len(h.Past) > 0 {
		return h.Past[0].Turn
	}
	return turn
}

// Memory is what an answer leaves for later turns. Only the codec that made it looks inside.
type Memory any

// Answer reads the messages of one answer, each once and in order.
type Answer interface {
	// Add takes in the next message; index is its place among those that are kept. content tells whether it carries content. An error
	// means that the server reports a failure: nothing that counts follows.
	Add(m *record.Message, index int) (content bool, failure *record.Error)
	// Next gives the request that is to follow before the answer is whole; nil = it is whole, or never will be.
	Next() *FollowUp
	// Result says what the messages said. It ends the answer, which must not be used afterwards.
	Result() Result
}

// FollowUp is a further request that an answer asks for: a poll, a download.
type FollowUp struct {
	Request
	After  time.Duration // from the end of the last exchange
	Forget bool          // the message that led here is no part of the record
	// Class is the class of the error of this exchange, "" = the transport's own.
	Class string
	// Redirects is how often the exchange may be sent on to another address.
	Redirects int
	// Late is the error of the record when the request timeout, counted from the first follow-up, has passed; nil = a plain timeout.
	Late *record.Error
}

// Result is what an answer says.
type Result struct {
	Reply   *record.Reply // all but its input
	Failure *record.Error // why the answer is no success; nil = it is one
	Memory  Memory        // nil = nothing, or nobody asked
}

// Input is what counts as input of a request.
type Input struct {
	Texts  []string // in order
	Tokens int      // ids that were tokens already
	Images int
}

// Settings are what the requests of a run share.
type Settings struct {
	Model     string        // for turns that name none
	Streaming bool          // answers are to come as events
	ReadOnly  bool          // answers are read alone: nothing is sent
	Extras    []Member      // over the generated members
	Spell     setting.Spell `json:"-"` // words the settings that errors speak of

	// Tokens appends the token ids of a text for a model, without special tokens; nil = there is no tokenizer.
	Tokens func(ids []int32, model, text string) ([]int32, error) `json:"-"`

	LegacyMaxTokens   bool // max_tokens instead of max_completion_tokens (chat)
	ServerTokenCount  bool // the server's token counts are used (responses)
	PerChunkUsage     bool // ask for usage on every chunk (chat)
	Complete          bool // streams have to say that they are complete (chat)
	ForceContentParts bool // content is always a list of parts (chat)

	ContentType  string        // encoding of bodies that the user asked for, "" = the type's own
	PollInterval time.Duration // between two looks at a job, 0 = 100 ms
	Timeout      time.Duration // of a request, for messages; 0 = none
	Download     bool          // fetch what a job made

	GRPC   bool   // requests go over gRPC
	Method string // gRPC method in place of the type's own, "" = that
	// Descriptors is a file with a FileDescriptorSet of the method, "" = the server is asked.
	Descriptors string
	Backend     string // of Triton: tensorrtllm (as ""), vllm
}

// Member is one named JSON value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// model is the model that a turn asks for.
func (s *Settings) model(t *conversation.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return s.Model
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

// alone refuses history for a type that sends none.
func alone(t *conversation.Turn, h *History, name string) error {
	if len(h.Past) > 0 {
		return invalid(t, "endpoint type %s sends exactly one turn, this is turn %d of the conversation", name, len(h.Past)+1)
	}
	return nil
}
