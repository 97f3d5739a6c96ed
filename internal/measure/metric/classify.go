package metric

import (
	"strings"

	"aiperf/internal/measure/record"
)

// Class determines which metrics include a request.
type Class uint8

// The classes.
const (
	Valid  Class = iota
	Failed       // only in the error metrics; includes requests cancelled by a cancellation rate
	Cut          // stopped by the run itself (deadline, interrupt): in no metric
)

// invalid is the error type of an unusable reply, as in the Python tool.
const invalid = "InvalidInferenceResultError"

// Failure returns why a request failed: the transport's error, the server's, or that there was no usable reply. nil = the request is valid.
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

// overflowWords are parts of server errors about a prompt that exceeds the model's context, in lower case.
var overflowWords = []string{
	"context length", "context window", "maximum context", "context_length_exceeded", "prompt is too long", "max_model_len",
	"longer than the maximum model length", "input is too long", "input length exceeds",
}

// Overflows reports whether an error means that the prompt exceeds the context window.
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
