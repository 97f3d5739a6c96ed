package openinference

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
)

func TestParseRequest(t *testing.T) {
	in, err := ParseRequest([]byte(`{"model_name":"m","id":"7","parameters":{"a":true,"b":3,"c":"x","d":1.5,"e":[1]},
		"inputs":[{"name":"t","shape":[1,1],"datatype":"BYTES","data":[["hé"]]},{"name":"n","shape":[2],"datatype":"INT32","data":[1,-2]},
		{"name":"u","shape":[1],"datatype":"UINT64","data":[18446744073709551615]},{"name":"l","shape":[1],"datatype":"INT64","data":[-9]},
		{"name":"s","shape":[1],"datatype":"UINT8","data":[9]},{"name":"f","shape":[1],"datatype":"FP32","data":[0.5]},
		{"name":"g","shape":[1],"datatype":"FP64","data":[0.25]},{"name":"b","shape":[1],"datatype":"BOOL","data":[true]}],"outputs":[{"name":"o"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := in.GetParameters()
	if in.GetModelName() != "m" || in.GetId() != "7" || !p["a"].GetBoolParam() || p["b"].GetInt64Param() != 3 || p["c"].GetStringParam() != "x" ||
		p["d"].GetDoubleParam() != 1.5 || p["e"].GetStringParam() != "[1]" || in.GetOutputs()[0].GetName() != "o" {
		t.Errorf("%v", in)
	}
	c := func(i int) *InferTensorContents { return in.GetInputs()[i].GetContents() }
	if string(c(0).GetBytesContents()[0]) != "hé" || c(1).GetIntContents()[1] != -2 || c(2).GetUint64Contents()[0] != math.MaxUint64 ||
		c(3).GetInt64Contents()[0] != -9 || c(4).GetUintContents()[0] != 9 || c(5).GetFp32Contents()[0] != 0.5 || c(6).GetFp64Contents()[0] != 0.25 || !c(7).GetBoolContents()[0] {
		t.Errorf("%v", in.GetInputs())
	}
	for text, want := range map[string]string{
		`{`: "inference request",
		`{"inputs":[{"name":"n","datatype":"INT8","data":[300]}]}`:      "input n: 300 is not of the datatype INT8",
		`{"inputs":[{"name":"n","datatype":"INT32","data":["x"]}]}`:     "x is not of the datatype INT32",
		`{"inputs":[{"name":"n","datatype":"FP16","data":[1]}]}`:        `datatype "FP16" cannot be sent`,
		`{"inputs":[{"name":"n","datatype":"FP32","data":[1e99]}]}`:     "1e99 is not of the datatype FP32",
		`{"inputs":[{"name":"n","datatype":"BOOL","data":[1]}]}`:        "1 is not of the datatype BOOL",
		`{"parameters":{"x":1e999}}`:                                    "parameter x: 1e999 is out of range",
		`{"outputs":[{"name":"n","parameters":{"x":1e999}}]}`:           "parameter x",
		`{"inputs":[{"name":"n","parameters":{"x":1e999},"data":[1]}]}`: "parameter x",
	} {
		if _, err := ParseRequest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestAppendResponse: elements read the same whether they come typed or raw.
func TestAppendResponse(t *testing.T) {
	raw := func(datatype string, b ...byte) *ModelInferResponse {
		return &ModelInferResponse{ModelName: "m", Outputs: []*ModelInferResponse_InferOutputTensor{{Name: "o", Datatype: datatype, Shape: []int64{1, 2}}}, RawOutputContents: [][]byte{b}}
	}
	typed := func(datatype string, c *InferTensorContents) *ModelInferResponse {
		return &ModelInferResponse{ModelName: "m", Outputs: []*ModelInferResponse_InferOutputTensor{{Name: "o", Datatype: datatype, Shape: []int64{1, 2}, Contents: c}}}
	}
	for _, c := range []struct {
		r    *ModelInferResponse
		want string
	}{
		{typed("BYTES", &InferTensorContents{BytesContents: [][]byte{[]byte("hé"), {0xff}}}), `["hé","` + "\uFFFD" + `"]`},
		{raw("BYTES", 2, 0, 0, 0, 'h', 'i', 0, 0, 0, 0), `["hi",""]`},
		{raw("BOOL", 1, 0), `[true,false]`}, {typed("BOOL", &InferTensorContents{BoolContents: []bool{true, false}}), `[true,false]`},
		{raw("INT8", 0xff), `[-1]`}, {raw("INT16", 0xfe, 0xff), `[-2]`}, {raw("INT32", 1, 0, 0, 0), `[1]`}, {typed("INT32", &InferTensorContents{IntContents: []int32{-3}}), `[-3]`},
		{raw("INT64", 1, 0, 0, 0, 0, 0, 0, 0x80), `[-9223372036854775807]`}, {typed("INT64", &InferTensorContents{Int64Contents: []int64{7}}), `[7]`},
		{raw("UINT8", 255), `[255]`}, {raw("UINT16", 0, 1), `[256]`}, {raw("UINT32", 0, 0, 0, 0x80), `[2147483648]`}, {typed("UINT32", &InferTensorContents{UintContents: []uint32{7}}), `[7]`},
		{raw("UINT64", 255, 255, 255, 255, 255, 255, 255, 255), `[18446744073709551615]`}, {typed("UINT64", &InferTensorContents{Uint64Contents: []uint64{7}}), `[7]`},
		{raw("FP16", 0x00, 0x3c, 0x01, 0x00, 0x00, 0x7c, 0x00, 0x7e, 0x00, 0xc2), `[1,5.9604645e-08,null,null,-3]`}, {raw("BF16", 0x80, 0x3f), `[1]`},
		{raw("FP32", 0, 0, 0, 0x3f), `[0.5]`}, {typed("FP32", &InferTensorContents{Fp32Contents: []float32{0.1}}), `[0.1]`},
		{raw("FP64", 0, 0, 0, 0, 0, 0, 0xe0, 0x3f), `[0.5]`}, {typed("FP64", &InferTensorContents{Fp64Contents: []float64{math.Inf(1), 0.5}}), `[null,0.5]`},
		{typed("BYTES", nil), `[]`},
	} {
		b, err := AppendResponse(nil, c.r)
		want := `{"model_name":"m","outputs":[{"name":"o","datatype":"` + c.r.GetOutputs()[0].GetDatatype() + `","shape":[1,2],"data":` + c.want + `}]}`
		if err != nil || string(b) != want || !json.Valid(b) {
			t.Errorf("%s %v\nwant %s", b, err, want)
		}
	}
	for _, r := range []*ModelInferResponse{raw("BYTES", 9, 0, 0, 0, 'h'), raw("BYTES", 1), raw("INT32", 1, 2, 3), raw("STRANGE", 1)} {
		if b, err := AppendResponse(nil, r); err == nil {
			t.Errorf("%s", b)
		}
	}
	r := &ModelInferResponse{ModelName: "m", ModelVersion: "2", Id: "i", Parameters: map[string]*InferParameter{
		"z": {ParameterChoice: &InferParameter_BoolParam{BoolParam: true}}, "a": {ParameterChoice: &InferParameter_Int64Param{Int64Param: -1}},
		"b": {ParameterChoice: &InferParameter_StringParam{StringParam: "s"}}, "c": {ParameterChoice: &InferParameter_DoubleParam{DoubleParam: 0.5}},
		"d": {ParameterChoice: &InferParameter_Uint64Param{Uint64Param: 5}}, "e": {}}}
	const want = `{"model_name":"m","model_version":"2","id":"i","parameters":{"a":-1,"b":"s","c":0.5,"d":5,"e":null,"z":true},"outputs":[]}`
	if b, err := AppendResponse(nil, r); err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
}

// FuzzResponse: whatever message a server sends, its JSON form is JSON or it is refused.
func FuzzResponse(f *testing.F) {
	seed, err := proto.Marshal(&ModelInferResponse{ModelName: "m", Outputs: []*ModelInferResponse_InferOutputTensor{{Name: "o", Datatype: "BYTES"}}, RawOutputContents: [][]byte{{1, 0, 0, 0, 'a'}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := new(ModelInferResponse)
		if proto.Unmarshal(raw, r) != nil {
			return
		}
		if b, err := AppendResponse(nil, r); err == nil && !json.Valid(b) {
			t.Fatalf("%s", b)
		}
	})
}

// FuzzRequest: every accepted request can be sent.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model_name":"m","inputs":[{"name":"t","shape":[1,1],"datatype":"BYTES","data":[["h"]]}],"parameters":{"a":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r, err := ParseRequest(raw); err == nil {
			if _, err := proto.Marshal(r); err != nil && !strings.Contains(err.Error(), "invalid UTF-8") {
				t.Fatal(err)
			}
		}
	})
}
