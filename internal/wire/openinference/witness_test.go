package openinference

import (
	"bytes"
	"encoding/json"
	"testing"

	"google.golang.org/protobuf/proto"

	"aiperf/internal/wire/openinference/openinferencepb"
)

// message is a message of this package.
type message interface {
	Marshal() []byte
	Unmarshal([]byte) error
}

// compare reads bytes as a message of this package and as the generated one, and writes both. It returns whether both accept the bytes.
func compare(t *testing.T, raw []byte, ours message, theirs proto.Message) bool {
	t.Helper()
	err, reference := ours.Unmarshal(raw), proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(raw, theirs)
	if (err != nil) != (reference != nil) {
		t.Fatalf("% x as %T: error %v, that of the generated code %v", raw, ours, err, reference)
	}
	if err != nil {
		return false
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if got := ours.Marshal(); !bytes.Equal(got, want) {
		t.Fatalf("%T:\n% x\nwant\n% x", ours, got, want)
	}
	return true
}

// seeds are messages with every field, of the generated code.
func seeds(t testing.TB) (list [][]byte) {
	t.Helper()
	parameters := map[string]*openinferencepb.InferParameter{
		"a": {ParameterChoice: &openinferencepb.InferParameter_BoolParam{BoolParam: true}}, "b": {ParameterChoice: &openinferencepb.InferParameter_Int64Param{Int64Param: -1}},
		"c": {ParameterChoice: &openinferencepb.InferParameter_StringParam{StringParam: ""}}, "d": {ParameterChoice: &openinferencepb.InferParameter_DoubleParam{DoubleParam: 0.5}},
		"": {ParameterChoice: &openinferencepb.InferParameter_Uint64Param{Uint64Param: 5}}, "e": {}}
	contents := &openinferencepb.InferTensorContents{BoolContents: []bool{true, false}, IntContents: []int32{-1, 2}, Int64Contents: []int64{-3}, UintContents: []uint32{4},
		Uint64Contents: []uint64{1 << 63}, Fp32Contents: []float32{0.5, -1}, Fp64Contents: []float64{0.25}, BytesContents: [][]byte{{}, []byte("é")}}
	response := &openinferencepb.ModelInferResponse{ModelName: "m", ModelVersion: "1", Id: "i", Parameters: parameters, RawOutputContents: [][]byte{{1, 0, 0, 0, 'a'}, {}},
		Outputs: []*openinferencepb.ModelInferResponse_InferOutputTensor{{Name: "o", Datatype: "BYTES", Shape: []int64{-1, 2}, Parameters: parameters, Contents: contents}, {}}}
	for _, m := range []proto.Message{
		response, &openinferencepb.ModelStreamInferResponse{ErrorMessage: "e", InferResponse: response},
		&openinferencepb.ModelInferRequest{ModelName: "m", ModelVersion: "1", Id: "i", Parameters: parameters, RawInputContents: [][]byte{{1}},
			Inputs:  []*openinferencepb.ModelInferRequest_InferInputTensor{{Name: "t", Datatype: "FP32", Shape: []int64{1}, Parameters: parameters, Contents: contents}},
			Outputs: []*openinferencepb.ModelInferRequest_InferRequestedOutputTensor{{Name: "o", Parameters: parameters}, {}}},
		&openinferencepb.ModelMetadataRequest{Name: "n", Version: "v"},
		&openinferencepb.ModelMetadataResponse{Name: "n", Versions: []string{"1", ""}, Platform: "p",
			Inputs:  []*openinferencepb.ModelMetadataResponse_TensorMetadata{{Name: "x", Datatype: "FP32", Shape: []int64{-1, 1}}, {}},
			Outputs: []*openinferencepb.ModelMetadataResponse_TensorMetadata{{Name: "y"}}},
		&openinferencepb.ModelReadyResponse{Ready: true},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, raw)
	}
	return list
}

// TestSeedsAreRead: each seed is accepted as what it is, so that the comparison below compares something.
func TestSeedsAreRead(t *testing.T) {
	list := seeds(t)
	for i, ok := range []bool{
		compare(t, list[0], new(InferResponse), new(openinferencepb.ModelInferResponse)),
		compare(t, list[1], new(StreamResponse), new(openinferencepb.ModelStreamInferResponse)),
		compare(t, list[2], new(InferRequest), new(openinferencepb.ModelInferRequest)),
		compare(t, list[3], new(ModelRequest), new(openinferencepb.ModelMetadataRequest)),
		compare(t, list[4], new(Metadata), new(openinferencepb.ModelMetadataResponse)),
	} {
		if !ok {
			t.Errorf("seed %d was rejected", i)
		}
	}
	if ready := (&ReadyResponse{Ready: true}).Marshal(); !bytes.Equal(ready, list[5]) {
		t.Errorf("% x, want % x", ready, list[5])
	}
}

// FuzzMessages: whatever arrives is read and written as by the generated code, and the JSON form of a response is JSON or an error.
func FuzzMessages(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		response := new(InferResponse)
		if compare(t, raw, response, new(openinferencepb.ModelInferResponse)) {
			if b, err := AppendResponse(nil, response); err == nil && !json.Valid(b) {
				t.Fatalf("%s", b)
			}
		}
		stream, generated := new(StreamResponse), new(openinferencepb.ModelStreamInferResponse)
		if compare(t, raw, stream, generated) {
			if proto.Unmarshal(raw, generated) != nil || stream.Unknown != (len(generated.ProtoReflect().GetUnknown()) > 0) {
				t.Fatalf("% x: unknown fields: %v", raw, stream.Unknown)
			}
		}
		compare(t, raw, new(InferRequest), new(openinferencepb.ModelInferRequest))
		compare(t, raw, new(ModelRequest), new(openinferencepb.ModelMetadataRequest))
		compare(t, raw, new(Metadata), new(openinferencepb.ModelMetadataResponse))
	})
}
