package public

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/base/jsontext"
)

// Converts messages of recorded calls (OpenTelemetry's GenAI conventions, gen_ai.input.messages) to chat messages.

// recordedMessage is a message: a role and its parts.
type recordedMessage struct {
	Role  string         `json:"role"`
	Parts []recordedPart `json:"parts"`
}

// recordedPart is a part of a message. Which of its members are there depends on its type.
type recordedPart struct {
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Thinking  json.RawMessage `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Response  json.RawMessage `json:"response"`
	Result    json.RawMessage `json:"result"`
}

// message is a chat message.
type message struct {
	Role       string     `json:"role"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Content    string     `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// messages returns all messages of a call, system messages first.
func messages(attributes map[string]any) ([]json.RawMessage, error) {
	var all []message
	system, err := instructions(optional(attributes["gen_ai.system_instructions"]))
	if err != nil {
		return nil, err
	}
	if system != "" {
		all = append(all, message{Role: "system", Content: system})
	}
	var list []recordedMessage
	if err := json.Unmarshal([]byte(optional(attributes["gen_ai.input.messages"])), &list); err != nil {
		return nil, fmt.Errorf("gen_ai.input.messages: not a JSON list of messages: %w", err)
	}
	for _, r := range list {
		some, err := r.messages()
		if err != nil {
			return nil, fmt.Errorf("gen_ai.input.messages: %w", err)
		}
		all = append(all, some...)
	}
	raw := make([]json.RawMessage, len(all))
	for i, m := range all {
		if raw[i], err = compact(m); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// instructions returns the system instructions from plain text or a JSON list of parts.
func instructions(text string) (string, error) {
	parts, listed := partsOf(text)
	if !listed {
		return text, nil
	}
	all := ""
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("gen_ai.system_instructions: unknown part %q", p.Type)
		}
		all += plainText(p.Content)
	}
	return all, nil
}

// partsOf parses a JSON list of parts. It returns false for plain text, which may also start with a bracket.
func partsOf(text string) (parts []recordedPart, listed bool) {
	listed = strings.HasPrefix(strings.TrimSpace(text), "[") && json.Unmarshal([]byte(text), &parts) == nil
	return parts, listed
}

// messages converts a recorded message to chat messages: its own, and one for each tool result in it. Parts before a tool result become a separate
// message.
func (r recordedMessage) messages() (all []message, err error) {
	role := r.Role
	if role == "developer" {
		role = "system"
	}
	m := message{Role: role}
	filled, sent := false, false
	for _, p := range r.Parts {
		switch p.Type {
		case "text":
			m.Content += plainText(p.Content)
		case "thinking", "reasoning":
			if p.Thinking == nil {
				p.Thinking = p.Content
			}
			m.Reasoning += plainText(p.Thinking)
		case "tool_call":
			m.ToolCalls = append(m.ToolCalls, toolCall{ID: p.ID, Type: "function", Function: function{p.Name, plainText(p.Arguments)}})
		case "tool_call_response":
			if filled {
				all = append(all, m)
			}
			answer := p.Response
			if answer == nil {
				answer = p.Result
			}
			all = append(all, message{Role: "tool", ToolCallID: p.ID, Content: plainText(answer)})
			m, filled, sent = message{Role: role}, false, true
			continue
		default:
			return nil, fmt.Errorf("unknown part %q in a message of %s", p.Type, r.Role)
		}
		filled = true
	}
	if filled || !sent {
		all = append(all, m)
	}
	return all, nil
}

// plainText returns a text, or any other value as compact JSON.
func plainText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(jsontext.AppendCompact(nil, &jsontext.Scanner{Doc: raw}))
}

// tools converts tool definitions to the format of chat bodies. A flat definition becomes the member function.
func tools(v any) (json.RawMessage, error) {
	text := optional(v)
	if text == "" {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("gen_ai.tool.definitions: not a JSON list: %w", err)
	}
	for i, raw := range list {
		var flat struct {
			Type        string          `json:"type"`
			Function    json.RawMessage `json:"function,omitempty"`
			Name        string          `json:"name"`
			Description json.RawMessage `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters,omitempty"`
		}
		if err := json.Unmarshal(raw, &flat); err != nil {
			return nil, fmt.Errorf("gen_ai.tool.definitions[%d]: %w", i, err)
		}
		if flat.Function != nil {
			continue
		}
		inner, err := compact(struct {
			Name        string          `json:"name"`
			Description json.RawMessage `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters,omitempty"`
		}{flat.Name, flat.Description, flat.Parameters})
		if err != nil {
			return nil, err
		}
		list[i] = json.RawMessage(`{"type":"function","function":` + string(inner) + `}`)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return compact(list)
}
