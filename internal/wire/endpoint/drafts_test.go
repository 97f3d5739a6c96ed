package endpoint

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestDrafts: counts of speculative decoding are read if one document of an answer has them, and only if they are consistent.
func TestDrafts(t *testing.T) {
	const good = `{"acceptance_histogram":[2,1,3],"num_spec_steps":6,"num_accepted_draft_tokens":7,"num_draft_tokens":12,"num_spec_tokens":2}`
	const word = `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}`
	usage := func(stats string) string {
		return `{"object":"chat.completion.chunk","choices":[],"usage":{"completion_tokens":13},"metrics":{"other":1,"speculative_decoding":` + stats + `}}`
	}
	for _, c := range []struct {
		name, kind string
		docs       []string
		want       int64 // accepted; -1 = nothing
	}{
		{"at the end", "chat", []string{word, usage(good)}, 7},
		{"twice", "chat", []string{word, usage(good), usage(good)}, -1},
		{"empty beside it", "chat", []string{word, usage("{}"), usage(good)}, 7},
		{"more right than guessed", "chat", []string{word, usage(`{"acceptance_histogram":[2,1,3],"num_spec_steps":6,"num_accepted_draft_tokens":7,"num_draft_tokens":6}`)}, -1},
		{"another number of steps", "chat", []string{word, usage(`{"acceptance_histogram":[2],"num_spec_steps":6,"num_accepted_draft_tokens":0,"num_draft_tokens":6}`)}, -1},
		{"more buckets than guesses", "chat", []string{word, usage(`{"acceptance_histogram":[2,0,0],"num_spec_steps":2,"num_accepted_draft_tokens":0,"num_draft_tokens":6,"num_spec_tokens":1}`)}, -1},
		{"a text", "chat", []string{word, usage(`"none"`)}, -1},
		{"older", "chat", []string{word, `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop","speculative_decoding_stats":` + good + `}]}`}, 7},
		{"completions", "completions", []string{`{"object":"text_completion","choices":[{"text":"a"}],"metrics":{"speculative_decoding":` + good + `}}`}, 7},
		{"none", "chat", []string{word}, -1},
	} {
		rec := &record.Record{}
		for _, doc := range c.docs {
			rec.Messages = append(rec.Messages, record.Message{Line: true, Raw: []byte("data: " + doc)})
		}
		reply, failure := Decode(codec(t, c.kind, Settings{Streaming: true}), rec, DecodeOptions{})
		got := int64(-1)
		if reply.Drafts != nil {
			got = reply.Drafts.Accepted
		}
		if failure != nil || got != c.want {
			t.Errorf("%s: %d, want %d (%v)", c.name, got, c.want, failure)
		}
	}
}
