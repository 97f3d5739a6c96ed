package openinference

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
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
	p := in.Parameters
	if in.ModelName != "m" || in.ID != "7" || p["a"] != true || p["b"] != int64(3) || p["c"] != "x" ||
		p["d"] != 1.5 || p["e"] != "[1]" || in.Outputs[0].Name != "o" {
		t.Errorf("%v", in)
	}
	c := func(i int) *Contents { return in.Inputs[i].Contents }
	if string(c(0).Bytes[0]) != "hé" || c(1).Int[1] != -2 || c(2).Uint64[0] != math.MaxUint64 ||
		c(3).Int64[0] != -9 || c(4).Uint[0] != 9 || c(5).FP32[0] != 0.5 || c(6).FP64[0] != 0.25 || !c(7).Bool[0] {
		t.Errorf("%v", in.Inputs)
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
	raw := func(datatype string, b ...byte) *InferResponse {
		return &InferResponse{ModelName: "m", Outputs: []*Tensor{{Name: "o", Datatype: datatype, Shape: []int64{1, 2}}}, RawOutputs: [][]byte{b}}
	}
	typed := func(datatype string, c *Contents) *InferResponse {
		return &InferResponse{ModelName: "m", Outputs: []*Tensor{{Name: "o", Datatype: datatype, Shape: []int64{1, 2}, Contents: c}}}
	}
	for _, c := range []struct {
		r    *InferResponse
		want string
	}{
		{typed("BYTES", &Contents{Bytes: [][]byte{[]byte("hé"), {0xff}}}), `["hé","` + "\uFFFD" + `"]`},
		{raw("BYTES", 2, 0, 0, 0, 'h', 'i', 0, 0, 0, 0), `["hi",""]`},
		{raw("BOOL", 1, 0), `[true,false]`}, {typed("BOOL", &Contents{Bool: []bool{true, false}}), `[true,false]`},
		{raw("INT8", 0xff), `[-1]`}, {raw("INT16", 0xfe, 0xff), `[-2]`}, {raw("INT32", 1, 0, 0, 0), `[1]`}, {typed("INT32", &Contents{Int: []int32{-3}}), `[-3]`},
		{raw("INT64", 1, 0, 0, 0, 0, 0, 0, 0x80), `[-9223372036854775807]`}, {typed("INT64", &Contents{Int64: []int64{7}}), `[7]`},
		{raw("UINT8", 255), `[255]`}, {raw("UINT16", 0, 1), `[256]`}, {raw("UINT32", 0, 0, 0, 0x80), `[2147483648]`}, {typed("UINT32", &Contents{Uint: []uint32{7}}), `[7]`},
		{raw("UINT64", 255, 255, 255, 255, 255, 255, 255, 255), `[18446744073709551615]`}, {typed("UINT64", &Contents{Uint64: []uint64{7}}), `[7]`},
		{raw("FP16", 0x00, 0x3c, 0x01, 0x00, 0x00, 0x7c, 0x00, 0x7e, 0x00, 0xc2), `[1,5.9604645e-08,null,null,-3]`}, {raw("BF16", 0x80, 0x3f), `[1]`},
		{raw("FP32", 0, 0, 0, 0x3f), `[0.5]`}, {typed("FP32", &Contents{FP32: []float32{0.1}}), `[0.1]`},
		{raw("FP64", 0, 0, 0, 0, 0, 0, 0xe0, 0x3f), `[0.5]`}, {typed("FP64", &Contents{FP64: []float64{math.Inf(1), 0.5}}), `[null,0.5]`},
		{typed("BYTES", nil), `[]`},
	} {
		b, err := AppendResponse(nil, c.r)
		want := `{"model_name":"m","outputs":[{"name":"o","datatype":"` + c.r.Outputs[0].Datatype + `","shape":[1,2],"data":` + c.want + `}]}`
		if err != nil || string(b) != want || !json.Valid(b) {
			t.Errorf("%s %v\nwant %s", b, err, want)
		}
	}
	for _, r := range []*InferResponse{raw("BYTES", 9, 0, 0, 0, 'h'), raw("BYTES", 1), raw("INT32", 1, 2, 3), raw("STRANGE", 1)} {
		if b, err := AppendResponse(nil, r); err == nil {
			t.Errorf("%s", b)
		}
	}
	r := &InferResponse{ModelName: "m", ModelVersion: "2", ID: "i", Parameters: Parameters{"z": true, "a": int64(-1), "b": "s", "c": 0.5, "d": uint64(5), "e": nil}}
	const want = `{"model_name":"m","model_version":"2","id":"i","parameters":{"a":-1,"b":"s","c":0.5,"d":5,"e":null,"z":true},"outputs":[]}`
	if b, err := AppendResponse(nil, r); err != nil || string(b) != want {
		t.Errorf("%s %v", b, err)
	}
}

// FuzzRequest: every accepted request can be sent, and is read back the same.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model_name":"m","inputs":[{"name":"t","shape":[1,1],"datatype":"BYTES","data":[["h"]]}],"parameters":{"a":1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := ParseRequest(raw)
		if err != nil {
			return
		}
		encoded, again := r.Marshal(), new(InferRequest)
		if err := again.Unmarshal(encoded); err != nil || string(again.Marshal()) != string(encoded) {
			t.Fatalf("% x: %v", encoded, err)
		}
	})
}
