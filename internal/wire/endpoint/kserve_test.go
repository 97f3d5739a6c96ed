package endpoint

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
	"aiperf/internal/workload/conversation"
)

const (
	described = `{"name":"m","inputs":[{"name":"text_input","datatype":"BYTES","shape":[-1,1]},{"name":"max_tokens","datatype":"UINT32","shape":[1]},
		{"name":"temperature","datatype":"FP32","shape":[-1,1]},{"name":"words","datatype":"BYTES","shape":[1,-1]}],"outputs":[{"name":"text_output"},{"name":"other"}]}`
	plainModel = `{"inputs":[{"name":"x","datatype":"FP32","shape":[-1]},{"name":"args","datatype":"BYTES","shape":[-1]}],"outputs":[{"name":"y"}]}`
)

func TestKServeBodies(t *testing.T) {
	const (
		prompt = `{"name":"text_input","shape":[1,1],"datatype":"BYTES","data":["hi \"x\""]}`
		echo   = `{"name":"exclude_input_in_output","shape":[1,1],"datatype":"BOOL","data":[true]}`
		tail   = `],"outputs":[{"name":"text_output"}]}`
	)
	tokens := func(n int) string {
		return fmt.Sprintf(`{"name":"max_tokens","shape":[1,1],"datatype":"INT32","data":[%d]}`, n)
	}
	five := 5
	for name, c := range map[string]struct {
		set       Settings
		max       *int
		own       string
		described string
		path      string
		want      string
	}{
		"http": {Settings{}, nil, "", "", "/v2/models/a%2Fb/infer", `{"id":"r","inputs":[` + prompt + "," + tokens(256) + "," + echo + tail},
		"grpc": {Settings{GRPC: true}, &five, "", "", openinference.ModelStreamInfer,
			`{"model_name":"a/b","id":"r","parameters":{"triton_enable_empty_final_response":true},"inputs":[` + prompt + "," + tokens(5) + "," + echo + tail},
		"unary": {Settings{GRPC: true, Method: "ModelInfer"}, &five, "", "", openinference.ModelInfer,
			`{"model_name":"a/b","id":"r","inputs":[` + prompt + "," + tokens(5) + "," + echo + tail},
		"own method": {Settings{GRPC: true, Method: "p.S/M"}, &five, "", "", "/p.S/M", `{"model_name":"a/b","id":"r","inputs":[` + prompt + "," + tokens(5) + "," + echo + tail},
		"extras": {Settings{Streaming: true, Extras: []Member{extra("s", "v"), {"n", []byte("3")}, {"f", []byte("0.5")}, {"max_tokens", []byte("9")}, {"l", []byte("[1,2]")}}}, &five, `{"n":4}`, "", "/v2/models/a%2Fb/infer",
			`{"id":"r","inputs":[` + prompt + "," + echo + `,{"name":"stream","shape":[1,1],"datatype":"BOOL","data":[true]},{"name":"s","shape":[1,1],"datatype":"BYTES","data":["v"]},` +
				`{"name":"n","shape":[1,1],"datatype":"INT32","data":[4]},{"name":"f","shape":[1,1],"datatype":"FP32","data":[0.5]},` + tokens(9) +
				`,{"name":"l","shape":[1,2],"datatype":"INT32","data":[1,2]}` + tail},
		"vllm": {Settings{Backend: "vllm", Extras: []Member{{"min_length", []byte("5")}}}, &five, "", "", "/v2/models/a%2Fb/infer",
			`{"id":"r","inputs":[{"name":"text_input","shape":[1],"datatype":"BYTES","data":["hi \"x\""]},{"name":"exclude_input_in_output","shape":[1],"datatype":"BOOL","data":[true]},` +
				`{"name":"sampling_parameters","shape":[1],"datatype":"BYTES","data":["{\"max_tokens\":\"5\",\"min_tokens\":\"5\"}"]}` + tail},
		"described": {Settings{Extras: []Member{{"temperature", []byte("1")}, {"seed", []byte("7")}, {"words", []byte(`["a","b"]`)}}}, &five, "", described, "/v2/models/a%2Fb/infer",
			`{"id":"r","parameters":{"seed":7},"inputs":[` + prompt + `,{"name":"max_tokens","shape":[1],"datatype":"UINT32","data":[5]},` +
				`{"name":"temperature","shape":[1,1],"datatype":"FP32","data":[1]},{"name":"words","shape":[1,2],"datatype":"BYTES","data":["a","b"]}` + tail},
		"plain": {Settings{}, &five, "", plainModel, "/v2/models/a%2Fb/infer", `{"id":"r","inputs":[{"name":"args","shape":[1],"datatype":"BYTES","data":["hi \"x\""]}]}`},
		"named": {Settings{Extras: []Member{extra("v2_input_name", "q"), extra("v2_output_name", "y")}}, &five, "", "", "/v2/models/a%2Fb/infer",
			`{"id":"r","inputs":[{"name":"q","shape":[1,1],"datatype":"BYTES","data":["hi \"x\""]}]}`},
		"named output": {Settings{Extras: []Member{extra("v2_output_name", "y")}}, &five, "", plainModel, "/v2/models/a%2Fb/infer",
			`{"id":"r","inputs":[{"name":"args","shape":[1],"datatype":"BYTES","data":["hi \"x\""]}],"outputs":[{"name":"y"}]}`},
	} {
		c.set.Model = "a/b"
		k := codec(t, "kserve", c.set)
		if c.described != "" {
			if _, err := k.(Learner).Learn("a/b", []byte(c.described)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		turn := conversation.Turn{Parts: conversation.Texts("", `hi "x"`), MaxTokens: c.max}
		if c.own != "" {
			turn.ExtraBody = []byte(c.own)
		}
		r, err := k.Encode(&turn, &History{RequestID: "r"})
		if err != nil || string(r.Body.Bytes()) != c.want || r.Path != c.path {
			t.Errorf("%s: %s %s %v\nwant %s", name, r.Path, r.Body.Bytes(), err, c.want)
			continue
		}
		if in := k.Input(r.Body.Bytes()); len(in.Texts) != 1 || in.Texts[0] != `hi "x"` {
			t.Errorf("%s: input %+v", name, in)
		}
	}
}

func TestKServeRefuses(t *testing.T) {
	k := codec(t, "kserve", Settings{Model: "m"})
	for name, turn := range map[string]conversation.Turn{
		"sends one prompt per request, but this turn has 2": {Parts: conversation.Texts("", "a", "b")}, "sends one prompt per request, but this turn has 0": {},
		"is not a JSON object": {Parts: conversation.Texts("", "a"), ExtraBody: []byte("3")},
	} {
		_, err := k.Encode(&turn, &History{})
		contains(t, name, err, name)
	}
	one := conversation.Turn{Parts: conversation.Texts("", "a")}
	_, err := k.Encode(&one, &History{Past: []PastTurn{{Turn: &one}}})
	contains(t, "history", err, "only one turn per conversation")
	for _, c := range []struct{ extra, answer, want string }{
		{"", `[`, "the description of model m"}, {"", `{"inputs":[{"name":"x","datatype":"FP32"}]}`, "model m has no text input; its inputs are x"},
		{"v2_input_name", plainModel, "model m has no input q; its inputs are x, args"},
	} {
		set := Settings{Model: "m"}
		if c.extra != "" {
			set.Extras = []Member{extra(c.extra, "q")}
		}
		_, err := codec(t, "kserve", set).(Learner).Learn("m", []byte(c.answer))
		contains(t, c.want, err, c.want)
	}
	for _, c := range []struct {
		extras       []Member
		answer, want string
	}{{nil, `{"name":"m"}`, "does not describe the tensors"}, {[]Member{{"seed", []byte("1")}}, described, "model m has no input seed"}} {
		remarks, err := codec(t, "kserve", Settings{Model: "m", Extras: c.extras}).(Learner).Learn("m", []byte(c.answer))
		if err != nil || len(remarks) != 1 || !strings.Contains(remarks[0], c.want) {
			t.Errorf("%q %v, want %q", remarks, err, c.want)
		}
	}
	if r := k.(Learner).Ask("a/b"); r.Method != http.MethodGet || r.Path != "/v2/models/a%2Fb" {
		t.Errorf("%+v", r)
	}
}

func TestKServeAnswers(t *testing.T) {
	body := func(text string) record.Message { return record.Message{Body: true, Raw: []byte(text)} }
	event := func(text string) record.Message { return record.Message{Line: true, Raw: []byte("data: " + text)} }
	for name, c := range map[string]struct {
		messages []record.Message
		output   string
		contents int
		kind     record.Kind
		failure  string
	}{
		"text":  {[]record.Message{body(`{"outputs":[{"name":"x","datatype":"FP32","data":[1]},{"data":[["a","b"]],"datatype":"BYTES","name":"text_output"}]}`)}, "a", 1, record.Text, ""},
		"other": {[]record.Message{body(`{"outputs":[{"name":"generated","datatype":"BYTES","data":["a"]}]}`)}, "a", 1, record.Text, ""},
		"stream": {[]record.Message{event(`{"outputs":[{"name":"text_output","datatype":"BYTES","data":["a"]}]}`), event(`{"outputs":[{"name":"text_output","datatype":"BYTES","data":[""]}]}`),
			event(`{"outputs":[{"name":"text_output","datatype":"BYTES","data":["b"]}]}`), event(`{"parameters":{"triton_final_response":true},"outputs":[]}`)}, "ab", 2, record.Text, ""},
		"numbers": {[]record.Message{body(`{"outputs":[{"name":"y","datatype":"FP32","data":[1,2]}]}`)}, "", 1, record.Other, ""},
		"nothing": {[]record.Message{body(`{"outputs":[{"name":"y","datatype":"FP32","data":[]}]}`)}, "", 0, 0, "No responses with actual content"},
		"error":   {[]record.Message{body(`{"error":"no such model"}`)}, "", 0, 0, "no such model"},
	} {
		reply, failure := Decode(codec(t, "kserve", Settings{}), &record.Record{Messages: c.messages}, DecodeOptions{})
		if (failure == nil) != (c.failure == "") || failure != nil && !strings.Contains(failure.Message, c.failure) {
			t.Errorf("%s: %v", name, failure)
		}
		if reply.Output != c.output || len(reply.Contents) != c.contents || c.contents > 0 && reply.Contents[0].Kind != c.kind {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}

// TestKServeMessages: a sent message equals the JSON form, and a received message reads like the JSON form.
func TestKServeMessages(t *testing.T) {
	k := codec(t, "kserve", Settings{GRPC: true}).(RPC)
	if !k.Streams(openinference.ModelStreamInfer) || k.Streams(openinference.ModelInfer) {
		t.Error("streams")
	}
	if _, err := k.Marshal(openinference.ModelInfer, record.Plain([]byte("{"))); err == nil {
		t.Error("no JSON was sent")
	}
	if _, err := k.Marshal(openinference.ModelMetadata, record.Plain([]byte("["))); err == nil {
		t.Error("no JSON was sent")
	}
	for _, method := range []string{openinference.ModelInfer, openinference.ModelMetadata, openinference.ModelStreamInfer} {
		if _, failure := k.Unmarshal(method, []byte{0xff}); failure == nil || failure.Type != "DecodeError" {
			t.Errorf("%s: %v", method, failure)
		}
	}
	ask, err := k.Marshal(openinference.ModelMetadata, record.Plain([]byte(`{"name":"m"}`)))
	if err != nil || len(ask) != 1 || string(ask[0]) != "\n\x01m" { // field 1, one byte
		t.Errorf("%q %v", ask, err)
	}
	if text, failure := k.Unmarshal(openinference.ModelMetadata, []byte("\n\x01m\x22\x0b\n\x01x\x12\x02FP\x1a\x02\x01\x02")); failure != nil ||
		string(text) != `{"name":"m","inputs":[{"name":"x","datatype":"FP","shape":[1,2]}]}` {
		t.Errorf("%s %v", text, failure)
	}
	if _, failure := k.Unmarshal(openinference.ModelStreamInfer, []byte("\n\x04boom")); failure == nil || failure.Message != "boom" || failure.Code != 500 {
		t.Errorf("%v", failure)
	}
	bare := "\n\x01m\x2a\x13\n\x01t\x12\x05BYTES\x2a\x07\x42\x05words" // a response without Triton's message around it
	if text, failure := k.Unmarshal(openinference.ModelStreamInfer, []byte(bare)); failure != nil ||
		string(text) != `{"model_name":"m","outputs":[{"name":"t","datatype":"BYTES","shape":[],"data":["words"]}]}` {
		t.Errorf("%s %v", text, failure)
	}
	if _, failure := k.Unmarshal(openinference.ModelInfer, []byte("\x2a\x05\x12\x03ODD\x32\x01a")); failure == nil || !strings.Contains(failure.Message, "ODD") {
		t.Errorf("%v", failure)
	}
}

// TestVersionFromAFlag: the version of a model may be a number, which is what model_version:3 gives on the command line.
func TestVersionFromAFlag(t *testing.T) {
	for value, want := range map[string]string{"3": "/v2/models/m/versions/3/infer", `"3"`: "/v2/models/m/versions/3/infer", `"a b"`: "/v2/models/m/versions/a%20b/infer"} {
		c := codec(t, "kserve", Settings{Model: "m", Extras: []Member{{"model_version", []byte(value)}}})
		req, err := c.Encode(&conversation.Turn{Parts: conversation.Texts("", "x")}, &History{})
		if err != nil || req.Path != want {
			t.Errorf("%s: %q, %v", value, req.Path, err)
		}
	}
	e, _, err := Lookup("kserve")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Codec(Settings{Extras: []Member{{"model_version", []byte("true")}}}); err == nil || !strings.Contains(err.Error(), "must be a text, got true") {
		t.Error(err)
	}
}
