package endpoint

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/protobuf"
	"aiperf/internal/base/protobuf/protojson"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// reflectionMethod is gRPC's standard method to query the message types of a server's methods (grpc.reflection.v1).
const reflectionMethod = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"

// dynamicCodec calls any gRPC method by its description: a file written by protoc, or the server's answer to reflection (endpoints, section 11.4).
// Bodies are the protobuf JSON of a message, or {"messages": [...]} for several. Answers are the JSON of their messages.
type dynamicCodec struct {
	jsonType
	set    Settings
	path   string
	method atomic.Pointer[protojson.Method] // nil = not known yet
}

// maxDescriptors is the maximum size of a file of descriptors, in bytes.
const maxDescriptors = 64 << 20

func openDynamic(s Settings) (Codec, error) {
	field, err := responseField(&s)
	if err != nil {
		return nil, err
	}
	c := &dynamicCodec{set: s, path: "/" + strings.TrimPrefix(s.Method, "/"), jsonType: opaqueType()}
	if field != nil {
		c.jsonType = freeType(field)
	}
	if s.ReadOnly {
		return c, nil
	}
	if service, method, ok := strings.Cut(c.path[1:], "/"); !ok || service == "" || method == "" || strings.Contains(method, "/") {
		return nil, fmt.Errorf("%s: must be package.Service/Method, got %q", s.Spell.As("endpoint.grpc_method"), s.Method)
	}
	if s.Descriptors != "" {
		raw, err := boundedfile.ReadAll(s.Descriptors, maxDescriptors)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Spell.As("endpoint.grpc_descriptors"), err)
		}
		if err := c.describe(raw); err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.Spell.As("endpoint.grpc_descriptors"), s.Descriptors, err)
		}
	}
	return c, nil
}

// opaqueType returns a type whose every message counts as content, whatever it holds.
func opaqueType() jsonType {
	return jsonType{
		input:  func(*inputTexts, *jsontext.Scanner, []byte) bool { return false },
		member: func(*jsonAnswer, *jsontext.Scanner, []byte) bool { return false },
		after:  func(d *jsonAnswer) { d.chunk.kind, d.chunk.items = record.Other, 1 },
	}
}

// describe finds the method in a FileDescriptorSet.
func (c *dynamicCodec) describe(raw []byte) error {
	files, err := protojson.ParseFiles(raw)
	if err != nil {
		return err
	}
	service, method, _ := strings.Cut(c.path[1:], "/")
	methods, ok := files.Service(service)
	if !ok {
		return fmt.Errorf("it has no service %s", service)
	}
	m, ok := methods[method]
	if !ok {
		return fmt.Errorf("service %s has no method %s", service, method)
	}
	c.method.Store(m)
	return nil
}

// NewAnswer implements Codec.
func (c *dynamicCodec) NewAnswer(remember bool) Answer { return c.newAnswer(remember) }

// Input implements Codec. It returns nothing, because it is unknown which part of a message is the prompt.
func (c *dynamicCodec) Input([]byte) Input { return Input{} }

// Encode implements Codec.
func (c *dynamicCodec) Encode(t *conversation.Turn, _ *History) (Request, error) {
	if t.RawPayload == nil {
		return Request{}, invalid(t, `endpoint type dynamic_grpc sends complete messages; give a file of type raw_payload with rows {"messages": [MESSAGE, ...]}`)
	}
	if c.method.Load() != nil {
		if _, err := c.Marshal(c.path, record.Plain(t.RawPayload)); err != nil {
			return Request{}, invalid(t, "%v", err)
		}
	}
	return Request{Path: c.path, Body: record.Plain(t.RawPayload)}, nil
}

// Ask implements Learner.
func (c *dynamicCodec) Ask(string) *Request {
	if !c.Needs() {
		return nil
	}
	return &Request{Path: reflectionMethod}
}

// Needs implements Learner.
func (c *dynamicCodec) Needs() bool { return c.method.Load() == nil }

