package metric

import (
	"strings"

	"aiperf/internal/record"
)

// Class says which metrics a request goes into.
type Class uint8

// The classes.
const (
	Valid  Class = iota
	Failed       // in the error metrics only; a request cancelled by a cancellation rate is one of them
	Cut          // cut off by the run itself (deadline, interrupt): in no metric
)

// invalid is the type of failure of a reply that cannot be used, spelled as the Python tool does.
const invalid = "InvalidInferenceResultError"

// Failure says why a request failed: what the transport saw, what the server said, or that nothing usable came. nil = it is valid.
func Failure(rec *record.Record, reply *record.Reply) *record.Error {
	switch {
	case rec.Error != nil:
		return rec.Error
	case reply != nil && reply.ServerError != "":
		return &record.Error{Type: invalid, Message: reply.ServerError}
	case reply == nil || len(reply.Contents) == 0:
		return &record.Error{Type: invalid, Message: "no message of the response carried content"}
	case rec.Start <= 0 || rec.End <= rec.Start:
		return &record.Error{Type: invalid, Message: "the request ended before it began"}
	}
	for i := range reply.Contents {
		if reply.Contents[i].At < rec.Start {
			return &record.Error{Type: invalid, Message: "a message arrived before the request began"}
		}
	}
	return nil
}

// overflowWords are what servers write when a prompt is longer than the model's context, in lower case.
var overflowWords = []string{
	"context length", "context window", "maximum context", "context_length_exceeded", "prompt is too long", "max_model_len",
	"longer than the maximum model length", "input is too long", "input length exceeds",
}

// Overflows tells whether an error says that the prompt exceeds the context window.
func Overflows(e *record.Error) bool {
	if e.Code < 400 || e.Code >= 500 || e.Code == 499 {
		return false
	}
	text := strings.ToLower(e.Message)
	for _, w := range overflowWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
