package endpoint

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/proto"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
)

// Streams implements RPC.
func (c *kserveCodec) Streams(method string) bool { return method == openinference.ModelStreamInfer }

// Marshal implements RPC: it converts the JSON form of a request to its message. Shared ranges are whole elements (tensorBody.pictures).
func (c *kserveCodec) Marshal(method string, body record.Body) (messages [][]byte, err error) {
	var m proto.Message
	if method == openinference.ModelMetadata {
		ask := new(openinference.ModelMetadataRequest)
		if err := json.Unmarshal(body.Bytes(), ask); err != nil {
			return nil, fmt.Errorf("metadata request: %w", err)
		}
		m = ask
	} else if m, err = openinference.ParseRequest(body.Ranges()...); err != nil {
		return nil, err
	}
	raw, err := proto.Marshal(m)
	return [][]byte{raw}, err
}

// Unmarshal implements RPC: it converts a message to its JSON form.
func (c *kserveCodec) Unmarshal(method string, message []byte) (text []byte, failure *record.Error) {
	unread := func(err error) *record.Error {
		return &record.Error{Type: "DecodeError", Message: fmt.Sprintf("the answer to %s cannot be read: %v", method, err)}
	}
	if method == openinference.ModelMetadata {
		m := new(openinference.ModelMetadataResponse)
		if err := proto.Unmarshal(message, m); err != nil {
			return nil, unread(err)
		}
		text, err := json.Marshal(m)
		if err != nil {
			return nil, unread(err)
		}
		return text, nil
	}
	response := new(openinference.ModelInferResponse)
	wrapped := new(openinference.ModelStreamInferResponse)
	switch {
	case method == openinference.ModelStreamInfer && unwrapTriton(message, wrapped):
		if wrapped.GetErrorMessage() != "" {
			return nil, &record.Error{Code: 500, Type: "InferenceError", Message: wrapped.GetErrorMessage()}
		}
		response = wrapped.GetInferResponse()
	default:
		if err := proto.Unmarshal(message, response); err != nil {
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
func unwrapTriton(message []byte, into *openinference.ModelStreamInferResponse) bool {
	return proto.Unmarshal(message, into) == nil && len(into.ProtoReflect().GetUnknown()) == 0
}
