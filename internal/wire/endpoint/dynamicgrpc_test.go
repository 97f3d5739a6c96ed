package endpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
	"aiperf/internal/wire/openinference/openinferencepb"
	"aiperf/internal/workload/conversation"
)

// described writes the descriptors of the Open Inference Protocol to a file, as protoc does.
func describedFile(t *testing.T) string {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(openinferencepb.File_openinference_proto)}}
	raw, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "methods.pb")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDynamicMessages(t *testing.T) {
	c := codec(t, "dynamic_grpc", Settings{GRPC: true, Method: "inference.GRPCInferenceService/ModelStreamInfer", Descriptors: describedFile(t)})
	r := c.(RPC)
	if !r.Streams(openinference.ModelStreamInfer) || c.(Learner).Needs() {
		t.Error("the method is not known")
	}
	req, err := c.Encode(&conversation.Turn{RawPayload: []byte(`{"messages":[{"model_name":"a"},{"modelName":"b","id":"7"}]}`)}, &History{})
	if err != nil || req.Path != openinference.ModelStreamInfer {
		t.Fatalf("%+v %v", req, err)
	}
	list, err := r.Marshal(req.Path, req.Body)
	if err != nil || len(list) != 2 || string(list[0]) != "\n\x01a" || string(list[1]) != "\n\x01b\x1a\x017" {
		t.Errorf("%q %v", list, err)
	}
	text, failure := r.Unmarshal(req.Path, []byte("\x12\x03\n\x01m")) // field 2, a message with field 1
	if failure != nil || string(text) != `{"infer_response":{"model_name":"m"}}` {
		t.Errorf("%s %v", text, failure)
	}
	if _, failure := r.Unmarshal(req.Path, []byte{0xff}); failure == nil || failure.Type != "DecodeError" {
		t.Errorf("%v", failure)
	}
	reply, failed := Decode(c, &record.Record{Messages: []record.Message{{Line: true, Raw: append([]byte("data: "), text...)}}}, DecodeOptions{})
	if failed != nil || len(reply.Contents) != 1 || reply.Contents[0].Kind != record.Other {
		t.Errorf("%+v %v", reply, failed)
	}
	for body, want := range map[string]string{`{"no_such":1}`: "message 1 is not of the type inference.ModelInferRequest", `{"messages":3}`: "must be a list", `{`: "message 1"} {
		_, err := c.Encode(&conversation.Turn{RawPayload: []byte(body)}, &History{})
		contains(t, body, err, want)
	}
	_, err = c.Encode(&conversation.Turn{Parts: conversation.Texts("", "a")}, &History{})
	contains(t, "text", err, "sends complete messages")
	one := codec(t, "dynamic_grpc", Settings{Method: "inference.GRPCInferenceService/ModelInfer", Descriptors: describedFile(t)})
	_, err = one.Encode(&conversation.Turn{RawPayload: []byte(`{"messages":[{},{}]}`)}, &History{})
	contains(t, "unary", err, "takes one message, got 2")
}

// TestDynamicReflection: what a server tells by reflection describes the method; without it nothing is sent.
func TestDynamicReflection(t *testing.T) {
	c := codec(t, "dynamic_grpc", Settings{Method: "/inference.GRPCInferenceService/ModelInfer"})
	l, r := c.(Learner), c.(RPC)
	if ask := l.Ask("m"); ask.Path != reflectionMethod || !l.Needs() || r.Streams(ask.Path) {
		t.Errorf("%+v", ask)
	}
	if _, err := r.Marshal("/inference.GRPCInferenceService/ModelInfer", record.Plain([]byte("{}"))); err == nil {
		t.Error("a message of an unknown type was made")
	}
	ask, err := r.Marshal(reflectionMethod, record.Body{})
	if err != nil || !strings.Contains(string(ask[0]), "inference.GRPCInferenceService") {
		t.Errorf("%q %v", ask, err)
	}
	file, err := proto.Marshal(protodesc.ToFileDescriptorProto(openinferencepb.File_openinference_proto))
	if err != nil {
		t.Fatal(err)
	}
	part := append([]byte{0x0a}, varint(len(file))...)
	part = append(part, file...)
	answer := append(append([]byte{0x22}, varint(len(part))...), part...) // field 4: a list of files
	text, failure := r.Unmarshal(reflectionMethod, answer)
	if failure != nil {
		t.Fatal(failure)
	}
	if _, err := l.Learn("m", text); err != nil || l.Needs() {
		t.Fatal(err)
	}
	if list, err := r.Marshal("", record.Plain([]byte(`{"id":"7"}`))); err != nil || string(list[0]) != "\x1a\x017" {
		t.Errorf("%q %v", list, err)
	}
	other := codec(t, "dynamic_grpc", Settings{Method: "a.B/C"}).(Learner)
	_, err = other.Learn("m", text)
	contains(t, "other", err, "it has no service a.B")
	_, err = other.Learn("m", []byte(`"#"`))
	contains(t, "garbage", err, "the server's description of a.B/C cannot be used")
	for answer, message := range map[string]string{"\x0a\x01h\x3a\x06\x12\x04none": "none", "\x3a\x02\x08\x05": ""} { // field 1: the host
		if _, failure := r.Unmarshal(reflectionMethod, []byte(answer)); failure == nil || failure.Type != "ReflectionError" || failure.Message != message {
			t.Errorf("%q: %v", answer, failure)
		}
	}
	for _, s := range []Settings{{Method: "x"}, {}, {Method: "a/b/c"}, {Method: "a.B/C", Descriptors: "none.pb"}, {Method: "a.B/C", Descriptors: describedFile(t)},
		{Method: "inference.GRPCInferenceService/No", Descriptors: describedFile(t)}} {
		e, _, _ := Lookup("dynamic_grpc")
		if _, err := e.Open(s); err == nil {
			t.Errorf("%+v was opened", s)
		}
	}
}

// varint is a length as protobuf writes it.
func varint(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}
