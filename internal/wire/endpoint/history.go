package endpoint

import "aiperf/internal/workload/conversation"

// Before returns the history of a turn in a conversation whose turns follow each other, according to the conversation's mode. replies are the
// memories of the answers to earlier turns, by turn; the list may be shorter.
func Before(c *conversation.Conversation, turn int, replies []Memory) *History {
	h := &History{System: c.System, UserContext: c.UserContext}
	if c.Mode == conversation.MessageArrayWithResponses || turn == 0 {
		return h
	}
	h.Past = make([]PastTurn, turn)
	for i := range h.Past {
		h.Past[i].Turn = &c.Turns[i]
		if c.Live() && i < len(replies) {
			h.Past[i].Reply = replies[i]
		}
	}
	return h
}
