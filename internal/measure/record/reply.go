package record

// Reply is an endpoint's interpretation of the messages of a record.
type Reply struct {
	Contents []Content // messages with content, in order of arrival
	Usage    *Usage    // the last non-empty usage object; nil = none
	// Output is all visible text of Contents joined, Reasoning all reasoning. The texts of Contents share their memory.
	Output, Reasoning string
	// PerChunkTokens is the completion count of the first content message (--per-chunk-usage); -1 = none.
	PerChunkTokens int
	FinishReason   string
	// ServerError is the text of an error object in a reply without content; "" = none.
	ServerError string
	// InputTexts are the texts of the request payload that count as input, in order. Joined by single blanks they are the ISL text.
	InputTexts []string
	// InputTokens is the number of token ids in the payload.
	InputTokens int
	// OutputTokens is the number of tokens of the answer that arrived as ids or as a count, not as text.
	OutputTokens int
	Images       int // images in the request payload
	// End is the instant of message EndMessage, which ends the answer and has no content; 0 = the last of Contents ends it.
	End        int64
	EndMessage int
	Unreadable int // messages that are not JSON: nothing in them was used
	// MoreChoices says that messages have text in several choices, because the request asked for them ("n"). Only the first choice is part of the reply.
	MoreChoices bool
	// AlternatingChoices says that choices after the first came in separate messages. All of them are part of the reply.
	AlternatingChoices bool
	// EarlyUsage says that content came after the last usage object, whose counts may therefore be too low.
	EarlyUsage bool
	Job        *Job
	Drafts     *Drafts // nil = the server reports none, or more than one
}

// Drafts is a server's report on speculative decoding in a request.
type Drafts struct {
	Steps    int64   // verification steps
	Accepted int64   // proposed tokens that were accepted
	Proposed int64   // proposed tokens
	Buckets  []int64 // steps by their number of accepted tokens, from 0 on
}

// Job is a service's report on a finished job. -1 = not reported.
type Job struct {
	InferenceSeconds float64 // time measured by the service
	PeakMemoryMB     float64
	Seconds          float64 // length of the video
}

// Content is one message with content.
type Content struct {
	At        int64 // instant of its message
	Message   int   // index into Record.Messages
	Kind      Kind
	Text      string // visible output: prose and tool-call text
	Reasoning string
}

// Kind classifies a content message.
type Kind uint8

// Kinds of content.
const (
	Text Kind = iota
	Reasoning
	ToolCall
	Embeddings
	Rankings
	Images
	Video
	Transcription
	Other
)

// Visible reports whether the content has output that a user sees (anything except reasoning alone).
func (c *Content) Visible() bool { return c.Kind != Reasoning || c.Text != "" }

// Usage holds the server's token counts. -1 = not reported.
type Usage struct {
	Prompt, Completion, Total                   int64
	Reasoning                                   int64
	CacheRead, CacheWrite, CacheMiss            int64
	PromptAudio, CompletionAudio, ToolUsePrompt int64
	AcceptedPrediction, RejectedPrediction      int64
	PromptAudioSeconds                          float64
}

// Counts are the token counts of one record. -1 = unknown.
type Counts struct {
	Input     int // ISL
	Output    int // visible output tokens
	Reasoning int
	// Missing is why texts of the request were not counted; "" = they were.
	Missing string
}

// OSL returns output plus reasoning tokens; -1 if both are unknown.
func (c Counts) OSL() int {
	if c.Output < 0 && c.Reasoning < 0 {
		return -1
	}
	return max(c.Output, 0) + max(c.Reasoning, 0)
}
