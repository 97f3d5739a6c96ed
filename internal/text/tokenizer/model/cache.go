package model

import (
	"hash/maphash"
	"sync/atomic"
)

// The size of the cache: the number of slots, and the content of an entry of 64 bytes besides its two lengths.
const (
	cacheSlots = 1 << 15
	cacheKey   = 30 // bytes of text
	cacheIDs   = 8  // ids
)

// cachedPiece is one piece with its ids. It does not change after publication.
type cachedPiece struct {
	keyLen, n uint8
	key       [cacheKey]byte
	ids       [cacheIDs]int32
}

// cache stores the ids of short pieces that need merges. It is a table of atomic pointers, and each slot holds its latest piece. Readers and writers
// never wait for each other, and the size is limited. Words repeat, so most lookups hit.
type cache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cachedPiece]
}

func newCache() *cache {
	return &cache{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[cachedPiece], cacheSlots)}
}

// slot returns the slot of a piece; nil if it is too long.
func (c *cache) slot(piece string) *atomic.Pointer[cachedPiece] {
	if len(piece) > cacheKey {
		return nil
	}
	return &c.slots[maphash.String(c.seed, piece)&(cacheSlots-1)]
}

// append appends the ids of piece to dst if its slot (not nil) contains them.
func (c *cache) append(slot *atomic.Pointer[cachedPiece], dst []int32, piece string) ([]int32, bool) {
	e := slot.Load()
	if e == nil || string(e.key[:e.keyLen]) != piece {
		return dst, false
	}
	return append(dst, e.ids[:e.n]...), true
}

// put stores the ids of piece in slot if they fit.
func (c *cache) put(slot *atomic.Pointer[cachedPiece], piece string, ids []int32) {
	if slot == nil || len(ids) > cacheIDs {
		return
	}
	e := &cachedPiece{keyLen: uint8(len(piece)), n: uint8(len(ids))}
	copy(e.key[:], piece)
	copy(e.ids[:], ids)
	slot.Store(e)
}
