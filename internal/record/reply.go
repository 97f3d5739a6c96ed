package record

// Reply is what an endpoint found in the messages of a record.
type Reply struct {
	Contents []Content // messages that carried content, in order of arrival
	Usage    *Usage    // the last non-empty usage object; nil = none
	// Output is all visible text of Contents joined, Reasoning all reasoning; the texts of Contents are cut from them.
	Output, Reasoning string
	// PerChunkTokens is the completion count that came with the first content message (--per-chunk-usage); -1 = none.
	PerChunkTokens int
	FinishReason   string
	// ServerError is the text of an error object that a reply without content carried; "" = none.
	ServerError string
	// InputTexts are the texts of the request payload that count as input, in order; joined by one blank they make the ISL text.
	InputTexts []string
	// InputTokens counts pre-tokenised ids in the payload.
	InputTokens int
	// OutputTokens counts the tokens of the answer that came as ids, or as a count in place of them, and not as text.
	OutputTokens int
	Images       int // images in the request payload
	// End is the instant of message EndMessage, which ends the answer without content of its own; 0 = the last of Contents ends it.
	End        int64
	EndMessage int
	Skipped    int // messages whose data was no usable JSON
	Job        *Job
	Drafts     *Drafts // nil = the server says nothing of it, or says it more than once
}

// Drafts is what a server that guesses tokens ahead (speculative decoding) says of a request.
type Drafts struct {
	Steps    int64   // of verification
	Accepted int64   // guessed tokens that were right
	Proposed int64   // guessed tokens
	Buckets  []int64 // steps by the number of tokens that were right in them, from 0 on
}

// Job is what a service says of a job that it has done. -1 = it did not say.
type Job struct {
	InferenceSeconds float64 // the service's own time
	PeakMemoryMB     float64
	Seconds          float64 // length of the film
}

// Content is one message that carried something.
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

// Visible tells whether the content holds output that a user sees (anything but reasoning alone).
func (c *Content) Visible() bool { return c.Kind != Reasoning || c.Text != "" }

// Usage is what the server counted. -1 = the server did not say.
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
	// Missing says why texts of the request were not counted; "" = nothing kept them from it.
	Missing string
}

// OSL is output + reasoning; -1 when both are unknown.
func (c Counts) OSL() int {
	if c.Output < 0 && c.Reasoning < 0 {
		return -1
	}
	return max(c.Output, 0) + max(c.Reasoning, 0)
}
