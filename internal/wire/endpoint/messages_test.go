package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

func TestMessagesBodies(t *testing.T) {
	n := 0
	said := func(texts ...string) []conversation.Part { return conversation.Texts("", texts...) }
	ready := func(list ...string) (t conversation.Turn) {
		for _, m := range list {
			t.RawMessages = append(t.RawMessages, json.RawMessage(m))
		}
		return t
	}
	const hi = `{"role":"user","content":"Hi"}`
	media := func(kind conversation.Kind) conversation.Turn {
		return conversation.Turn{Origin: "f:1", Parts: []conversation.Part{{Kind: kind, Blob: conversation.Authored(kind, "wav,AAAA")}}}
	}
	for _, c := range []bodyTest{
		{endpoint: "messages", history: History{System: "S", UserContext: "C"}, turn: conversation.Turn{Parts: said("Hi"), MaxTokens: &n, RawTools: json.RawMessage(`[{"name":"f"}]`)},
			body: `{"model":"m","messages":[{"role":"user","content":"C"},` + hi + `],"max_tokens":0,"system":"S","tools":[{"name":"f"}]}`},
		{endpoint: "messages", set: Settings{Streaming: true, Extras: []Member{{"max_tokens", json.RawMessage("7")}}}, turn: conversation.Turn{Parts: said("Hi")},
			body: `{"model":"m","messages":[` + hi + `],"max_tokens":7,"stream":true}`},
		{endpoint: "messages", turn: conversation.Turn{Parts: append(said("a", ""), picture("data:image/webp;base64,AAAA"), picture("https://h/x"), picture("data:;base64,AAAA"))},
			body: `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"AAAA"}},` +
				`{"type":"image","source":{"type":"url","url":"https://h/x"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}],"max_tokens":1024}`},
		{endpoint: "messages", turn: conversation.Turn{Parts: []conversation.Part{{Kind: conversation.ToolResult, ID: "t1", Text: "42"}}},
			body: `{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"42"}]}],"max_tokens":1024}`},
		{endpoint: "messages", history: History{System: "S"}, turn: ready(`{"role":"system","content":"A"}`, hi, `{"role":"assistant", "content":[]}`),
			body: `{"model":"m","messages":[` + hi + `,{"role":"assistant","content":[]}],"max_tokens":1024,"system":"S\n\nA"}`},
		{endpoint: "messages", history: History{System: "S"}, turn: ready(`{"content":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}}],"role":"system"}`, hi),
			body: `{"model":"m","messages":[` + hi + `],"max_tokens":1024,"system":[{"type":"text","text":"S"},{"type":"text","text":"A","cache_control":{"type":"ephemeral"}}]}`},
		{endpoint: "messages", history: History{Past: []PastTurn{{Turn: &conversation.Turn{Role: "system", Parts: said("A")}}}}, turn: conversation.Turn{Parts: said("Hi")},
			body: `{"model":"m","messages":[` + hi + `],"max_tokens":1024,"system":"A"}`},
		{endpoint: "messages", turn: media(conversation.Audio), failure: "f:1: endpoint type messages cannot carry audio"},
		{endpoint: "messages", turn: media(conversation.Video), failure: "f:1: endpoint type messages cannot carry video"},
		{endpoint: "messages", turn: ready(`{"role":`), failure: "is not JSON"},
	} {
		c.check(t)
	}
}

// TestMessagesAuth: the key has its own header, and the version is the user's if the user sets one.
func TestMessagesAuth(t *testing.T) {
	version := record.Header{Name: "Anthropic-Version", Value: "2020-01-01"}
	for _, c := range []struct {
		key  string
		user []record.Header
		want []record.Header
	}{
		{"k", []record.Header{{Name: "x-api-key", Value: "mine"}}, []record.Header{{Name: "x-api-key", Value: "k"}, {Name: "anthropic-version", Value: "2023-06-01"}}},
		{"", []record.Header{version}, []record.Header{version}},
	} {
		e, _, _ := Lookup("messages")
		if got := e.Auth(c.key, c.user); !slices.Equal(got, c.want) {
			t.Errorf("%q %v: %v, want %v", c.key, c.user, got, c.want)
		}
	}
}

func TestMessagesInput(t *testing.T) {
	const payload = `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"no"},{"type":"text","text":"b"},` +
		`{"type":"tool_use","id":"t","name":"f","input":{"x": 1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"c"}]},` +
		`{"type":"image","source":{"type":"url","url":"u"}}]}],"max_tokens":5,"system":[{"type":"text","text":"s"}],"tools":[{"name":"f","description":"d","input_schema":{"type": "object"}}]}`
	in := codec(t, "messages", Settings{}).Input([]byte(payload))
	if got := strings.Join(in.Texts, "|"); got != `a|b|f|{"x":1}|c|s|f|d|{"type":"object"}` || in.Images != 1 {
		t.Errorf("%s, %d images", got, in.Images)
	}
}

