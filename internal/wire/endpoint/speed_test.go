package endpoint

import (
	"fmt"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// streamRecord is a chat stream of n content chunks.
func streamRecord(n int) *record.Record {
	rec := &record.Record{Start: 1, End: 1 << 40,
		Payload: record.Plain([]byte(`{"messages":[{"role":"user","content":"Name three rivers."}],"model":"m","stream":true}`))}
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
	c := chatCodec(b)
	const n = 100
	rec := streamRecord(n)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := Decode(c, rec, DecodeOptions{}); err != nil || len(r.Contents) != n {
			b.Fatal(err, len(r.Contents))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rec.Messages)), "ns/chunk")
}

func BenchmarkFirstContent(b *testing.B) {
	c := chatCodec(b)
	rec := streamRecord(1)
	b.ReportAllocs()
	for b.Loop() {
		r := NewReading(c, false)
		if ok, _ := r.Content(rec.Messages); !ok {
			b.Fatal("no content")
		}
		r.Finish(rec)
	}
}

func BenchmarkEncode(b *testing.B) {
	c := codec(b, "chat", Settings{Model: "m", Streaming: true})
	n := 128
	turn := conversation.Turn{MaxTokens: &n, Parts: conversation.Texts("", strings.Repeat("Shall I compare thee to a summer's day? ", 50))}
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		r, err := c.Encode(&turn, &History{})
		if err != nil {
			b.Fatal(err)
		}
		size = r.Body.Len()
	}
	b.SetBytes(int64(size))
}
