package model

import (
	"hash/maphash"
	"sync/atomic"
)

// The shape of the cache: slots, and what an entry of 64 bytes holds beside its two lengths.
const (
	cacheSlots = 1 << 15
	cacheKey   = 30 // bytes of text
	cacheIDs   = 8  // ids
)

// cached is one piece with its ids. It is never written to after it was published.
type cached struct {
	keyLen, n uint8
	key       [cacheKey]byte
	ids       [cacheIDs]int32
}

// cache remembers the ids of short pieces that cost a merge. It is a table of atomic pointers, each slot holding the piece that came
// last: readers and writers never wait for each other, and its size has a bound. Words repeat, so most lookups hit.
type cache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cached]
}

func newCache() *cache {
	return &cache{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[cached], cacheSlots)}
}

// slot returns the place of a piece, nil for one too long to be kept.
func (c *cache) slot(piece string) *atomic.Pointer[cached] {
	if len(piece) > cacheKey {
		return nil
	}
	return &c.slots[maphash.String(c.seed, piece)&(cacheSlots-1)]
}

// append adds the ids of piece to dst if its slot (not nil) holds them.
func (c *cache) append(slot *atomic.Pointer[cached], dst []int32, piece string) ([]int32, bool) {
	e := slot.Load()
	if e == nil || string(e.key[:e.keyLen]) != piece {
		return dst, false
	}
	return append(dst, e.ids[:e.n]...), true
}

// put remembers the ids of piece in slot if they fit.
func (c *cache) put(slot *atomic.Pointer[cached], piece string, ids []int32) {
	if slot == nil || len(ids) > cacheIDs {
		return
	}
	e := &cached{keyLen: uint8(len(piece)), n: uint8(len(ids))}
	copy(e.key[:], piece)
	copy(e.ids[:], ids)
	slot.Store(e)
}