// TestMessagesMemory: what an answer leaves for the turns after it.
func TestMessagesMemory(t *testing.T) {
	whole := func(content string) *record.Record {
		return &record.Record{Messages: []record.Message{{Body: true, Raw: []byte(`{"type":"message","content":` + content + `}`)}}}
	}
	start := func(index, block string) string {
		return `data: {"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
	}
	delta := func(index, piece string) string {
		return `data: {"type":"content_block_delta","index":` + index + `,"delta":` + piece + `}`
	}
	for _, c := range []struct {
		rec  *record.Record
		want string // its content
	}{
		{whole(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), `"ab"`},
		{whole(`[{"type":"tool_use","id":"t","name":"f","input":{"x": 1}},{"type":"redacted_thinking","data":"zz"}]`),
			`[{"type":"redacted_thinking","data":"zz"},{"type":"tool_use","id":"t","name":"f","input":{"x":1}}]`},
		{events(start("0", `{"type":"thinking","thinking":""}`), delta("0", `{"type":"thinking_delta","thinking":"th"}`), delta("0", `{"type":"thinking_delta","thinking":"ink"}`),
			delta("0", `{"type":"signature_delta","signature":"sig"}`), delta("1", `{"type":"text_delta","text":"te"}`), delta("1", `{"type":"text_delta","text":"xt"}`),
			start("2", `{"type":"tool_use","id":"t","name":"f","input":{}}`), delta("2", `{"type":"input_json_delta","partial_json":"{\"a\":"}`),
			delta("2", `{"type":"input_json_delta","partial_json":"1}"}`), start("3", `{"type":"tool_use","id":"u","name":"g","input":{}}`)),
			`[{"type":"thinking","thinking":"think","signature":"sig"},{"type":"text","text":"text"},{"type":"tool_use","id":"t","name":"f","input":{"a":1}},` +
				`{"type":"tool_use","id":"u","name":"g","input":{}}]`},
		{events(start("0", `{"type":"tool_use","id":"t","name":"f","input":{"a":1}}`), delta("0", `{"type":"input_json_delta","partial_json":"{\"a"}`)),
			`[{"type":"tool_use","id":"t","name":"f","input":{"a":1}}]`},
		{events(delta("0", `{"type":"text_delta","text":"a"}`), `data: {"type":"error","error":{"message":"busy"}}`), ""},
		{whole(`[]`), ""},
	} {
		got, _ := NewReading(codec(t, "messages", Settings{Streaming: true}), true).Memory(c.rec).(json.RawMessage)
		want := ""
		if c.want != "" {
			want = `{"role":"assistant","content":` + c.want + `}`
		}
		if string(got) != want {
			t.Errorf(" got %s\nwant %s", got, want)
		}
	}
}

// TestMessagesCounts: the name of a call and text at the start of a block are output; counts that a server leaves null stay.
func TestMessagesCounts(t *testing.T) {
	reply, failure := Decode(codec(t, "messages", Settings{Streaming: true}), events(
		`data: {"type":"message_start","message":{"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}}}`,
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`,
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"fa","input":{}}}`,
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":null,"output_tokens":7}}`), DecodeOptions{})
	if failure != nil || reply.Output != "afa{}" || len(reply.Contents) != 3 || reply.FinishReason != "tool_use" {
		t.Errorf("%q in %d contents, %q, %v", reply.Output, len(reply.Contents), reply.FinishReason, failure)
	}
	if u := reply.Usage; u == nil || u.Prompt != 13 || u.Completion != 7 || u.CacheRead != 4 {
		t.Errorf("%+v", u)
	}
}

// TestNamelessCall: a call without a name is content if it has an input, as in the Python tool.
func TestNamelessCall(t *testing.T) {
	for block, want := range map[string]string{`{"type":"tool_use","id":"t","input":{"x":1}}`: `{"x":1}`, `{"type":"tool_use","id":"t","input":{}}`: ""} {
		rec := &record.Record{End: 1, Messages: []record.Message{{At: 1, Body: true, Raw: []byte(`{"type":"message","content":[` + block + `]}`)}}}
		reply, failure := Decode(codec(t, "messages", Settings{}), rec, DecodeOptions{})
		if reply.Output != want || (failure == nil) != (want != "") {
			t.Errorf("%s: %q, %v", block, reply.Output, failure)
		}
	}
}

// FuzzMessagesStream: whatever comes, contents are cut from the output, and what is left for later turns is a JSON object.
func FuzzMessagesStream(f *testing.F) {
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}` + "\n" +
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`))
	f.Add([]byte(`{"type":"message","content":[{"type":"thinking","thinking":"a","signature":"\ud800"},{"type":"text","text":"b"}],"usage":{"input_tokens":1}}`))
	f.Add([]byte(`{"type":"message_start","message":{"usage":{"input_tokens":9}}}` + "\n" + `{"type":"message_delta","delta":{},"usage":{"output_tokens":"7"}}`))
	c, err := messagesType.open(Settings{Streaming: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec := &record.Record{End: 1}
		for _, line := range bytes.Split(data, []byte("\n")) {
			rec.Messages = append(rec.Messages, record.Message{At: 1, Raw: append([]byte("data: "), line...)})
		}
		r := NewReading(c, true)
		if m, ok := r.Memory(rec).(json.RawMessage); ok && !json.Valid(m) {
			t.Errorf("left %q", m)
		}
		reply, _ := r.Finish(rec)
		output, reasoning := "", ""
		for _, one := range reply.Contents {
			output, reasoning = output+one.Text, reasoning+one.Reasoning
		}
		if output != reply.Output || reasoning != reply.Reasoning {
			t.Errorf("%q and %q are not %q and %q", output, reasoning, reply.Output, reply.Reasoning)
		}
	})
}
