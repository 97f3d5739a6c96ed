package endpoint

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestResponsePairs: what a Responses stream says in pieces does not count again when it comes whole, and what came whole alone counts once.
func TestResponsePairs(t *testing.T) {
	const whole = `{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},` +
		`{"type":"message","content":[{"type":"output_text","text":"alpha beta"}]},{"type":"function_call","name":"f","arguments":"{}"}]}}`
	const spoken = `{"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"alpha beta"}]}]}}`
	for name, c := range map[string]struct {
		events          []string
		text, reasoning string
		last            int // index of the message that holds the last content
	}{
		"transcript":                 {[]string{`{"type":"response.audio_transcript.delta","delta":"hel"}`, `{"type":"response.audio_transcript.delta","delta":"lo"}`, spoken}, "hello", "", 1},
		"transcript, newer name":     {[]string{`{"type":"response.output_audio_transcript.delta","delta":"hello"}`, `{"type":"response.output_audio_transcript.done","transcript":"hello"}`, spoken}, "hello", "", 0},
		"transcript, older name":     {[]string{`{"type":"response.audio.transcript.delta","delta":"hello"}`, `{"type":"response.audio.transcript.done"}`, spoken}, "hello", "", 0},
		"transcript, then its text":  {[]string{`{"type":"response.audio_transcript.delta","delta":"hello"}`, `{"type":"response.output_text.done","text":"hello"}`}, "hello", "", 0},
		"transcript whole":           {[]string{`{"type":"response.audio_transcript.done","transcript":"hello"}`, spoken}, "hello", "", 0},
		"refusal":                    {[]string{`{"type":"response.refusal.delta","delta":"N"}`, `{"type":"response.refusal.delta","delta":"o"}`, `{"type":"response.refusal.done","refusal":"No"}`, whole}, "No", "", 1},
		"refusal whole":              {[]string{`{"type":"response.refusal.done","refusal":"No"}`, whole}, "No", "", 0},
		"summary":                    {[]string{`{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"hm"}`, `{"type":"response.reasoning_summary_text.done","summary_index":0,"text":"hm"}`, whole}, "alpha betaf{}", "hm", 2},
		"summaries, one of them bit": {[]string{`{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"hm"}`, `{"type":"response.reasoning_summary_text.done","summary_index":1,"text":"so"}`, `{"type":"response.output_text.delta","delta":"x"}`, whole}, "x", "hmso", 2},
		"reasoning whole":            {[]string{`{"type":"response.reasoning_text.done","text":"hm"}`, `{"type":"response.output_text.done","text":"hi"}`, whole}, "hi", "hm", 1},
		"arguments":                  {[]string{`{"type":"response.function_call_arguments.delta","delta":"{}"}`, `{"type":"response.function_call_arguments.done","arguments":"{}"}`, whole}, "{}", "", 0},
		"arguments whole": {[]string{`{"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}`, `{"type":"response.function_call_arguments.done","name":"f","arguments":"{}"}`, whole},
			"f{}", "", 1},
		"arguments at the end": {[]string{`{"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}`, whole}, "f{}", "", 1},
		"two places": {[]string{`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, `{"type":"response.output_text.done","output_index":0,"text":"a"}`,
			`{"type":"response.output_text.done","output_index":1,"text":"b"}`, `{"type":"response.output_text.done","output_index":1,"text":"b"}`}, "ab", "", 2},
		"empty pieces": {[]string{`{"type":"response.output_text.delta","delta":""}`, `{"type":"response.output_text.done","text":"a"}`, spoken}, "a", "", 1},
		"at the end":   {[]string{`{"type":"response.created"}`, whole}, "alpha betaf{}", "hm", 1},
	} {
		rec := &record.Record{End: 100}
		for i, e := range c.events {
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Raw: []byte("data: " + e)})
		}
		reply, failure := Decode(codec(t, "responses", Settings{Streaming: true}), rec, DecodeOptions{})
		if failure != nil || reply.Output != c.text || reply.Reasoning != c.reasoning || reply.Contents[len(reply.Contents)-1].Message != c.last {
			t.Errorf("%s: text %q, reasoning %q, %+v, %v; want %q, %q, last %d", name, reply.Output, reply.Reasoning, reply.Contents, failure, c.text, c.reasoning, c.last)
		}
	}
}
