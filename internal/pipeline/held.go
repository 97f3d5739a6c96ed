package pipeline

import (
	"sync"
	"unsafe"

	"aiperf/internal/record"
)

// defaultMemory bounds what records hold that wait in memory, in bytes.
const defaultMemory = 128 << 20

// largePiece is the size in bytes from which on a piece of a request's body is counted: media. Smaller ones are no more than the rest of a record.
const largePiece = 64 << 10

// held counts the bytes of the records between their coming and the writing of their lines. A thousand answers of an ordinary size are
// nothing; a few that a server made as large as it may, or the pictures of a thousand requests, would be all memory there is.
type held struct {
	mu     sync.Mutex
	room   sync.Cond
	bytes  int64
	limit  int64
	pieces map[*byte]int // large ones of bodies: how many records hold each, by its first byte. Requests share them
}

func (h *held) init(limit int64) {
	if h.limit = limit; limit <= 0 {
		h.limit = defaultMemory
	}
	h.room.L = &h.mu
	h.pieces = map[*byte]int{}
}

// fits tells whether a record may be held whose answer has so many bytes; one always may. The caller holds mu.
func (h *held) fits(rec *record.Record, answer int64) bool {
	n := answer
	for _, piece := range rec.Payload.Ranges() {
		if len(piece) >= largePiece && h.pieces[&piece[0]] == 0 {
			n += int64(len(piece))
		}
	}
	return h.bytes == 0 || h.bytes+n <= h.limit
}

// add holds a record. The caller holds mu.
func (h *held) add(rec *record.Record, answer int64) {
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

// try takes room without waiting for it.
func (h *held) try(rec *record.Record, answer int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fits(rec, answer) {
		return false
	}
	h.add(rec, answer)
	return true
}

// take waits for room.
func (h *held) take(rec *record.Record, answer int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.fits(rec, answer) {
		h.room.Wait()
	}
	h.add(rec, answer)
}

// sent gives the room of what a record was asked with.
func (h *held) sent(rec *record.Record) {
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

// answered gives the room of an answer.
func (h *held) answered(n int64) {
	h.mu.Lock()
	h.bytes -= n
	h.mu.Unlock()
	h.room.Broadcast()
}

// size is about what an answer takes in memory, in bytes.
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
