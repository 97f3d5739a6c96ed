package endpoint

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestThoughtsInParts: parts of type thinking are reasoning, in a stream and in a body; reasoning_content counts before them.
func TestThoughtsInParts(t *testing.T) {
	const thought = `{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m\n"}]}`
	for name, c := range map[string]struct {
		messages          []string
		body              bool
		output, reasoning string
		visible           []bool // by content
	}{
		"stream": {[]string{`{"choices":[{"delta":{"content":[` + thought + `]}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`, `{"choices":[{"delta":{"content":"b"}}]}`},
			false, "ab", "hm\n", []bool{false, true, true}},
		"body":        {[]string{`{"object":"chat.completion","choices":[{"message":{"content":[` + thought + `,{"type":"text","text":"a"}]}}]}`}, true, "a", "hm\n", []bool{true}},
		"two of them": {[]string{`{"choices":[{"delta":{"content":[` + thought + `,{"type":"thinking","thinking":"so"}]}}]}`}, false, "", "hm\nso", []bool{false}},
		"twice":       {[]string{`{"choices":[{"delta":{"reasoning_content":"x","content":[` + thought + `]}}]}`}, false, "", "x", []bool{false}},
		"empty":       {[]string{`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"thinking","thinking":7}]}}]}`, `{"choices":[{"delta":{"content":"a"}}]}`}, false, "a", "", []bool{true}},
	} {
		rec := &record.Record{End: 9}
		for i, m := range c.messages {
			if !c.body {
				m = "data: " + m + "\n\n"
			}
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Body: c.body, Raw: []byte(m)})
		}
		reply, failure := Decode(codec(t, "chat", Settings{}), rec, DecodeOptions{})
		if failure != nil || reply.Output != c.output || reply.Reasoning != c.reasoning || len(reply.Contents) != len(c.visible) {
			t.Errorf("%s: %v, %q, reasoning %q, %d contents", name, failure, reply.Output, reply.Reasoning, len(reply.Contents))
			continue
		}
		for i, want := range c.visible {
			if reply.Contents[i].Visible() != want {
				t.Errorf("%s: content %d is visible: %t", name, i, !want)
			}
		}
	}
}
