package endpoint

import "aiperf/internal/record"

// RPC is a codec that also speaks gRPC. Requests and answers stay JSON texts, which records and exports hold; RPC translates them on the way.
// Its methods are called from many goroutines.
type RPC interface {
	// Streams tells whether a method answers with a stream of messages. Methods are paths: "/package.Service/Method".
	Streams(method string) bool
	// Marshal gives the messages of a request, in the order in which they are sent.
	Marshal(method string, body record.Body) (messages [][]byte, err error)
	// Unmarshal gives the text of a message of an answer. A failure is one that the server reports in the message, or a message that
	// cannot be read; nothing that counts follows it.
	Unmarshal(method string, message []byte) (text []byte, failure *record.Error)
}

// Learner is a codec that wants to know something of each model before the run.
type Learner interface {
	// Needs tells that nothing can be sent before the server has told.
	Needs() bool
	// Ask is the request that the server is asked with; nil = nothing is to be asked.
	Ask(model string) *Request
	// Learn takes the answer in. Remarks are for the user; an error says why the model cannot be used.
	Learn(model string, answer []byte) (remarks []string, err error)
}
