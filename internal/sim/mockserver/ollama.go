package mockserver

import "strconv"

// Paths of Ollama's own APIs.
const (
	ollamaChatPath     = "/api/chat"
	ollamaGeneratePath = "/api/generate"
)

// ollamaChatWire and ollamaGenerateWire are the formats of Ollama: JSON lines, the last of which has the token counts. They differ in the member with
// the words.
var (
	ollamaChatWire     = ollamaWire(`"message":{"role":"assistant","content":`, `,"thinking":`, `}`)
	ollamaGenerateWire = ollamaWire(`"response":`, `,"thinking":`, ``)
)

// ollamaWire returns the format of an API of Ollama: open precedes the words, thinking precedes the reasoning, and shut follows both.
func ollamaWire(open, thinking, shut string) wire {
	head := func(st *stream) string {
		return `{"model":` + quoted(st.model) + `,"created_at":"2026-01-01T00:00:00Z",`
	}
	return wire{
		reasons: true, counts: true, lines: true,
		content:   func(st *stream) string { return head(st) + open + `"` },
		reasoning: func(st *stream) string { return head(st) + open + `""` + thinking + `"` },
		after:     `"` + shut + `,"done":false}`,
		end:       func(st *stream) string { return head(st) + open + `""` + shut + ollamaEnd(st) },
		whole: func(st *stream, _, _ string) []byte {
			b := append([]byte(head(st)), open...)
			if st.script.tokens == 0 {
				b = append(b, '"', '"')
			} else {
				b = st.text(b, st.script.tokens, &st.truth.Tokens)
			}
			if st.script.reasoning > 0 {
				b = st.text(append(b, thinking...), st.script.reasoning, &st.truth.Reasoning)
			}
			return append(b, shut+ollamaEnd(st)...)
		},
	}
}

// ollamaEnd returns the rest of the last document: the finish reason, and the token counts of prompt and answer.
func ollamaEnd(st *stream) string {
	tail := `,"done":true,"done_reason":"` + st.script.finish + `"`
	if st.opts.Usage {
		tail += `,"prompt_eval_count":` + strconv.Itoa(st.prompt) + `,"eval_count":` + strconv.Itoa(st.truth.Tokens+st.truth.Reasoning)
	}
	return tail + `}`
}
