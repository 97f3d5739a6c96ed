package serverprobe

import (
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/framing"
)

func asked() *ProbeRequest {
	return &ProbeRequest{Streaming: true, Model: "m", FixedLength: true, Marked: true, Tokenizer: "t", As: func(key string) string { return key },
		PromptTokens: 40, Count: func(text string) int { return len(strings.Fields(text)) }}
}

// TestTemplate: where the server's count is that of the chat template, the template is named, and not the tokenizer.
func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		server    int64
		with      int
		templated bool
		says      string
	}{{40, 0, false, ""}, {55, 0, false, "without a chat template"}, {55, 54, false, "tokenizer.apply_chat_template"}, {55, 54, true, ""}, {80, 54, false, "54 with the chat template"}} {
		a := asked()
		a.WithTemplate, a.Templated = c.with, c.templated
		reply := &record.Reply{Output: strings.Repeat("w ", Tokens), FinishReason: "length", Usage: &record.Usage{Prompt: c.server, Completion: Tokens}, Contents: make([]record.Content, Tokens)}
		p := Read(a, []record.Message{{Raw: []byte("data: [DONE]"), Line: true}}, reply)
		if found := strings.Join(tokens(a, p), "\n"); c.says == "" && found != "" || !strings.Contains(found, c.says) {
			t.Errorf("%+v: %s", c, found)
		}
	}
}

// TestForcedLength: a model that is forced to continue may do so with special tokens, which no event shows; that does not mean a wrong tokenizer.
func TestForcedLength(t *testing.T) {
	reply := &record.Reply{Output: "blue", FinishReason: "length", Usage: &record.Usage{Prompt: 40, Completion: Tokens}, Contents: []record.Content{{Text: "blue"}}}
	p := Read(asked(), []record.Message{{Raw: []byte("data: {}"), Line: true}, {Raw: []byte(`data: {"model":"m","usage":{"completion_tokens":16}}`), Line: true}, {Raw: []byte("data: [DONE]"), Line: true}}, reply)
	if len(p.Findings) != 0 || p.Length != metric.LengthReached || p.TokensPerEvent != 1 || p.Usage != metric.UsageEnd {
		t.Errorf("%+v", p)
	}
}

// TestLines: a probe reads lines of JSON as it reads events: the model, the thoughts, the counts of the last line.
func TestLines(t *testing.T) {
	a := asked()
	a.Marked, a.Framing = false, framing.NDJSON{Last: func(doc []byte) (last, mark bool) {
		last = strings.Contains(string(doc), `"done":true`)
		return last, last
	}}
	reply := &record.Reply{Output: "blue", Reasoning: "hm", FinishReason: "length", Usage: &record.Usage{Prompt: 40, Completion: Tokens},
		Contents: []record.Content{{Message: 0, Kind: record.Reasoning}, {Message: 1, Text: "blue"}}}
	p := Read(a, []record.Message{{Raw: []byte(`{"model":"m","message":{"content":"","thinking":"hm"},"done":false}`), Line: true},
		{Raw: []byte(`{"model":"m","message":{"content":"blue"},"done":false}`), Line: true}, {Raw: []byte(`{"model":"m","done":true,"eval_count":16}`), Line: true}}, reply)
	if !p.Streamed || !p.Done || p.Model != "m" || p.ReasoningField != "thinking" || p.Usage != metric.UsageEnd || p.Length != metric.LengthReached {
		t.Errorf("%+v", p)
	}
}

// FuzzRead: no answer breaks the probe, and what it says of it holds together.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`data: {"model":"m","choices":[{"delta":{"reasoning":"x"}}],"usage":{"prompt_tokens":3}}`), false)
	f.Add([]byte(`{"response":{"model":"m","usage":{"input_tokens":3}},"output":[{"type":"reasoning"}],"message":{"usage":{"x":1}}}`), true)
	f.Fuzz(func(t *testing.T, raw []byte, body bool) {
		p := Read(asked(), []record.Message{{Raw: raw, Body: body}, {Raw: raw, Body: body}}, &record.Reply{Output: "a b", Contents: []record.Content{{Text: "a b"}}})
		if p.Streamed == body || p.Usage == metric.UsageBody && !body || p.Done && body {
			t.Fatalf("%+v", p)
		}
		for _, text := range p.Findings {
			if text == "" || strings.Contains(text, "%!") {
				t.Fatalf("%q", text)
			}
		}
	})
}
