package endpoint

import "aiperf/internal/measure/record"

// Reading decodes one answer, each message exactly once. It may begin while messages arrive (first content, failures of a stream) and continue
// between two turns (history). It ends when records become rows. Messages that nobody needs are not decoded. Only one goroutine at a time may use it.
type Reading struct {
	codec        Codec
	answer       Answer
	messagesRead int // number of messages read
	content      bool
	failure      *record.Error
	ended        bool
	result       Result
}

var _ record.Reading = (*Reading)(nil)

// NewReading begins to decode an answer. remember means that Memory will be called.
func NewReading(c Codec, remember bool) *Reading {
	return &Reading{codec: c, answer: c.NewAnswer(remember)}
}

// Content reads up to the first content, or to the last message so far. It reports whether there is content.
func (r *Reading) Content(messages []record.Message) (bool, *record.Error) {
	for !r.content && r.failure == nil && r.messagesRead < len(messages) {
		r.read(messages)
	}
	return r.content, r.failure
}

// All reads all messages so far.
func (r *Reading) All(messages []record.Message) *record.Error {
	for r.failure == nil && r.messagesRead < len(messages) {
		r.read(messages)
	}
	return r.failure
}

func (r *Reading) read(messages []record.Message) {
	if messages[r.messagesRead].IsPacked() {
		record.Unpack(messages)
	}
	content, failure := r.answer.Add(&messages[r.messagesRead], r.messagesRead)
	r.messagesRead++
	r.content = r.content || content
	r.failure = failure
}

// Next reads all messages so far and returns the follow-up request, if any. If its Forget is set, the caller must remove the last message.
func (r *Reading) Next(messages []record.Message) *FollowUp {
	if r.All(messages) != nil {
		return nil
	}
	f := r.answer.Next()
	if f != nil && f.Forget {
		r.messagesRead--
	}
	return f
}

// Memory returns what the answer leaves for later turns.
func (r *Reading) Memory(rec *record.Record) Memory {
	if rec.Error != nil && r.failure == nil {
		return nil // the transport failed; a failure inside the answer is up to the codec
	}
	return r.end(rec).Memory
}

// end reads the remaining messages and completes the answer.
func (r *Reading) end(rec *record.Record) *Result {
	if !r.ended {
		r.All(rec.Messages)
		if strict, ok := r.answer.(*strictAnswer); ok {
			strict.end(rec.Payload.Bytes())
		}
		r.result, r.ended = r.answer.Result(), true
		r.answer = nil
		r.restamp(rec.Messages)
	}
	return &r.result
}

// restamp copies the current instants of the messages to the contents. Contents read during arrival had the instant of the read, before the packets
// were queried.
func (r *Reading) restamp(messages []record.Message) {
	if r.result.Reply == nil {
		return
	}
	if reply := r.result.Reply; reply.End != 0 && reply.EndMessage < len(messages) {
		reply.End = messages[reply.EndMessage].At
	}
	for i := range r.result.Reply.Contents {
		if c := &r.result.Reply.Contents[i]; c.Message < len(messages) {
			c.At = messages[c.Message].At
		}
	}
}

// Failed reports whether the request failed as far as the load generator is concerned. It reads only up to the first content, unless later messages
// matter too.
func (r *Reading) Failed(rec *record.Record) bool {
	if rec.Error != nil {
		return true
	}
	if _, strict := r.answer.(*strictAnswer); strict {
		return r.end(rec).Failure != nil || r.failure != nil
	}
	content, failure := r.Content(rec.Messages)
	return !content || failure != nil
}

// Finish returns the reply and the error of the request; nil = a valid record. The error is the transport's, one that the server reported inside its
// answer, or InvalidInferenceResultError if no content arrived. The reply holds what arrived before an error. It does not point into the record.
func (r *Reading) Finish(rec *record.Record) (*record.Reply, *record.Error) {
	res := r.end(rec)
	switch {
	case rec.Error != nil:
		return res.Reply, rec.Error
	case r.failure != nil:
		return res.Reply, r.failure
	case res.Failure != nil:
		return res.Reply, res.Failure
	case rec.End != 0 && rec.Start >= rec.End:
		return res.Reply, &record.Error{Type: invalidResult, Message: "Invalid inference result: the request ended before it started"}
	}
	return res.Reply, nil
}

// invalidResult is the class of answers that arrived but hold no content.
const invalidResult = "InvalidInferenceResultError"

// DecodeOptions are the options of Decode.
type DecodeOptions struct {
	// NoInput skips the request payload: InputTexts and InputTokens stay empty.
	NoInput bool
}

// Decode finishes the reading of a record if one has begun, or reads the record from the start.
func Decode(c Codec, rec *record.Record, o DecodeOptions) (*record.Reply, *record.Error) {
	r := rec.Reading
	if r == nil {
		r = NewReading(c, false)
	}
	reply, failure := r.Finish(rec)
	if !o.NoInput {
		in := c.Input(rec.Payload.Bytes())
		reply.InputTexts, reply.InputTokens, reply.Images = in.Texts, in.Tokens, in.Images
	}
	return reply, failure
}
