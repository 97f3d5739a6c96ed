package pipeline

import (
	"sync"

	"aiperf/internal/measure/record"
)

// defaultMemory is the default maximum size of records that wait in memory, in bytes.
const defaultMemory = 128 << 20

// largePiece is the size in bytes from which a part of a request's body is counted, such as media. Smaller parts need no more memory than the rest of
// a record.
const largePiece = 64 << 10

// recordMemory counts the bytes of the records from their arrival until their lines are written. A thousand ordinary answers need little memory. But a
// few answers of the maximum size, or the images of a thousand requests, could use all of it.
type recordMemory struct {
	mu     sync.Mutex
	room   sync.Cond
	bytes  int64
	limit  int64
	pieces map[*byte]int // number of records that use each large part of a body, by its first byte; requests share parts
}

func (h *recordMemory) init(limit int64) {
	if h.limit = limit; limit <= 0 {
		h.limit = defaultMemory
	}
	h.room.L = &h.mu
	h.pieces = map[*byte]int{}
}

// fits reports whether there is room for a record with an answer of the given size. A single record always fits. The caller must hold mu.
func (h *recordMemory) fits(rec *record.Record, answer int64) bool {
	n := answer
	for _, piece := range rec.Payload.Ranges() {
		if len(piece) >= largePiece && h.pieces[&piece[0]] == 0 {
			n += int64(len(piece))
		}
	}
	return h.bytes == 0 || h.bytes+n <= h.limit
}

// add counts a record. The caller must hold mu.
func (h *recordMemory) add(rec *record.Record, answer int64) {
	h.bytes += answer
	for _, piece := range rec.Payload.Ranges() {
		if len(piece) < largePiece {
			continue
		}
		if h.pieces[&piece[0]]++; h.pieces[&piece[0]] == 1 {
			h.bytes += int64(len(piece))
		}
	}
}

// try reserves room for a record if there is enough.
func (h *recordMemory) try(rec *record.Record, answer int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fits(rec, answer) {
		return false
	}
	h.add(rec, answer)
	return true
}

// take reserves room for a record and waits until there is enough.
func (h *recordMemory) take(rec *record.Record, answer int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.fits(rec, answer) {
		h.room.Wait()
	}
	h.add(rec, answer)
}

// sent releases the room of a record's request.
func (h *recordMemory) sent(rec *record.Record) {
	h.mu.Lock()
	for _, piece := range rec.Payload.Ranges() {
		if len(piece) < largePiece {
			continue
		}
		if h.pieces[&piece[0]]--; h.pieces[&piece[0]] == 0 {
			delete(h.pieces, &piece[0])
			h.bytes -= int64(len(piece))
		}
	}
	h.mu.Unlock()
	h.room.Broadcast()
}

// answered releases the room of an answer.
func (h *recordMemory) answered(n int64) {
	h.mu.Lock()
	h.bytes -= n
	h.mu.Unlock()
	h.room.Broadcast()
}
