package endpoint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
	"aiperf/internal/workload/conversation"
)

// TestOllamaBodies: the length is an option in addition to those of the user; other extras are members of the body.
func TestOllamaBodies(t *testing.T) {
	n := 5
	said := func(texts ...string) []conversation.Part { return conversation.Texts("", texts...) }
	extras := Settings{Streaming: true, Extras: []Member{{"options", json.RawMessage(`{"temperature":0.5,"num_ctx":4096}`)}, {"keep_alive", json.RawMessage(`"5m"`)}}}
	for _, c := range []bodyTest{
		{endpoint: "ollama_chat", turn: conversation.Turn{Parts: said("a"), MaxTokens: &n}, history: History{System: "S", UserContext: "C"},
			body: `{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"C"},{"role":"user","content":"a"}],"stream":false,"options":{"num_predict":5}}`},
		{endpoint: "ollama_chat", set: extras, turn: conversation.Turn{Parts: said("a", "b"), MaxTokens: &n},
			body: `{"model":"m","messages":[{"role":"user","content":"a\n\nb"}],"stream":true,"options":{"num_predict":5,"temperature":0.5,"num_ctx":4096},"keep_alive":"5m"}`},
		{endpoint: "ollama_chat", set: Settings{Extras: []Member{{"options", json.RawMessage(`{"num_predict":9}`)}}}, turn: conversation.Turn{Parts: said("a"), MaxTokens: &n},
			body: `{"model":"m","messages":[{"role":"user","content":"a"}],"stream":false,"options":{"num_predict":9}}`},
		{endpoint: "ollama_chat", turn: conversation.Turn{Parts: said("b")},
			history: History{Past: []PastTurn{{Turn: &conversation.Turn{Parts: said("a")}, Reply: json.RawMessage(`{"role":"assistant","content":"x"}`)}}},
			body:    `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"x"},{"role":"user","content":"b"}],"stream":false}`},
		{endpoint: "ollama_chat", turn: conversation.Turn{RawMessages: []json.RawMessage{json.RawMessage(`{"role":"system","content":"s"}`)}, RawTools: json.RawMessage(`[{"type":"function"}]`)}, history: History{System: "S"},
			body: `{"model":"m","messages":[{"role":"system","content":"S\n\ns"}],"stream":false,"tools":[{"type":"function"}]}`},
		{endpoint: "ollama_generate", set: extras, turn: conversation.Turn{Parts: said("a", "b"), MaxTokens: &n}, history: History{System: "S"},
			body: `{"model":"m","prompt":"S\n\na b","stream":true,"options":{"num_predict":5,"temperature":0.5,"num_ctx":4096},"keep_alive":"5m"}`},
		{endpoint: "ollama_generate", turn: conversation.Turn{Parts: said("b")}, history: History{Past: []PastTurn{{Turn: &conversation.Turn{}}}}, failure: "sends only one turn per conversation"},
	} {
		c.check(t)
	}
	e, _, err := Lookup("ollama_chat")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Codec(Settings{Extras: []Member{{"options", json.RawMessage(`3`)}}}); err == nil || !strings.Contains(err.Error(), "options: must be a JSON object") {
		t.Errorf("options that are a number: %v", err)
	}
}

// ollamaStream is a record of a stream; document i arrives at instant i+1. exported returns the fields of an export instead of the bytes.
func ollamaStream(exported bool, docs ...string) *record.Record {
	rec := &record.Record{Start: 1, End: 100}
	for i, doc := range docs {
		m := record.Message{At: int64(i + 1), Line: true, Raw: []byte(doc)}
		if exported {
			m.Raw, m.Details = nil, &record.Details{Fields: []record.Field{{Name: "data", Value: doc}}}
		}
		rec.Messages = append(rec.Messages, m)
	}
	return rec
}

