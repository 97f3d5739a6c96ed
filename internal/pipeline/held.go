package pipeline

import (
	"sync"
	"unsafe"

	"aiperf/internal/record"
)

// defaultMemory bounds the answers that wait in memory, in bytes.
const defaultMemory = 256 << 20

// held counts the bytes of the records between their coming and the writing of their lines. A thousand answers of an ordinary size are
// nothing; a few that a server made as large as it may would be all memory there is.
type held struct {
	mu    sync.Mutex
	room  sync.Cond
	bytes int64
	limit int64
}

func (h *held) init(limit int64) {
	if h.limit = limit; limit <= 0 {
		h.limit = defaultMemory
	}
	h.room.L = &h.mu
}

// fits tells whether so many bytes more may be held; one record always may.
func (h *held) fits(n int64) bool { return h.bytes == 0 || h.bytes+n <= h.limit }

// try takes room without waiting for it.
func (h *held) try(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fits(n) {
		return false
	}
	h.bytes += n
	return true
}

// take waits for room.
func (h *held) take(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.fits(n) {
		h.room.Wait()
	}
	h.bytes += n
}

func (h *held) give(n int64) {
	h.mu.Lock()
	h.bytes -= n
	h.mu.Unlock()
	h.room.Broadcast()
}

// size is about what an answer takes in memory, in bytes. What was sent is not counted: requests share it.
func size(rec *record.Record) int64 {
	n := len(rec.Messages) * int(unsafe.Sizeof(record.Message{}))
	for i := range rec.Messages {
		m := &rec.Messages[i]
		n += len(m.Raw)
		for _, f := range m.Fields {
			n += int(unsafe.Sizeof(f)) + len(f.Value)
		}
	}
	return int64(n)
}
