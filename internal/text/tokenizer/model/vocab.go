// Package model converts a piece of text to token ids: byte-pair merging, Unigram, WordPiece, whole words. Models are immutable and safe for
// concurrent use. Each call writes only to its Scratch.
package model

import (
	"hash/maphash"
	"math/bits"
)

// None is the id of a text that is not a token.
const None int32 = -1

// Vocab maps texts to ids. It uses one blob of bytes and an open-addressing table of entries, far smaller than a Go map of strings.
type Vocab struct {
	blob    []byte
	entries []entry  // with an additional entry for the end of the last text
	table   []uint64 // hash<<32 | index of the entry + 1, 0 = empty; the hash alone decides most probes
	byID    []int32  // id -> entry+1, 0 = none; built by Index
	seed    maphash.Seed
	long    int   // length of the longest entry, bytes
	maxID   int32 // highest id, -1 when empty
}

// entry is one text: blob[off:off of the next entry].
type entry struct {
	off uint32
	id  int32
}

// NewVocab returns an empty vocabulary with room for n entries with a total size in bytes.
func NewVocab(n, size int) *Vocab {
	return &Vocab{
		blob:    make([]byte, 0, size),
		entries: make([]entry, 1, n+1),
		table:   make([]uint64, tableSize(n)),
		seed:    maphash.MakeSeed(),
		maxID:   -1,
	}
}

// NewRanked returns the vocabulary of different texts with the ids 0, 1, 2 … The texts lie in blob one behind the other and have these ends. The
// vocabulary keeps blob and overwrites ends.
func NewRanked(blob []byte, ends []uint32) *Vocab {
	v := NewVocab(len(ends), 0)
	v.blob, v.entries = blob, v.entries[:len(ends)+1]
	for i, end := range ends {
		v.entries[i].id, v.entries[i+1].off = int32(i), end
		v.long = max(v.long, int(end-v.entries[i].off))
	}
	v.maxID = int32(len(ends)) - 1
	hashes := ends
	for i := range hashes {
		hashes[i] = uint32(maphash.Bytes(v.seed, v.text(uint32(i))) >> 32)
	}
	v.fill(hashes)
	return v
}

// partSlots is the number of slots of the table that fill writes in one pass: 512 KiB, which the cache of a core can hold.
const partSlots = 1 << 16

// fill writes all entries, which have these hashes and different texts, to the empty table, one part of it after the other. All at once, most entries
// would wait for memory.
func (v *Vocab) fill(hashes []uint32) {
	mask := uint32(len(v.table) - 1)
	for part := uint32(0); part <= mask; part += partSlots {
		for i, h := range hashes {
			if h&mask-part >= partSlots {
				continue
			}
			at := h & mask
			for v.table[at] != 0 {
				at = (at + 1) & mask
			}
			v.table[at] = uint64(h)<<32 | uint64(i+1)
		}
	}
}

// tableSize returns the power of two at which n entries fill less than two thirds.
func tableSize(n int) int { return 1 << bits.Len(uint(n+n/2)|15) }

// Len returns the number of entries.
func (v *Vocab) Len() int { return len(v.entries) - 1 }

// MaxID returns the highest id, -1 for an empty vocabulary.
func (v *Vocab) MaxID() int32 { return v.maxID }

// Longest returns the length of the longest entry in bytes.
func (v *Vocab) Longest() int { return v.long }

// Entry returns entry i in the order of Add: its text (shared memory, read only) and its id.
func (v *Vocab) Entry(i int) (text []byte, id int32) { return v.text(uint32(i)), v.entries[i].id }

func (v *Vocab) text(i uint32) []byte { return v.blob[v.entries[i].off:v.entries[i+1].off] }

// Add maps text to id. An existing text keeps its index and gets the new id.
func (v *Vocab) Add(text []byte, id int32) { v.add(text, id, 0) }

// AddForeign maps a text in another encoding than the others: Foreign finds it, ID does not. So a vocabulary of bytes can contain tokens that no
// bytes of a text ever produce.
func (v *Vocab) AddForeign(text []byte, id int32) { v.add(text, id, foreignSalt) }

// foreignSalt is the salt that separates the hashes of foreign texts from those of other texts.
const foreignSalt = 0x9E3779B9

func (v *Vocab) add(text []byte, id int32, salt uint64) {
	if 3*v.Len() >= 2*len(v.table) {
		v.grow()
	}
	v.maxID = max(v.maxID, id)
	h, mask := maphash.Bytes(v.seed, text)>>32^salt, uint64(len(v.table)-1)
	at := h & mask
	for ; v.table[at] != 0; at = (at + 1) & mask {
		if e := uint32(v.table[at]) - 1; v.table[at]>>32 == h && string(v.text(e)) == string(text) {
			v.entries[e].id = id
			return
		}
	}
	n := len(v.entries)
	v.table[at] = h<<32 | uint64(n)
	v.blob = append(v.blob, text...)
	v.entries[n-1].id = id
	v.entries = append(v.entries, entry{off: uint32(len(v.blob))})
	v.long = max(v.long, len(text))
}

func (v *Vocab) grow() {
	old := v.table
	v.table = make([]uint64, 2*len(old))
	mask := uint64(len(v.table) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := slot >> 32 & mask
		for v.table[at] != 0 {
			at = (at + 1) & mask
		}
		v.table[at] = slot
	}
}

// ID returns the id of text; None if it is not an entry.
func (v *Vocab) ID(text string) int32 {
	if len(text) > v.long {
		return None
	}
	h, mask := maphash.String(v.seed, text)>>32, uint64(len(v.table)-1)
	for at := h & mask; ; at = (at + 1) & mask {
		slot := v.table[at]
		if slot == 0 {
			return None
		}
		if e := uint32(slot) - 1; slot>>32 == h && string(v.text(e)) == text {
			return v.entries[e].id
		}
	}
}

// Foreign returns the id of a text added by AddForeign; None if there is none.
func (v *Vocab) Foreign(text string) int32 { return v.id([]byte(text), foreignSalt) }

// IsForeign reports whether the text of an id was added by AddForeign.
func (v *Vocab) IsForeign(id int32) bool {
	t := v.Text(id)
	return t != nil && v.id(t, foreignSalt) == id
}

// id is ID for a slice of bytes and a salt.
func (v *Vocab) id(text []byte, salt uint64) int32 {
	h, mask := maphash.Bytes(v.seed, text)>>32^salt, uint64(len(v.table)-1)
	for at := h & mask; ; at = (at + 1) & mask {
		slot := v.table[at]
		if slot == 0 {
			return None
		}
		if e := uint32(slot) - 1; slot>>32 == h && string(v.text(e)) == string(text) {
			return v.entries[e].id
		}
	}
}

// Index builds the table from ids to entries for Text. Call it once, after the last Add.
func (v *Vocab) Index() {
	v.byID = make([]int32, v.maxID+1)
	for i, e := range v.entries[:v.Len()] {
		if e.id >= 0 {
			v.byID[e.id] = int32(i + 1)
		}
	}
}

// Text returns the text of an id (shared memory, read only); nil for an unknown id.
func (v *Vocab) Text(id int32) []byte {
	if uint(id) >= uint(len(v.byID)) || v.byID[id] == 0 {
		return nil
	}
	return v.text(uint32(v.byID[id] - 1))
}
