package endpoint

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestCallsOfOtherTools: the texts of calls count for every kind of tool, streamed or not, and each of them once.
func TestCallsOfOtherTools(t *testing.T) {
	const (
		named = `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"f","input":""}}]}}]}`
		piece = `{"choices":[{"delta":{"tool_calls":[{"index":0,"custom":{"input":"x"}}]}}]}`
		whole = `{"object":"chat.completion","choices":[{"message":{"content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"xx"}}]}}]}`
		items = `"output":[{"type":"custom_tool_call","name":"f","input":"x"},{"type":"mcp_call","name":"g","arguments":"y","output":"no"},` +
			`{"type":"code_interpreter_call","code":"z","outputs":[]},{"type":"web_search_call"}]`
		end = `{"type":"response.completed","response":{` + items + `}}`
	)
	added := func(item string) string { return `{"type":"response.output_item.added","item":{` + item + `}}` }
	for name, c := range map[string]struct {
		endpoint string
		messages []string
		body     bool
		output   string
		contents int
		memory   string
	}{
		"chat stream": {"chat", []string{named, piece, piece}, false, "fxx", 3,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"xx"}}]}`},
		"chat body": {"chat", []string{whole}, true, "fxx", 1,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":"xx"}}]}`},
		"responses body": {"responses", []string{`{"object":"response",` + items + `}`}, true, "fxgyz", 1, ""},
		"responses end":  {"responses", []string{end}, false, "fxgyz", 1, ""},
		"custom": {"responses", []string{added(`"type":"custom_tool_call","name":"f","input":""`), `{"type":"response.custom_tool_call_input.delta","delta":"x"}`,
			`{"type":"response.custom_tool_call_input.done","input":"x"}`, end}, false, "fx", 2, ""},
		"custom, whole": {"responses", []string{added(`"type":"custom_tool_call","name":"f"`), `{"type":"response.custom_tool_call_input.done","input":"x"}`}, false, "fx", 2, ""},
		"MCP": {"responses", []string{added(`"type":"mcp_call","name":"g"`), `{"type":"response.mcp_call_arguments.delta","delta":"y"}`,
			`{"type":"response.mcp_call_arguments.done","arguments":"y"}`}, false, "gy", 2, ""},
		"code": {"responses", []string{added(`"type":"code_interpreter_call","code":""`), `{"type":"response.code_interpreter_call_code.delta","delta":"z"}`,
			`{"type":"response.code_interpreter_call_code.done","code":"z"}`, `{"type":"response.code_interpreter_call.completed"}`}, false, "z", 1, ""},
	} {
		rec := &record.Record{End: 9}
		for i, m := range c.messages {
			if !c.body {
				m = "data: " + m + "\n\n"
			}
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Body: c.body, Raw: []byte(m)})
		}
		answers := codec(t, c.endpoint, Settings{})
		reply, failure := Decode(answers, rec, DecodeOptions{})
		if failure != nil || reply.Output != c.output || len(reply.Contents) != c.contents {
			t.Errorf("%s: %v, %q in %d messages", name, failure, reply.Output, len(reply.Contents))
		}
		if got := capture(answers, rec); c.endpoint == "chat" && got != c.memory {
			t.Errorf("%s: later turns repeat %s", name, got)
		}
	}
}
