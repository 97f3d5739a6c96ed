package rowstore

import "hash/maphash"

// NameTable numbers texts in the order of their first appearance. Per text it stores two hashes (16 bytes) and 5 to 11 bytes of an index. This is half
// of what a map needs.
type NameTable struct {
	seeds [2]maphash.Seed
	keys  Column[[2]uint64]
	index []uint32 // open addressing from the first hash: number + 1; 0 = free; the length is a power of two
}

// firstNames is the initial length of the index.
const firstNames = 1 << 10

// NewNameTable returns an empty table.
func NewNameTable() *NameTable {
	return &NameTable{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, index: make([]uint32, firstNames)}
}

// Number returns the number of a text. met = the text was seen before.
func (n *NameTable) Number(text string) (number uint32, met bool) {
	key := [2]uint64{maphash.String(n.seeds[0], text), maphash.String(n.seeds[1], text)}
	at := n.find(key)
	if k := n.index[at]; k > 0 {
		return k - 1, true
	}
	number = uint32(n.keys.Len())
	n.keys.Add(key)
	n.index[at] = number + 1
	if n.keys.Len() > len(n.index)/4*3 {
		n.index = make([]uint32, 2*len(n.index))
		for k := range n.keys.Len() {
			n.index[n.find(*n.keys.Ref(k))] = uint32(k + 1)
		}
	}
	return number, false
}

// find returns the index slot of a key, or the free slot where it belongs.
func (n *NameTable) find(key [2]uint64) int {
	mask := len(n.index) - 1
	for at := int(key[0]) & mask; ; at = (at + 1) & mask {
		if k := n.index[at]; k == 0 || *n.keys.Ref(int(k - 1)) == key {
			return at
		}
	}
}
