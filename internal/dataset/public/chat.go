package public

import (
	"strings"

	"aiperf/internal/conversation"
)

// placeholder stands in texts where the picture belongs.
const placeholder = "<image>"

// find gives the picture of a row, nil if it has none.
type find func(b *builder, r row, v any) (*conversation.Blob, error)

// chats makes a prompt of the first user message of a recorded chat, with the row's picture.
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

// firstUser is the text of the first message of a user; where nobody is called that, of the first message.
func firstUser(v any) string {
	list, _ := v.([]any)
	first := ""
	for i, item := range list {
		if inner, ok := item.([]any); ok { // turns in lists of their own
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

// either is the value of the first key that is there.
func either(m map[string]any, keys ...string) any {
	for _, k := range keys {
		if v, ok := m[k]; ok && v != nil {
			return v
		}
	}
	return nil
}
