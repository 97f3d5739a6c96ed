package record

import (
	"encoding/json"
	"strings"
)

// Said returns the message for a person: the text in a JSON body (OpenAI's error.message, FastAPI's detail, and similar ones), otherwise the whole
// message. Files contain the whole message.
func (e *Error) Said() string {
	text := strings.TrimSpace(e.Message)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return e.Message
	}
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return e.Message
	}
	if said := said(doc, 0); said != "" {
		return said
	}
	return e.Message
}

// saying are the members of a document that describe an error, best first.
var saying = []string{"message", "error", "detail", "errors", "msg", "error_message", "reason", "title"}

// said returns the error text of a document.
func said(doc any, depth int) string {
	if depth > 4 {
		return ""
	}
	switch v := doc.(type) {
	case string:
		return strings.TrimSpace(v)
	case map[string]any:
		for _, key := range saying {
			if text := said(v[key], depth+1); text != "" {
				return text
			}
		}
	case []any:
		var texts []string
		for _, one := range v {
			if text := said(one, depth+1); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	}
	return ""
}
