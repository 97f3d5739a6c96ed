package endpoint

import (
	"encoding/json"
	"fmt"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// Codec implements an endpoint type in one run: it converts turns to requests and messages to results. Its methods may be called from many
// goroutines.
type Codec interface {
	// Encode builds the request for a turn. A ready body (Turn.RawPayload) is sent unchanged. Errors are of type *FormatError.
	Encode(turn *conversation.Turn, history *History) (Request, error)
	// NewAnswer begins to read the answer to one request. With remember, Result includes the answer's Memory, which costs a copy of its text.
	NewAnswer(remember bool) Answer
	// Input returns the parts of a payload that count as input.
	Input(payload []byte) Input
}

// Request is a request to send. The sender adds the target, the credentials and the headers that all requests share.
type Request struct {
	Method string // "" = POST
	// Path is the target of the request. "" = the URL of the endpoint. "/path" = that path instead of the type's own, unless the user gave one.
	// "./path" = below the URL of the endpoint. "http…" = that URL. A host other than the endpoint's gets no credentials.
	Path        string
	ContentType string          // "" = that of the run, usually application/json
	Headers     []record.Header // headers of this request only
	Body        record.Body
	SentOnce    bool // the body is unique to this request, so that it is not sent again for the same turn
	// Listing returns the body for inputs.json; nil = the body that is sent. It may be called at any time.
	Listing func() []byte
}

// Listed returns the body for inputs.json.
func (r *Request) Listed() []byte {
	if r.Listing != nil {
		return r.Listing()
	}
	return r.Body.Bytes()
}

// History is what precedes a turn.
type History struct {
	System      string     // generated or given system message, "" = none
	UserContext string     // user message before the first turn, "" = none
	Past        []PastTurn // earlier turns of the session, in sending order
	RequestID   string     // id of this request; "" = the body is only for a listing
}

// PastTurn is an earlier turn with the memory of its answer.
type PastTurn struct {
	Turn  *conversation.Turn
	Reply Memory // nil = the request failed, the answer was empty, or the turns themselves include the answers
}

// First returns the earliest turn that the request covers: turn itself if there is no earlier one.
func (h *History) First(turn *conversation.Turn) *conversation.Turn {
	if len(h.Past) > 0 {
		return h.Past[0].Turn
	}
	return turn
}

// Memory is what an answer leaves for later turns. Only the codec that made it interprets it.
type Memory any

// Answer reads the messages of one answer, in order and each once.
type Answer interface {
	// Add reads the next message; index is its index among the messages of the record. content reports whether it has content. An error means that
	// the server reports a failure, and nothing after it counts.
	Add(m *record.Message, index int) (content bool, failure *record.Error)
	// Next returns the request that must follow before the answer is complete; nil = none.
	Next() *FollowUp
	// Result returns the decoded answer and ends it. The Answer must not be used afterwards.
	Result() Result
}

// FollowUp is a further request that an answer needs, for example a poll or a download.
type FollowUp struct {
	Request
	After  time.Duration // delay from the end of the last exchange
	Forget bool          // drop the message that led to this request from the record
	// Class is the error class of this exchange, "" = the transport's own.
	Class string
	// Redirects is how many redirects the exchange may follow.
	Redirects int
	// Late is the error of the record if the request timeout, counted from the first follow-up, has passed; nil = a plain timeout.
	Late *record.Error
}

// Result is a decoded answer.
type Result struct {
	Reply   *record.Reply // everything but the input
	Failure *record.Error // why the answer failed; nil = success
	Memory  Memory        // nil = none, or not requested
}

// Input is the part of a request that counts as input.
type Input struct {
	Texts  []string // in order
	Tokens int      // number of token ids in the input
	Images int
}

// Settings are the settings that all requests of a run share.
type Settings struct {
	Model     string         // for turns without a model
	Streaming bool           // request server-sent events
	ReadOnly  bool           // only decode answers; nothing is sent
	Extras    []Member       // replace generated members
	Framing   framing.Format `json:"-"` // of answers that stream, set by Endpoint.Codec
	Spell     setting.Spell  `json:"-"` // names of settings in errors

	// Tokens appends the token ids of a text for a model, without special tokens; nil = there is no tokenizer.
	Tokens func(ids []int32, model, text string) ([]int32, error) `json:"-"`

	LegacyMaxTokens   bool // max_tokens instead of max_completion_tokens (chat)
	ServerTokenCount  bool // the server's token counts are used (responses)
	PerChunkUsage     bool // ask for usage on every chunk (chat)
	Complete          bool // streams have to say that they are complete (chat)
	ForceContentParts bool // always send content as a list of parts (chat)

	ContentType  string        // body encoding that the user chose, "" = the type's own
	PollInterval time.Duration // between two polls of a job, 0 = 100 ms
	Timeout      time.Duration // request timeout, for messages; 0 = none
	Download     bool          // download the result of a job

	GRPC   bool   // send requests over gRPC
	Method string // gRPC method instead of the type's own, "" = the type's own
	// Descriptors is a file with the FileDescriptorSet of the method, "" = query the server.
	Descriptors string
	Backend     string // Triton backend: tensorrtllm (the same as ""), vllm
}

// Member is one named JSON value.
type Member struct {
	Key   string
	Value json.RawMessage
}

// model returns the model of a turn.
func (s *Settings) model(t *conversation.Turn) string {
	if t.Model != "" {
		return t.Model
	}
	return s.Model
}

// FormatError says why a body could not be built. The request becomes an error record and is not sent.
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

// rejectHistory returns an error if there is history and the type cannot send it.
func rejectHistory(t *conversation.Turn, h *History, name string) error {
	if len(h.Past) > 0 {
		return invalid(t, "endpoint type %s sends only one turn per conversation, and this is turn %d", name, len(h.Past)+1)
	}
	return nil
}
