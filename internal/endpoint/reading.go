package endpoint

import (
	"aiperf/internal/record"
)

// Reading is the one reading of an answer. It may begin while the messages arrive (first content, failures of a stream), go on between
// two turns (history) and end where records become rows: every message is decoded once, and by nobody who does not need it. It is used by
// one goroutine at a time.
type Reading struct {
	codec   Codec
	answer  Answer
	taken   int // messages that were read
	content bool
	failure *record.Error
	over    bool
	result  Result
}

// NewReading begins to read an answer. remember: its Memory will be asked for.
func NewReading(c Codec, remember bool) *Reading {
	return &Reading{codec: c, answer: c.NewAnswer(remember)}
}

// Content reads on to the first content, or to the end of what has come; it tells whether there is content.
func (r *Reading) Content(messages []record.Message) (bool, *record.Error) {
	for !r.content && r.failure == nil && r.taken < len(messages) {
		r.read(messages)
	}
	return r.content, r.failure
}

// All reads everything that has come.
func (r *Reading) All(messages []record.Message) *record.Error {
	for r.failure == nil && r.taken < len(messages) {
		r.read(messages)
	}
	return r.failure
}

func (r *Reading) read(messages []record.Message) {
	content, failure := r.answer.Add(&messages[r.taken], r.taken)
	r.taken++
	r.content = r.content || content
	r.failure = failure
}

// Next reads everything that has come and gives the request that is to follow. When it says Forget, the caller takes the last message out.
func (r *Reading) Next(messages []record.Message) *FollowUp {
	if r.All(messages) != nil {
		return nil
	}
	f := r.answer.Next()
	if f != nil && f.Forget {
		r.taken--
	}
	return f
}

// Memory is what the answer leaves for later turns.
func (r *Reading) Memory(rec *record.Record) Memory {
	if rec.Error != nil && r.failure == nil {
		return nil // it failed on its way; what the server reports inside its answer is the codec's to judge
	}
	return r.end(rec).Memory
}

// end reads the rest and closes the answer.
func (r *Reading) end(rec *record.Record) *Result {
	if !r.over {
		r.All(rec.Messages)
		if strict, ok := r.answer.(*strictAnswer); ok {
			strict.end(rec.Payload.Bytes())
		}
		r.result, r.over = r.answer.Result(), true
		r.answer = nil
		r.restamp(rec.Messages)
	}
	return &r.result
}

// restamp gives the contents the instants that their messages have now: those that were read as they came had the read's own, before the
// packets were asked.
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

// Failed tells whether the request failed as far as the load needs to know: it reads on to the first content and no further, unless what
// comes later counts too.
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

// Finish gives the reply and says whether the request succeeded: the error is the transport's own, one that the server reported inside
// its answer, or InvalidInferenceResultError where nothing came that is content; nil = a valid record. The reply holds what arrived
// before an error. Nothing in it points into the record.
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

// invalidResult is the class of answers that arrived and are no use.
const invalidResult = "InvalidInferenceResultError"

// DecodeOptions say what a reader of answers wants.
type DecodeOptions struct {
	// NoInput leaves the request payload alone: InputTexts and InputTokens stay empty.
	NoInput bool
}

// Decode finishes the reading that is attached to a record, or reads the record from the start.
func Decode(c Codec, rec *record.Record, o DecodeOptions) (*record.Reply, *record.Error) {
	r, begun := rec.Attached().(*Reading)
	if !begun {
		r = NewReading(c, false)
	}
	reply, failure := r.Finish(rec)
	if !o.NoInput {
		in := c.Input(rec.Payload.Bytes())
		reply.InputTexts, reply.InputTokens, reply.Images = in.Texts, in.Tokens, in.Images
	}
	return reply, failure
}