// TestOllamaAnswers: texts, reasoning, tool calls, counts, the reason of the end and errors are read from a stream, from its export and from one body.
func TestOllamaAnswers(t *testing.T) {
	const head = `{"model":"m","created_at":"2026-01-01T00:00:00.5Z",`
	chat := func(members string) string {
		return head + `"message":{"role":"assistant",` + members + `},"done":false}`
	}
	last := func(text string) string {
		return head + text + `,"done":true,"done_reason":"length","total_duration":5,"prompt_eval_count":26,"eval_count":298,"eval_duration":7}`
	}
	for _, c := range []struct {
		name, endpoint                     string
		docs                               []string
		output, reasoning, finish, failure string
		kinds                              []record.Kind
		memory                             string
		prompt, completion                 int64
	}{
		{name: "a chat", endpoint: "ollama_chat", docs: []string{chat(`"content":"The"`), chat(`"content":" sky"`), last(`"message":{"role":"assistant","content":""}`)},
			output: "The sky", finish: "length", kinds: []record.Kind{record.Text, record.Text}, prompt: 26, completion: 298,
			memory: `{"role":"assistant","content":"The sky"}`},
		{name: "a last document with text", endpoint: "ollama_chat", docs: []string{chat(`"content":"a"`), last(`"message":{"role":"assistant","content":"b"}`)},
			output: "ab", finish: "length", kinds: []record.Kind{record.Text, record.Text}, prompt: 26, completion: 298, memory: `{"role":"assistant","content":"ab"}`},
		{name: "thinking", endpoint: "ollama_chat", docs: []string{chat(`"content":"","thinking":"hm"`), chat(`"content":"so"`), last(`"message":{"role":"assistant","content":""}`)},
			output: "so", reasoning: "hm", finish: "length", kinds: []record.Kind{record.Reasoning, record.Text}, prompt: 26, completion: 298,
			memory: `{"role":"assistant","content":"so"}`},
		{name: "tool calls", endpoint: "ollama_chat", docs: []string{
			chat(`"content":"","tool_calls":[{"function":{"name":"f","arguments":{"done":true,"x":"\n"}}}]`), chat(`"content":"","tool_calls":[{"function":{"name":"g","arguments":{}}}]`)},
			output: `f{"done":true,"x":"\n"}g{}`, kinds: []record.Kind{record.ToolCall, record.ToolCall}, prompt: -1, completion: -1,
			memory: `{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"done":true,"x":"\n"}}},{"function":{"name":"g","arguments":{}}}]}`},
		{name: "a completion", endpoint: "ollama_generate", docs: []string{head + `"response":"a","done":false}`, head + `"response":" b","done":false}`, last(`"response":"","context":[1,2,3]`)},
			output: "a b", finish: "length", kinds: []record.Kind{record.Text, record.Text}, prompt: 26, completion: 298},
		{name: "a cached prompt", endpoint: "ollama_generate", docs: []string{head + `"response":"a","done":false}`, head + `"response":"","done":true,"eval_count":1}`},
			output: "a", kinds: []record.Kind{record.Text}, prompt: -1, completion: 1},
		{name: "an error in the middle", endpoint: "ollama_chat", docs: []string{chat(`"content":"a"`), `{"error":"model runner has unexpectedly stopped"}`},
			output: "a", kinds: []record.Kind{record.Text}, failure: "502 StreamResponseError model runner has unexpectedly stopped", prompt: -1, completion: -1},
		{name: "words about errors", endpoint: "ollama_chat", docs: []string{chat(`"content":"{\"error\":\"x\"}"`)}, output: `{"error":"x"}`, kinds: []record.Kind{record.Text},
			prompt: -1, completion: -1, memory: `{"role":"assistant","content":"{\"error\":\"x\"}"}`},
		{name: "no text", endpoint: "ollama_chat", docs: []string{last(`"message":{"role":"assistant","content":""}`)}, finish: "length", prompt: 26, completion: 298,
			failure: "0 InvalidInferenceResultError Invalid inference result: No responses with actual content were received"},
	} {
		ways := map[string]*record.Record{"stream": ollamaStream(false, c.docs...), "export": ollamaStream(true, c.docs...)}
		if len(c.docs) == 1 {
			ways["body"] = &record.Record{Start: 1, End: 9, Messages: []record.Message{{At: 2, Body: true, Raw: []byte(c.docs[0])}}}
		}
		for way, rec := range ways {
			codec := codec(t, c.endpoint, Settings{Streaming: way != "body"})
			reply, failure := Decode(codec, rec, DecodeOptions{})
			told := ""
			if failure != nil {
				text, _, _ := strings.Cut(failure.Message, "; the answer contains ") // of bodies
				told = fmt.Sprint(failure.Code, " ", failure.Type, " ", text)
			}
			if reply.Output != c.output || reply.Reasoning != c.reasoning || reply.FinishReason != c.finish || told != c.failure || len(reply.Contents) != len(c.kinds) {
				t.Errorf("%s, %s: %+v, failure %q", c.name, way, reply, told)
				continue
			}
			for i, k := range c.kinds {
				if reply.Contents[i].Kind != k || way != "body" && reply.Contents[i].At != int64(i+1) {
					t.Errorf("%s, %s: content %d: %+v", c.name, way, i, reply.Contents[i])
				}
			}
			prompt, completion := int64(-1), int64(-1)
			if reply.Usage != nil {
				prompt, completion = reply.Usage.Prompt, reply.Usage.Completion
			}
			if prompt != c.prompt || completion != c.completion {
				t.Errorf("%s, %s: %d tokens of the prompt, %d of the answer", c.name, way, prompt, completion)
			}
			if c.endpoint == "ollama_chat" && capture(codec, rec) != c.memory {
				t.Errorf("%s, %s: the next turn repeats %s", c.name, way, capture(codec, rec))
			}
		}
	}
}

