package endpoint

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestLastMessage: the last message ends the answer of a template's stream, with text or without; [DONE] is not a message of an answer. The instants are
// those that the messages have in the end.
func TestLastMessage(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		events []string
		end    int // index of the message that ends the answer; -1 = that of the last content
	}{
		"no text":       {"template", []string{`{"text":"a"}`, `{"text":""}`, `[DONE]`}, 1},
		"other members": {"raw", []string{`{"text":"a"}`, `{"text":"b"}`, `{"done":true,"usage":{"prompt_tokens":1}}`}, 2},
		"text":          {"template", []string{`{"text":"a"}`, `{"text":"b"}`, `[DONE]`}, -1},
		"chat":          {"chat", []string{`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`}, -1},
	} {
		s := Settings{Streaming: true}
		if c.kind == "template" {
			s.Extras = []Member{{"payload_template", []byte(`"nv-embedqa"`)}}
		}
		rec := &record.Record{End: 100}
		for i, e := range c.events {
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Raw: []byte("data: " + e)})
		}
		r := NewReading(codec(t, c.kind, s), false)
		if failure := r.All(rec.Messages); failure != nil {
			t.Fatal(failure)
		}
		for i := range rec.Messages {
			rec.Messages[i].At += 10
		}
		reply, failure := r.Finish(rec)
		want := int64(0)
		if c.end >= 0 {
			want = int64(c.end) + 11
		}
		if failure != nil || reply.End != want || want > 0 && reply.EndMessage != c.end {
			t.Errorf("%s: the answer ends at %d (message %d), want %d; %v", name, reply.End, reply.EndMessage, want, failure)
		}
	}
}
