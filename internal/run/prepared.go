package run

import (
	"sync"
	"sync/atomic"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
)

// preparedLimit bounds what is kept of conversations that come again, in bytes of their first requests.
const preparedLimit = 64 << 20

// keptBeside is about what a conversation and its request need beside their texts, in bytes.
const keptBeside = 4 << 10

// prepared keeps conversations and their first requests, so that a dataset that is used over and over is made once. It stops
// keeping at its limit; what it does not hold is made again, equal. Safe for concurrent use.
type prepared struct {
	data dataset.Dataset
	held atomic.Int64
	all  sync.Map // conversation index -> *session, never changed
}

// session begins a session of conversation i.
func (p *prepared) session(i int) *session {
	if f, ok := p.all.Load(i); ok {
		begun := *f.(*session)
		return &begun
	}
	return &session{conversation: p.data.Conversation(i)}
}

// holds tells whether conversation i and its first request are kept.
func (p *prepared) holds(i int) bool {
	_, ok := p.all.Load(i)
	return ok
}

// keep remembers a conversation and its first request, if there is room.
func (p *prepared) keep(i int, c *conversation.Conversation, r *endpoint.Request) {
	if _, known := p.all.Load(i); known {
		return
	}
	size := int64(2*r.Body.Len() + keptBeside) // the texts and the body
	if p.held.Add(size) > preparedLimit {
		p.held.Add(-size)
		return
	}
	p.all.Store(i, &session{conversation: c, first: r})
}
