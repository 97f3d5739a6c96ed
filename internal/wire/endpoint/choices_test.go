package endpoint

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// TestMoreChoices: of several choices in one message only the first is the answer, and the reply says so if another one has text.
func TestMoreChoices(t *testing.T) {
	for _, c := range []struct {
		kind, body string
		want       bool
	}{
		{"chat", `{"object":"chat.completion","choices":[{"message":{"content":"one"}},{"message":{"content":"two"}}]}`, true},
		{"chat", `{"object":"chat.completion","choices":[{"message":{"content":"one"}},{"message":{"reasoning_content":"two"}}]}`, true},
		{"chat", `{"object":"chat.completion","choices":[{"message":{"content":"one"}},{"message":{"content":""},"finish_reason":"stop"},7,{}]}`, false},
		{"chat", `{"object":"chat.completion","choices":[{"message":{"content":"one"}}]}`, false},
		{"completions", `{"object":"text_completion","choices":[{"text":"one"},{"text":"two"}]}`, true},
		{"completions", `{"object":"text_completion","choices":[{"text":"one"},{"text":""}]}`, false},
		{"huggingface_generate", `[{"generated_text":"one"},{"generated_text":"two"}]`, true},
		{"huggingface_generate", `[{"generated_text":"one"},{"generated_text":""},{"other":"two"}]`, false},
		{"kserve_v1_predict", `{"predictions":["one","two"]}`, true},
		{"kserve_v1_predict", `{"predictions":[{"output":"one"},{"output":"two"}]}`, true},
		{"kserve_v1_predict", `{"predictions":[{"output":"one"},{"other":"two"},[7]]}`, false},
		{"kserve", `{"outputs":[{"name":"text_output","datatype":"BYTES","data":["one","two"]}]}`, true},
		{"kserve", `{"outputs":[{"name":"text_output","datatype":"BYTES","data":[["one"],["two"]]}]}`, true},
		{"kserve", `{"outputs":[{"name":"text_output","datatype":"BYTES","data":["one","",7]},{"name":"other","datatype":"BYTES","data":["two"]}]}`, false},
		{"vllm_generate", `{"choices":[{"token_ids":[3,4]},{"token_ids":[5]}]}`, true},
		{"vllm_generate", `{"choices":[{"token_ids":[3,4]},{"token_ids":[]},{"token_ids":null}]}`, false},
	} {
		rec := &record.Record{End: 9, Messages: []record.Message{{At: 1, Body: true, Raw: []byte(c.body)}}}
		reply, failure := Decode(codec(t, c.kind, Settings{}), rec, DecodeOptions{})
		output := "one"
		if c.kind == "vllm_generate" {
			output = ""
		}
		if failure != nil || reply.Output != output || reply.MoreChoices != c.want {
			t.Errorf("%s: %v, %q, more choices: %t", c.body, failure, reply.Output, reply.MoreChoices)
		}
	}
}

// TestOneNumberedChoice: choices do not alternate if all messages have the same choice, whatever its number, or if one body has all choices.
func TestOneNumberedChoice(t *testing.T) {
	for name, messages := range map[string][]record.Message{
		"numbered from 1": {{At: 1, Raw: []byte(`data: {"choices":[{"index":1,"delta":{"content":"a"}}]}` + "\n\n")}, {At: 2, Raw: []byte(`data: {"choices":[{"index":1,"delta":{"content":"b"}}]}` + "\n\n")}},
		"reversed":        {{At: 1, Body: true, Raw: []byte(`{"object":"chat.completion","choices":[{"index":1,"message":{"content":"ab"}},{"index":0,"message":{"content":"c"}}]}`)}},
	} {
		reply, failure := Decode(codec(t, "chat", Settings{}), &record.Record{End: 9, Messages: messages}, DecodeOptions{})
		if failure != nil || reply.Output != "ab" || reply.AlternatingChoices {
			t.Errorf("%s: %v, %q, alternating choices: %t", name, failure, reply.Output, reply.AlternatingChoices)
		}
	}
}

// TestAlternatingChoices: choices that come in separate messages are all part of the reply, which says so. A later choice without text changes nothing.
func TestAlternatingChoices(t *testing.T) {
	for _, c := range []struct {
		kind, last, output string
		want               bool
	}{
		{"chat", `{"choices":[{"index":1,"delta":{"content":"b"}}]}`, "ab", true},
		{"chat", `{"choices":[{"index":0,"delta":{"content":"b"}}]}`, "ab", false},
		{"chat", `{"choices":[{"index":1,"delta":{"content":""},"finish_reason":"stop"}]}`, "a", false},
		{"chat", `{"choices":[{"index":null,"delta":{"content":"b"}}]}`, "ab", false},
		{"completions", `{"choices":[{"index":12,"text":"b"}]}`, "ab", true},
	} {
		first := map[string]string{"chat": `{"choices":[{"index":0,"delta":{"content":"a"}}]}`, "completions": `{"choices":[{"index":0,"text":"a"}]}`}[c.kind]
		rec := &record.Record{End: 9}
		for i, m := range []string{first, c.last} {
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Raw: []byte("data: " + m + "\n\n")})
		}
		reply, failure := Decode(codec(t, c.kind, Settings{}), rec, DecodeOptions{})
		if failure != nil || reply.Output != c.output || reply.AlternatingChoices != c.want {
			t.Errorf("%s: %v, %q, alternating choices: %t", c.last, failure, reply.Output, reply.AlternatingChoices)
		}
	}
}

// TestBodyWithError: a body with content that reports an error is a failure, like a stream. An error that is empty, or a number, is none.
func TestBodyWithError(t *testing.T) {
	for text, want := range map[string]string{
		`{"message":"boom","code":429}`: "reports an error: boom", `"boom"`: "reports an error: boom", `null`: "", `{}`: "", `""`: "", `0.25`: "",
	} {
		body := `{"object":"chat.completion","choices":[{"message":{"content":"one"}}],"error":` + text + `}`
		rec := &record.Record{End: 9, Messages: []record.Message{{At: 1, Body: true, Raw: []byte(body)}}}
		_, failure := Decode(codec(t, "chat", Settings{}), rec, DecodeOptions{})
		if (failure != nil) != (want != "") || failure != nil && (!strings.Contains(failure.Message, want) || failure.Type != invalidResult) {
			t.Errorf("%s: %v", text, failure)
		}
	}
}

// TestEarlyUsage: a usage object that comes before the last content may not count all of it.
func TestEarlyUsage(t *testing.T) {
	const (
		text, usage = `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[],"usage":{"completion_tokens":2}}`
		both        = `{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":2}}`
		start       = `{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}`
		delta, end  = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","usage":{"output_tokens":2}}`
	)
	for _, c := range []struct {
		kind     string
		messages []string
		want     bool
	}{
		{"chat", []string{text, text, usage}, false},
		{"chat", []string{text, usage, text}, true},
		{"chat", []string{text, both, both}, false},
		{"chat", []string{`{"choices":[],"usage":{"prompt_tokens":7}}`, text}, false},
		{"chat", []string{text, text}, false},
		{"messages", []string{start, delta, delta, end}, false},
		{"messages", []string{start, delta, delta}, true},
	} {
		rec := &record.Record{End: 9}
		for i, m := range c.messages {
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Raw: []byte("data: " + m + "\n\n")})
		}
		reply, failure := Decode(codec(t, c.kind, Settings{}), rec, DecodeOptions{})
		if failure != nil || reply.EarlyUsage != c.want {
			t.Errorf("%s, %q: %v, early usage: %t", c.kind, c.messages, failure, reply.EarlyUsage)
		}
	}
}
