package inputs

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

// PreparedStore stores conversations and their first requests, so that a dataset that is used repeatedly is generated once. It stops storing at its
// limit; other conversations are generated again, with equal content. Safe for concurrent use.
type PreparedStore struct {
	data dataset.Dataset
	held atomic.Int64
	all  sync.Map // conversation index -> *Prepared; entries never change
}

// Prepared is a conversation with its first request.
type Prepared struct {
	Conversation *conversation.Conversation
	First        *endpoint.Request // encoded first turn; nil = not encoded yet
}

// NewPreparedStore returns an empty store for the conversations of a dataset.
func NewPreparedStore(data dataset.Dataset) *PreparedStore { return &PreparedStore{data: data} }

// Get returns conversation i: the stored one, or a new one without its first request.
func (p *PreparedStore) Get(i int) Prepared {
	if f, ok := p.all.Load(i); ok {
		return *f.(*Prepared)
	}
	return Prepared{Conversation: p.data.Conversation(i)}
}

// holds reports whether conversation i and its first request are stored.
func (p *PreparedStore) holds(i int) bool {
	_, ok := p.all.Load(i)
	return ok
}

// Keep stores a conversation and its first request, if there is room.
func (p *PreparedStore) Keep(i int, c *conversation.Conversation, r *endpoint.Request) {
	if _, known := p.all.Load(i); known {
		return
	}
	size := int64(2*r.Body.Len() + entryOverhead) // the texts and the body
	if p.held.Add(size) > preparedLimit {
		p.held.Add(-size)
		return
	}
	p.all.Store(i, &Prepared{Conversation: c, First: r})
}
