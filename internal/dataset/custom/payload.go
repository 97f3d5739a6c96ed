package custom

import (
	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
)

// readRawPayload reads one request body a row. The body is sent as it stands.
func readRawPayload(l *loader, path string) error {
	return rows.Read(path, func(line rows.Line) bool {
		if rows.Parse(line.Where(), line.Text, &l.faults) != nil {
			l.set.conversations = append(l.set.conversations, conversation.Conversation{
				ID:    l.newID(),
				Turns: []conversation.Turn{{RawPayload: line.Text, Origin: line.Where()}},
				Mode:  conversation.MessageArrayWithResponses,
			})
		}
		return true
	})
}
