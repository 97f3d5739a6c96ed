package endpoint

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"aiperf/internal/measure/record"
)

// FuzzDecode compares the content of any answer with the result of encoding/json.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"a\u00e9","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]}}]}`), false)
	f.Add([]byte(`{"object":"chat.completion","choices":[{"message":{"content":[{"type":"text","text":"a"}],"reasoning":"b"}}],"usage":{"prompt_tokens":"9","x":{"y":1}}}`), true)
	f.Add([]byte("event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":429}}"), false)
	f.Add([]byte(`{"data":[{"embedding":[1,2]}],"results":[{"index":0}],"rankings":[{}]}`), true)
	f.Fuzz(func(t *testing.T, raw []byte, body bool) {
		rec := &record.Record{Payload: record.Plain(raw), Messages: []record.Message{{At: 1, Raw: raw, Body: body}, {At: 2, Raw: raw, Body: body}}}
		for _, e := range All() {
			if !e.Built() {
				continue
			}
			c := codec(t, e.Name, Settings{Method: "p.S/M", Extras: []Member{extra("payload_template", "{}")}})
			reply, failure := Decode(c, rec, DecodeOptions{})
			if failure == nil && len(reply.Contents) == 0 {
				t.Fatal("success without content")
			}
			text := ""
			for i := range reply.Contents {
				text += reply.Contents[i].Text
			}
			if text != reply.Output || !utf8.ValidString(reply.Output+reply.Reasoning) {
				t.Fatalf("%q is not %q", text, reply.Output)
			}
			if m := capture(c, rec); m != "" && !json.Valid([]byte(m)) {
				t.Fatalf("captured %q", m)
			}
			first, failed := NewReading(c, false).Content(rec.Messages[:1])
			if first != (len(reply.Contents) > 0 && reply.Contents[0].Message == 0) || failed != nil && failure == nil {
				t.Fatal("the first look and the whole reading disagree")
			}
			if e.Name == "chat" {
				whole, incomplete := Decode(codec(t, e.Name, Settings{Complete: true}), rec, DecodeOptions{})
				if incomplete == nil && failure != nil || whole.Output != reply.Output {
					t.Fatal("a complete answer that is none")
				}
			}
			if e.Name == "chat" && reply.Contents != nil {
				compareContent(t, raw, body, &record.Reply{Output: reply.Contents[0].Text})
			}
		}
	})
}

// compareContent reads a plain chat body with the standard decoder: both must find the same text.
func compareContent(t *testing.T, raw []byte, body bool, reply *record.Reply) {
	t.Helper()
	var v struct{ top, choice, message map[string]json.RawMessage }
	var choices []json.RawMessage
	if !body || !utf8.Valid(raw) || json.Unmarshal(raw, &v.top) != nil || json.Unmarshal(v.top["choices"], &choices) != nil || len(choices) == 0 ||
		json.Unmarshal(choices[0], &v.choice) != nil || json.Unmarshal(v.choice["message"], &v.message) != nil {
		return
	}
	var content string
	if json.Unmarshal(v.message["content"], &content) != nil || len(v.message) > 1 || len(v.choice) > 1 || v.message == nil {
		return
	}
	if reply.Output != content {
		t.Fatalf("%q: text %q, want %q", raw, reply.Output, content)
	}
}
