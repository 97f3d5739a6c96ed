package endpoint

import "aiperf/internal/conversation"

// Before is the history of a turn of a conversation whose turns follow one another, as its mode wants it. replies are what the answers to
// the turns before it left, by turn; shorter is fine.
func Before(c *conversation.Conversation, turn int, replies []Memory) *History {
	h := &History{System: c.System, UserContext: c.UserContext}
	if c.Mode == conversation.MessageArrayWithResponses || turn == 0 {
		return h
	}
	h.Past = make([]Past, turn)
	for i := range h.Past {
		h.Past[i].Turn = &c.Turns[i]
		if c.Live() && i < len(replies) {
			h.Past[i].Reply = replies[i]
		}
	}
	return h
}
