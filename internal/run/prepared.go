package run

import (
	"sync"
	"sync/atomic"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
)

// preparedLimit bounds what is kept of conversations that come again, in bytes of their first request body.
const preparedLimit = 64 << 20

// prepared keeps conversations and their first request bodies, so that a dataset that is used over and over is made once. It stops
// keeping at its limit; what it does not hold is made again, equal. Safe for concurrent use.
type prepared struct {
	data dataset.Dataset
	held atomic.Int64
	all  sync.Map // conversation index -> *first
}

// first is a conversation with the body of its first request. Neither is changed by anybody.
type first struct {
	conversation *conversation.Conversation
	body         []byte
}

// session begins a session of conversation i.
func (p *prepared) session(i int) *session {
	if f, ok := p.all.Load(i); ok {
		f := f.(*first)
		return &session{conversation: f.conversation, body: f.body}
	}
	return &session{conversation: p.data.Conversation(i)}
}

// keep remembers a conversation and its first body, if there is runner.
func (p *prepared) keep(i int, c *conversation.Conversation, body []byte) {
	size := int64(2 * len(body)) // the texts and the body
	if p.held.Add(size) > preparedLimit {
		p.held.Add(-size)
		return
	}
	p.all.Store(i, &first{c, body})
}
