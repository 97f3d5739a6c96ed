package transport

import (
	"bytes"
	"sync"

	"aiperf/internal/measure/record"
)

// arena holds the bytes of one record's messages in pooled pages. A record that is still waiting costs one small page; a body that brings much gets
// larger pages. The messages of a stream are packed when their page is full, except those of the first page, which are read when the request ends.
type arena struct {
	full     []*page
	cur      *page
	total    int // bytes in full pages
	messages []record.Message
	onPages  int   // messages whose bytes are on full pages
	marks    []int // indexes of messages that only mark the end of the stream
	packed   record.Packed
	details  record.Details // of a body
}

type page struct {
	buf   []byte
	class int8 // index into pageSizes; -1 = allocated to measure, not pooled
}

var pageSizes = [...]int{2 << 10, 16 << 10, 64 << 10}

var pagePools [len(pageSizes)]sync.Pool

var arenaPool = sync.Pool{New: func() any { return new(arena) }}

func newArena() *arena { return arenaPool.Get().(*arena) }

// add appends bytes to the current page. keep is the index of the first byte of the page that must stay contiguous with them. It returns the page's
// bytes and by how much the kept bytes moved down, into a new page.
func (a *arena) add(b []byte, keep int) (all []byte, moved int) {
	if a.cur == nil {
		a.cur = newPage(len(b), a.total)
	}
	if have := len(a.cur.buf); have+len(b) > cap(a.cur.buf) {
		kept, old := have-keep, a.cur
		free := a.turn(keep)
		p := newPage(max(kept+len(b), min(2*kept, 1<<30)), a.total)
		p.buf = append(p.buf, old.buf[keep:have]...)
		if free {
			old.free()
		}
		a.cur, moved = p, keep
	}
	a.cur.buf = append(a.cur.buf, b...)
	return a.cur.buf, moved
}

// turn packs the messages on the first bytes of the current page, or adds the page to the full ones. It reports whether the page is free for others.
func (a *arena) turn(complete int) (free bool) {
	if complete == 0 {
		return true // the whole page was one unfinished message
	}
	if free = len(a.full) > 0 && a.packed.Pack(a.messages, a.onPages); !free {
		a.total += complete
		a.cur.buf = a.cur.buf[:complete]
		a.full = append(a.full, a.cur)
	}
	a.onPages = len(a.messages)
	return free
}

// newPage returns a page with room for need bytes, for a record that already holds held bytes.
func newPage(need, held int) *page {
	for class, size := range pageSizes {
		if need <= size && (held < 2*size || class == len(pageSizes)-1) {
			if p, ok := pagePools[class].Get().(*page); ok {
				return p
			}
			return &page{buf: make([]byte, 0, size), class: int8(class)}
		}
	}
	return &page{buf: make([]byte, 0, need), class: -1}
}

func (p *page) free() {
	if p.class >= 0 {
		p.buf = p.buf[:0]
		pagePools[p.class].Put(p)
	}
}

// maxKeptMessages is the length above which a message list is not pooled but left to the garbage collector.
const maxKeptMessages = 4096

// shorten keeps the first messages, up to keep bytes together, and returns the pages to the pool. The surplus of an oversized answer is not carried
// through the run.
func (a *arena) shorten(keep int) {
	kept := beginning(a.messages, keep)
	a.reset()
	a.messages = kept
}

// Beginning copies the first messages of an answer that was too large. It keeps at most keptTooLarge bytes.
func Beginning(messages []record.Message) []record.Message { return beginning(messages, keptTooLarge) }

// beginning copies the first messages, up to keep bytes. An empty message counts as EventShare bytes.
func beginning(messages []record.Message, keep int) (kept []record.Message) {
	record.Unpack(messages[:min(len(messages), keep/EventShare+1)])
	for _, m := range messages {
		if keep -= max(len(m.Raw), EventShare); keep < 0 {
			break
		}
		m.Raw = bytes.Clone(m.Raw)
		kept = append(kept, m)
	}
	return kept
}

// free returns the pages to the pool and drops the messages.
func (a *arena) free() {
	a.reset()
	arenaPool.Put(a)
}

// reset returns the pages to the pool and empties the message list.
func (a *arena) reset() {
	for _, p := range a.full {
		p.free()
	}
	clear(a.full)
	a.full = a.full[:0]
	if a.cur != nil {
		a.cur.free()
		a.cur = nil
	}
	a.total, a.onPages, a.marks = 0, 0, a.marks[:0]
	a.packed.Reset()
	clear(a.messages)
	a.messages = a.messages[:0]
	if cap(a.messages) > maxKeptMessages {
		a.messages = nil
	}
}
