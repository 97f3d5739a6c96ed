// Package model turns a piece of text into token ids: byte-pair merging, Unigram, WordPiece, whole words. Models are immutable once
// built and safe for concurrent use; what a call needs to write to is in its Scratch.
package model

import (
	"hash/maphash"
	"math/bits"
)

// None is returned for a text that is no token.
const None int32 = -1

// Vocab maps texts to ids: one blob of bytes and an open-addressing table of entries, far smaller than a Go map of strings.
type Vocab struct {
	blob  []byte
	off   []uint32 // entry i is blob[off[i]:off[i+1]]
	ids   []int32  // entry -> id
	table []int32  // hash -> entry+1, 0 = free
	byID  []int32  // id -> entry+1, 0 = none; made by Index
	seed  maphash.Seed
	long  int   // length of the longest entry, bytes
	maxID int32 // highest id, -1 when empty
}

// NewVocab returns an empty vocabulary with room for n entries of size bytes in all.
func NewVocab(n, size int) *Vocab {
	v := &Vocab{
		blob:  make([]byte, 0, size),
		off:   make([]uint32, 1, n+1),
		ids:   make([]int32, 0, n),
		seed:  maphash.MakeSeed(),
		maxID: -1,
	}
	v.table = make([]int32, tableSize(n))
	return v
}

// tableSize is the power of two that keeps n entries below two thirds full.
func tableSize(n int) int { return 1 << bits.Len(uint(n+n/2)|15) }

// Len is the number of entries.
func (v *Vocab) Len() int { return len(v.ids) }

// MaxID is the highest id, -1 for an empty vocabulary.
func (v *Vocab) MaxID() int32 { return v.maxID }

// Longest is the length of the longest entry in bytes.
func (v *Vocab) Longest() int { return v.long }

// Entry returns entry i in the order of Add: its text (shared memory, not to be written) and its id.
func (v *Vocab) Entry(i int) (text []byte, id int32) {
	return v.blob[v.off[i]:v.off[i+1]], v.ids[i]
}

// Add maps text to id. A text that is there already keeps its place and takes the new id.
func (v *Vocab) Add(text []byte, id int32) {
	if 3*len(v.ids) >= 2*len(v.table) {
		v.grow()
	}
	h := maphash.Bytes(v.seed, text)
	mask := uint64(len(v.table) - 1)
	for h &= mask; v.table[h] != 0; h = (h + 1) & mask {
		e := v.table[h] - 1
		if string(v.blob[v.off[e]:v.off[e+1]]) == string(text) {
			v.ids[e] = id
			v.maxID = max(v.maxID, id)
			return
		}
	}
	v.ids = append(v.ids, id)
	v.table[h] = int32(len(v.ids))
	v.blob = append(v.blob, text...)
	v.off = append(v.off, uint32(len(v.blob)))
	v.long = max(v.long, len(text))
	v.maxID = max(v.maxID, id)
}

func (v *Vocab) grow() {
	v.table = make([]int32, 2*len(v.table))
	mask := uint64(len(v.table) - 1)
	for e := range v.ids {
		h := maphash.Bytes(v.seed, v.blob[v.off[e]:v.off[e+1]]) & mask
		for v.table[h] != 0 {
			h = (h + 1) & mask
		}
		v.table[h] = int32(e + 1)
	}
}

// ID returns the id of text, None if it is no entry.
func (v *Vocab) ID(text string) int32 {
	if len(text) > v.long {
		return None
	}
	mask := uint64(len(v.table) - 1)
	for h := maphash.String(v.seed, text) & mask; ; h = (h + 1) & mask {
		e := v.table[h] - 1
		if e < 0 {
			return None
		}
		if string(v.blob[v.off[e]:v.off[e+1]]) == text {
			return v.ids[e]
		}
	}
}

// id is ID for a slice of bytes.
func (v *Vocab) id(text []byte) int32 {
	mask := uint64(len(v.table) - 1)
	for h := maphash.Bytes(v.seed, text) & mask; ; h = (h + 1) & mask {
		e := v.table[h] - 1
		if e < 0 {
			return None
		}
		if string(v.blob[v.off[e]:v.off[e+1]]) == string(text) {
			return v.ids[e]
		}
	}
}

// Index makes the table from id to entry that Text needs. It is called once, after the last Add.
func (v *Vocab) Index() {
	v.byID = make([]int32, v.maxID+1)
	for i, id := range v.ids {
		if id >= 0 {
			v.byID[id] = int32(i + 1)
		}
	}
}

// Text returns the text of an id (shared memory, not to be written), nil for an id that is not there.
func (v *Vocab) Text(id int32) []byte {
	if uint(id) >= uint(len(v.byID)) || v.byID[id] == 0 {
		return nil
	}
	e := v.byID[id] - 1
	return v.blob[v.off[e]:v.off[e+1]]
}
