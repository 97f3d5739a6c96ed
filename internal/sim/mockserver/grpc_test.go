package mockserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"aiperf/internal/wire/openinference"
	"aiperf/internal/wire/openinference/openinferencepb"
)

// library returns a connection of grpc-go to a new server.
func library(t *testing.T, query string) *grpc.ClientConn {
	t.Helper()
	s, _ := serve(t, query)
	cc, err := grpc.NewClient("passthrough:///"+s.listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return cc
}

// TestCallsOfTheLibrary: grpc-go with the generated messages gets answers from every method.
func TestCallsOfTheLibrary(t *testing.T) {
	cc := library(t, "tokens=3&ttft=0s&itl=0s")
	ready := new(openinferencepb.ModelReadyResponse)
	if err := cc.Invoke(t.Context(), openinference.ModelReady, &openinferencepb.ModelReadyRequest{Name: "m"}, ready); err != nil || !ready.GetReady() {
		t.Error(err)
	}
	about := new(openinferencepb.ModelMetadataResponse)
	if err := cc.Invoke(t.Context(), openinference.ModelMetadata, &openinferencepb.ModelMetadataRequest{Name: "m"}, about); err != nil || about.GetName() != "m" || len(about.GetInputs()) != len(tensors) {
		t.Errorf("%v %v", about, err)
	}
	ask := &openinferencepb.ModelInferRequest{ModelName: "m", Id: "7", Parameters: map[string]*openinferencepb.InferParameter{"max_tokens": {ParameterChoice: &openinferencepb.InferParameter_Int64Param{Int64Param: 3}}},
		Inputs: []*openinferencepb.ModelInferRequest_InferInputTensor{{Name: "text_input", Datatype: "BYTES", Shape: []int64{1}, Contents: &openinferencepb.InferTensorContents{BytesContents: [][]byte{[]byte("hello")}}},
			{Name: "stream", Datatype: "BOOL", Shape: []int64{1}, Contents: &openinferencepb.InferTensorContents{BoolContents: []bool{true}}}}}
	whole := new(openinferencepb.ModelInferResponse)
	if err := cc.Invoke(t.Context(), openinference.ModelInfer, ask, whole); err != nil || whole.GetId() != "7" || len(whole.GetOutputs()) != 1 {
		t.Errorf("%v %v", whole, err)
	}
	stream, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, openinference.ModelStreamInfer)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := stream.SendMsg(ask); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	messages := 0
	for ; ; messages++ {
		one := new(openinferencepb.ModelStreamInferResponse)
		if err := stream.RecvMsg(one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text.Write(one.GetInferResponse().GetOutputs()[0].GetContents().GetBytesContents()[0])
	}
	words := whole.GetOutputs()[0].GetContents().GetBytesContents()[0]
	if messages != 6 || len(bytes.Fields(text.Bytes())) < 2*len(bytes.Fields(words)) {
		t.Errorf("%d messages, %q; the whole answer was %q", messages, text.Bytes(), words)
	}
	if err := cc.Invoke(t.Context(), "/inference.GRPCInferenceService/None", ask, whole); status.Code(err) != codes.Unimplemented {
		t.Error(err)
	}
}

// TestFailuresOfTheLibrary: what the script makes fail has the code of the HTTP status with grpc-go.
func TestFailuresOfTheLibrary(t *testing.T) {
	for http, code := range map[int]codes.Code{400: codes.InvalidArgument, 401: codes.Unauthenticated, 403: codes.PermissionDenied, 404: codes.NotFound, 429: codes.ResourceExhausted,
		499: codes.Canceled, 500: codes.Internal, 501: codes.Unimplemented, 503: codes.Unavailable, 504: codes.DeadlineExceeded, 418: codes.Internal} {
		if got := grpcCode(http); codes.Code(got) != code {
			t.Errorf("%d: %v, want %v", http, got, code)
		}
	}
}

// TestReflectionOfTheLibrary: the types that reflection describes are those of the generated code.
func TestReflectionOfTheLibrary(t *testing.T) {
	cc := library(t, "")
	stream, err := reflection.NewServerReflectionClient(cc).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *reflection.ServerReflectionRequest) *reflection.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(r); err != nil {
			t.Fatal(err)
		}
		answer, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	symbol := func(name string) *reflection.ServerReflectionRequest {
		return &reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}}
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(protodesc.ToFileDescriptorProto(openinferencepb.File_openinference_proto))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*reflection.ServerReflectionRequest{symbol("inference.GRPCInferenceService"), {MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: "openinference.proto"}}} {
		if files := ask(r).GetFileDescriptorResponse().GetFileDescriptorProto(); len(files) != 1 || !bytes.Equal(files[0], want) {
			t.Errorf("%v: %d files", r, len(files))
		}
	}
	if e := ask(symbol("other.Thing")).GetErrorResponse(); codes.Code(e.GetErrorCode()) != codes.NotFound || e.GetErrorMessage() != "not found: other.Thing" {
		t.Error(e)
	}
	all := ask(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{ListServices: "*"}})
	if s := all.GetListServicesResponse().GetService(); len(s) != 3 || s[0].GetName() != openinference.Service {
		t.Error(fmt.Sprint(s))
	}
	other := ask(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_AllExtensionNumbersOfType{AllExtensionNumbersOfType: "x"}})
	if codes.Code(other.GetErrorResponse().GetErrorCode()) != codes.Unimplemented {
		t.Error(other)
	}
}
