package endpoint

import (
	"encoding/json"
	"fmt"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
)

// Streams implements RPC.
func (c *kserveCodec) Streams(method string) bool { return method == openinference.ModelStreamInfer }

// Marshal implements RPC: it converts the JSON form of a request to its message. Shared ranges are whole elements (tensorBody.pictures).
func (c *kserveCodec) Marshal(method string, body record.Body) (messages [][]byte, err error) {
	if method == openinference.ModelMetadata {
		ask := new(openinference.ModelRequest)
		if err := json.Unmarshal(body.Bytes(), ask); err != nil {
			return nil, fmt.Errorf("metadata request: %w", err)
		}
		return [][]byte{ask.Marshal()}, nil
	}
	m, err := openinference.ParseRequest(body.Ranges()...)
	if err != nil {
		return nil, err
	}
	return [][]byte{m.Marshal()}, nil
}

// Unmarshal implements RPC: it converts a message to its JSON form.
func (c *kserveCodec) Unmarshal(method string, message []byte) (text []byte, failure *record.Error) {
	unread := func(err error) *record.Error {
		return &record.Error{Type: "DecodeError", Message: fmt.Sprintf("the answer to %s cannot be read: %v", method, err)}
	}
	if method == openinference.ModelMetadata {
		m := new(openinference.Metadata)
		if err := m.Unmarshal(message); err != nil {
			return nil, unread(err)
		}
		text, err := json.Marshal(m)
		if err != nil {
			return nil, unread(err)
		}
		return text, nil
	}
	response := new(openinference.InferResponse)
	wrapped := new(openinference.StreamResponse)
	switch {
	case method == openinference.ModelStreamInfer && unwrapTriton(message, wrapped):
		if wrapped.ErrorMessage != "" {
			return nil, &record.Error{Code: 500, Type: "InferenceError", Message: wrapped.ErrorMessage}
		}
		if wrapped.Response != nil {
			response = wrapped.Response
		}
	default:
		if err := response.Unmarshal(message); err != nil {
			return nil, unread(err)
		}
	}
	text, err := openinference.AppendResponse(nil, response)
	if err != nil {
		return nil, unread(err)
	}
	return text, nil
}

// unwrapTriton reports whether a message of a stream is Triton's wrapper, which holds an error or a response. Other servers (MLServer) send the response
// itself, whose outputs have no field in Triton's message.
func unwrapTriton(message []byte, into *openinference.StreamResponse) bool {
	return into.Unmarshal(message) == nil && !into.Unknown
}
