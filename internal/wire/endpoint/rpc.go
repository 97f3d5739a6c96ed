package endpoint

import "aiperf/internal/measure/record"

// RPC is a codec that also supports gRPC. Requests and answers remain JSON texts, as in records and exports; RPC translates them for the wire. Its
// methods may be called from many goroutines.
type RPC interface {
	// Streams reports whether a method answers with a stream of messages. Methods are paths: "/package.Service/Method".
	Streams(method string) bool
	// Marshal returns the messages of a request, in sending order.
	Marshal(method string, body record.Body) (messages [][]byte, err error)
	// Unmarshal returns the text of an answer's message. A failure is one that the server reports in the message, or a message that cannot be parsed.
	// Nothing after it counts.
	Unmarshal(method string, message []byte) (text []byte, failure *record.Error)
}

// Learner is a codec that needs a description of each model before the run.
type Learner interface {
	// Needs reports whether no request can be sent before Learn has succeeded.
	Needs() bool
	// Ask returns the request for the description; nil = none is needed.
	Ask(model string) *Request
	// Learn processes the answer. Remarks are for the user; an error says why the model cannot be used.
	Learn(model string, answer []byte) (remarks []string, err error)
}