// TestOllamaLast: the last document ends the stream; it is a mark alone unless it holds text.
func TestOllamaLast(t *testing.T) {
	for doc, want := range map[string][2]bool{
		`{"message":{"content":""},"done":true}`:                                {true, true},
		`{"done": true, "response": ""}`:                                        {true, true},
		`{"response":"a","done":true}`:                                          {true, false},
		`{"message":{"content":"","tool_calls":[{"function":{}}]},"done":true}`: {true, false},
		`{"message":{"content":"true"},"done":false}`:                           {false, false},
		`{"message":{"tool_calls":[{"function":{"arguments":{"done":true}}}]}}`: {false, false},
		`{"message":{"content":"\"done\":true"},"done":false}`:                  {false, false},
		`{"done":true`: {false, false},
	} {
		if last, mark := ollamaLines.Ends([]byte(doc)); [2]bool{last, mark} != want {
			t.Errorf("%s: %v %v", doc, last, mark)
		}
	}
}

// TestUnlabelledStreams: a stream that comes under the media type of a body fails with a hint that names the right one.
func TestUnlabelledStreams(t *testing.T) {
	for name, c := range map[string]struct{ body, media string }{
		"ollama_chat": {"{\"message\":{\"content\":\"a\"}}\n{\"done\":true}\n", framing.NDJSON{}.Media()[0]},
		"chat":        {"data: {}\n\n", "text/event-stream"},
	} {
		_, failure := Decode(codec(t, name, Settings{Streaming: true}), &record.Record{Start: 1, End: 9, Messages: []record.Message{{At: 2, Body: true, Raw: []byte(c.body)}}}, DecodeOptions{})
		if failure == nil || !strings.Contains(failure.Message, "its Content-Type is not "+c.media) {
			t.Errorf("%s: %+v", name, failure)
		}
	}
}

// TestForeignLines: JSON lines for a type that streams server-sent events fail with a message that says so. Free formats take them as text.
func TestForeignLines(t *testing.T) {
	for name, want := range map[string]string{
		"chat": "; the body has one JSON document in each line, but this endpoint type reads one document or text/event-stream",
		"raw":  "",
	} {
		rec := &record.Record{Start: 1, End: 9, Messages: []record.Message{{At: 2, Body: true, Raw: []byte("{\"text\":\"a\"}\n{\"text\":\"b\"}\n")}}}
		_, failure := Decode(codec(t, name, Settings{Streaming: true}), rec, DecodeOptions{})
		if (failure == nil) != (want == "") || failure != nil && !strings.HasSuffix(failure.Message, want) {
			t.Errorf("%s: %+v", name, failure)
		}
	}
}
