package public

import (
	"strings"

	"aiperf/internal/workload/conversation"
)

// placeholder marks the position of the image in a text.
const placeholder = "<image>"

// find returns the image of a row, nil if it has none.
type find func(b *builder, r row, v any) (*conversation.Blob, error)

// chats builds a prompt from the first user message of a recorded chat, with the image of the row.
func chats(column, image string, picture find) func(*builder) (convert, error) {
	return func(b *builder) (convert, error) {
		return func(r row) error {
			prompt := strings.TrimSpace(strings.ReplaceAll(firstUser(r.Row[column]), placeholder, ""))
			if prompt == "" {
				return b.skip("without text in " + column)
			}
			parts := []conversation.Part{textPart(prompt)}
			p, err := picture(b, r, r.Row[image])
			if err != nil {
				return err
			}
			if p != nil {
				parts = append(parts, conversation.Part{Kind: conversation.Image, Blob: p})
			}
			b.Add(single(r.where, parts...))
			return nil
		}, nil
	}
}

// firstUser returns the text of the first user message. If no message has a user role, it returns the text of the first message.
func firstUser(v any) string {
	list, _ := v.([]any)
	first := ""
	for i, item := range list {
		if inner, ok := item.([]any); ok { // turns in nested lists
			if len(inner) == 0 {
				continue
			}
			item = inner[0]
		}
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		who, what := optional(either(m, "role", "from")), optional(either(m, "content", "value"))
		switch strings.ToLower(who) {
		case "user", "human":
			return what
		}
		if i == 0 || first == "" {
			first = what
		}
	}
	return first
}

// either returns the value of the first key that exists.
func either(m map[string]any, keys ...string) any {
	for _, k := range keys {
		if v, ok := m[k]; ok && v != nil {
			return v
		}
	}
	return nil
}