// Learn implements Learner.
func (c *dynamicCodec) Learn(_ string, answer []byte) ([]string, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.Trim(string(answer), `"`))
	if err == nil {
		err = c.describe(raw)
	}
	if err != nil {
		err = fmt.Errorf("the server's description of %s cannot be used: %w; give a descriptor file with %s", c.path[1:], err, c.set.Spell.As("endpoint.grpc_descriptors"))
	}
	return nil, err
}

// Streams implements RPC.
func (c *dynamicCodec) Streams(method string) bool {
	m := c.method.Load()
	return method != reflectionMethod && m != nil && m.StreamsResponses
}

// Marshal implements RPC.
func (c *dynamicCodec) Marshal(method string, whole record.Body) ([][]byte, error) {
	body := whole.Bytes()
	if method == reflectionMethod {
		service, _, _ := strings.Cut(c.path[1:], "/")
		var ask protobuf.Message // a ServerReflectionRequest
		ask.String(4, service)   // file_containing_symbol
		return [][]byte{ask}, nil
	}
	m := c.method.Load()
	if m == nil {
		return nil, fmt.Errorf("the input type of %s is unknown", c.path[1:])
	}
	list := []json.RawMessage{body}
	var several map[string]json.RawMessage
	if json.Unmarshal(body, &several) == nil && len(several) == 1 && several["messages"] != nil && !m.Input.HasField("messages") {
		list = nil // list shares the memory of the body
		if err := json.Unmarshal(several["messages"], &list); err != nil {
			return nil, fmt.Errorf("messages: must be a list, got %.80s", several["messages"])
		}
	}
	if len(list) != 1 && !m.StreamsRequests {
		return nil, fmt.Errorf("%s takes one message, got %d", c.path[1:], len(list))
	}
	messages := make([][]byte, len(list))
	for i, text := range list {
		var err error
		if messages[i], err = m.Input.Marshal(text); err != nil {
			return nil, fmt.Errorf("message %d is not of the type %s: %w", i+1, m.Input.Name, err)
		}
	}
	return messages, nil
}

// Unmarshal implements RPC. The answer of reflection is returned as a FileDescriptorSet in base64.
func (c *dynamicCodec) Unmarshal(method string, message []byte) ([]byte, *record.Error) {
	unread := func(err error) *record.Error {
		return &record.Error{Type: "DecodeError", Message: fmt.Sprintf("the answer to %s cannot be read: %v", method, err)}
	}
	if method == reflectionMethod {
		set, failure, err := readReflection(message)
		if err != nil {
			return nil, unread(err)
		}
		if failure != nil {
			return nil, failure
		}
		return []byte(`"` + base64.StdEncoding.EncodeToString(set) + `"`), nil
	}
	m := c.method.Load()
	if m == nil {
		return nil, unread(errors.New("its type is unknown"))
	}
	text, err := m.Output.Text(message)
	if err != nil {
		return nil, unread(err)
	}
	return text, nil
}

// readReflection reads a ServerReflectionResponse: a FileDescriptorSet, or an error of the server.
func readReflection(message []byte) (set protobuf.Message, failure *record.Error, err error) {
	for f, err := range protobuf.Fields(message) {
		if err != nil {
			return nil, nil, err
		}
		if f.ID != 4 && f.ID != 7 {
			continue
		}
		if f.ID == 7 { // error_response
			failure = &record.Error{Code: 404, Type: "ReflectionError"}
		}
		for inner, err := range protobuf.Fields(f.Content) {
			switch {
			case err != nil:
				return nil, nil, err
			case f.ID == 4 && inner.ID == 1: // file_descriptor_response.file_descriptor_proto
				set.Bytes(1, inner.Content)
			case f.ID == 7 && inner.ID == 2: // error_message
				failure.Message = string(inner.Content)
			}
		}
	}
	return set, failure, nil
}
