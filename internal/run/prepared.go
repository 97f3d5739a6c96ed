package run

import (
	"sync"
	"sync/atomic"

	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// preparedLimit limits the conversations that are stored for reuse, in bytes of their first requests.
const preparedLimit = 64 << 20

// entryOverhead is the approximate memory of a conversation and its request besides their texts, in bytes.
const entryOverhead = 4 << 10

// preparedStore stores conversations and their first requests, so that a dataset that is used repeatedly is generated once. It stops storing at its
// limit; other conversations are generated again, with equal content. Safe for concurrent use.
type preparedStore struct {
	data dataset.Dataset
	held atomic.Int64
	all  sync.Map // conversation index -> *preparedConversation; entries never change
}

// preparedConversation is a conversation with its first request.
type preparedConversation struct {
	conversation *conversation.Conversation
	first        *endpoint.Request // encoded first turn; nil = not encoded yet
}

// newPreparedStore returns an empty store for the conversations of a dataset.
func newPreparedStore(data dataset.Dataset) *preparedStore { return &preparedStore{data: data} }

// get returns conversation i: the stored one, or a new one without its first request.
func (p *preparedStore) get(i int) preparedConversation {
	if f, ok := p.all.Load(i); ok {
		return *f.(*preparedConversation)
	}
	return preparedConversation{conversation: p.data.Conversation(i)}
}

// holds reports whether conversation i and its first request are stored.
func (p *preparedStore) holds(i int) bool {
	_, ok := p.all.Load(i)
	return ok
}

// keep stores a conversation and its first request, if there is room.
func (p *preparedStore) keep(i int, c *conversation.Conversation, r *endpoint.Request) {
	if _, known := p.all.Load(i); known {
		return
	}
	size := int64(2*r.Body.Len() + entryOverhead) // the texts and the body
	if p.held.Add(size) > preparedLimit {
		p.held.Add(-size)
		return
	}
	p.all.Store(i, &preparedConversation{conversation: c, first: r})
}
