package record

import (
	"encoding/json"
	"strings"
)

// Reason returns the message for a person: the text in a JSON body (OpenAI's error.message, FastAPI's detail, and similar ones), otherwise the whole
// message. Files contain the whole message.
func (e *Error) Reason() string {
	text := strings.TrimSpace(e.Message)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return e.Message
	}
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return e.Message
	}
	if said := reasonIn(doc, 0); said != "" {
		return said
	}
	return e.Message
}

// errorMembers are the members of a document that describe an error, best first.
var errorMembers = []string{"message", "error", "detail", "errors", "msg", "error_message", "reason", "title"}

// reasonIn returns the error text of a document.
func reasonIn(doc any, depth int) string {
	if depth > 4 {
		return ""
	}
	switch v := doc.(type) {
	case string:
		return strings.TrimSpace(v)
	case map[string]any:
		for _, key := range errorMembers {
			if text := reasonIn(v[key], depth+1); text != "" {
				return text
			}
		}
	case []any:
		var texts []string
		for _, one := range v {
			if text := reasonIn(one, depth+1); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	}
	return ""
}
