package endpoint

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/conversation"
	"aiperf/internal/record"
)

// streamRecord is a chat stream of n content chunks.
func streamRecord(n int) *record.Record {
	rec := &record.Record{Start: 1, End: 1 << 40,
		Payload: []byte(`{"messages":[{"role":"user","content":"Name three rivers."}],"model":"m","stream":true}`)}
	add := func(s string) {
		rec.Messages = append(rec.Messages, record.Message{At: int64(len(rec.Messages) + 2), Raw: []byte(s)})
	}
	const head = `data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1763733915,"model":"meta-llama/Llama-3.1-8B","choices":[{"index":0,"delta":`
	add(head + `{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`)
	for i := range n {
		add(fmt.Sprintf("%s"+`{"content":" word%d"},"logprobs":null,"finish_reason":null}]}`, head, i))
	}
	add(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`)
	add("data: [DONE]")
	return rec
}

func BenchmarkDecodeChunk(b *testing.B) {
	e, _, _ := Lookup("chat")
	const n = 100
	rec := streamRecord(n)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := e.Decode(rec, DecodeOptions{}); err != nil || len(r.Contents) != n {
			b.Fatal(err, len(r.Contents))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rec.Messages)), "ns/chunk")
}

func BenchmarkFirstContent(b *testing.B) {
	e, _, _ := Lookup("chat")
	m := &streamRecord(1).Messages[1]
	b.ReportAllocs()
	for b.Loop() {
		if !e.FirstContent(m) {
			b.Fatal("no content")
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	e, _, _ := Lookup("chat")
	n := 128
	conv := conversation.Conversation{Turns: []conversation.Turn{{MaxTokens: &n,
		Texts: []conversation.Media{{Contents: []string{strings.Repeat("Shall I compare thee to a summer's day? ", 50)}}}}}}
	in := Input{Conversation: &conv, Model: "m", Streaming: true}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = e.Encode(dst[:0], &in); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(dst)))
}
