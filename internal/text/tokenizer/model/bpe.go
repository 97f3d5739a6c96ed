package model

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// space is SentencePiece's mark for a space.
const space = "▁"

// BPE merges neighbouring symbols by a list of rules, in order of rank.
type BPE struct {
	vocab *Vocab
	pairs pairTable
	cache *cache

	bytes        bool       // symbols are bytes, not characters
	one          [256]int32 // byte symbols, None if missing in the vocabulary
	ignoreMerges bool       // a piece that is a token is not split
	fallback     bool       // unknown characters become the tokens of their bytes
	fallbackID   byteIDs
	unk          int32 // None = drop unknown symbols
	fuseUnk      bool
	prefix       string    // prefix of symbols that are not the first of a piece
	suffix       string    // suffix of the last symbol of a piece
	words        bool      // pieces are split at word starts that no rule crosses
	crossedBytes [256]bool // bytes before a word start that some rule crosses
}

// BPEConfig holds a file's settings of a BPE model.
type BPEConfig struct {
	Vocab        *Vocab
	Bytes        bool // the pre-tokenizer maps bytes to the byte alphabet; Vocab contains raw bytes
	IgnoreMerges bool
	ByteFallback bool
	Unk          string // "" = none
	FuseUnk      bool
	Prefix       string // continuing_subword_prefix
	Suffix       string // end_of_word_suffix
	Merges       int    // expected number of rules
}

// NewBPE returns a model without rules. Rules adds them.
func NewBPE(c BPEConfig) (*BPE, error) {
	m := &BPE{
		vocab: c.Vocab, pairs: newPairTable(c.Merges), cache: newCache(), bytes: c.Bytes, ignoreMerges: c.IgnoreMerges,
		fallback: c.ByteFallback, unk: None, fuseUnk: c.FuseUnk, prefix: c.Prefix, suffix: c.Suffix,
	}
	if c.Unk != "" {
		if m.unk = c.Vocab.ID(c.Unk); m.unk == None {
			return nil, fmt.Errorf("model.unk_token %q is not in model.vocab", c.Unk)
		}
	}
	for i := range m.one {
		if m.bytes {
			m.one[i] = c.Vocab.ID(string([]byte{byte(i)}))
		}
	}
	m.fallbackID = newByteIDs(c.Vocab)
	m.words = !m.bytes && m.prefix == "" && m.suffix == "" && !m.ignoreMerges && c.Vocab.ID(space) != None
	return m, nil
}

func (m *BPE) pair(l, r int32, _ string, _, _ int32) uint64 { return m.pairs.get(l, r) }

// Append appends the ids of piece to dst.
func (m *BPE) Append(dst []int32, piece string, s *Scratch) []int32 {
	if !m.words {
		return m.word(dst, piece, s)
	}
	begin := 0
	for i := len(space); i < len(piece); {
		k := strings.Index(piece[i:], space)
		if k < 0 {
			break
		}
		if i += k; !strings.HasSuffix(piece[begin:i], space) && !m.crossedBytes[piece[i-1]] {
			dst = m.word(dst, piece[begin:i], s)
			begin = i
		}
		i += len(space)
	}
	return m.word(dst, piece[begin:], s)
}

// word encodes a piece whose ends no rule crosses.
func (m *BPE) word(dst []int32, piece string, s *Scratch) []int32 {
	slot := m.cache.slot(piece)
	if slot != nil {
		if d, ok := m.cache.append(slot, dst, piece); ok {
			return d
		}
	}
	n := len(dst)
	if m.ignoreMerges {
		if id := m.vocab.ID(piece); id != None {
			dst = append(dst, id)
			m.cache.put(slot, piece, dst[n:])
			return dst
		}
	}
	s.begin(piece)
	if m.bytes {
		m.byteSymbols(piece, s)
	} else {
		m.symbols(piece, s)
	}
	for i := range len(s.ids) + 1 {
		s.start = append(s.start, int32(i))
	}
	merge(m, s, piece)
	dst = append(dst, s.ids...)
	m.cache.put(slot, piece, dst[n:])
	return dst
}

func (m *BPE) byteSymbols(piece string, s *Scratch) {
	unk := false // the previous symbol was unknown
	for i := range len(piece) {
		id := m.one[piece[i]]
		known := id != None
		if !known {
			id = m.unk
		}
		if known || id != None && !(unk && m.fuseUnk) {
			s.ids = append(s.ids, id)
		}
		unk = !known
	}
}

// symbols looks up the characters of a piece. It holds back an unknown symbol until the next known one or the end, so that neighbours can be fused.
// As in the reference, the bytes of a fallback may overtake it.
func (m *BPE) symbols(piece string, s *Scratch) {
	held := false
	for i := 0; i < len(piece); {
		n := 1
		if piece[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(piece[i:])
		}
		text := piece[i : i+n]
		if m.prefix != "" && i > 0 {
			text = m.prefix + text
		}
		i += n
		if m.suffix != "" && i == len(piece) {
			text += m.suffix
		}
		if id := m.vocab.ID(text); id != None {
			if held {
				s.ids = append(s.ids, m.unk)
				held = false
			}
			s.ids = append(s.ids, id)
			continue
		}
		if m.fallback {
			var ok bool
			if s.ids, ok = m.fallbackID.append(s.ids, text); ok {
				continue
			}
		}
		if m.unk == None {
			continue
		}
		if held && !m.fuseUnk {
			s.ids = append(s.ids, m.unk)
		}
		held = true
	}
	if held {
		s.ids = append(s.ids, m.unk)
	}
}

// byteIDs are the tokens <0x00> to <0xFF> of a vocabulary, None if missing.
type byteIDs [256]int32

func newByteIDs(v *Vocab) (b byteIDs) {
	for i := range b {
		b[i] = v.ID(fmt.Sprintf("<0x%02X>", i))
	}
	return b
}

// append appends the tokens of the bytes of text if the vocabulary has all of them.
func (b *byteIDs) append(dst []int32, text string) ([]int32, bool) {
	n := len(dst)
	for i := range len(text) {
		id := b[text[i]]
		if id == None {
			return dst[:n], false
		}
		dst = append(dst, id)
	}
	return dst, true
}

// pairTable maps two neighbouring ids to the rank of their rule and the merged id, with open addressing.
type pairTable struct {
	slots []pairSlot
	used  int
}

type pairSlot struct {
	key   uint64 // left+1 in the high half, right in the low half; 0 = empty
	value uint64 // rank<<32 | id
}

func newPairTable(n int) pairTable {
	return pairTable{slots: make([]pairSlot, 1<<bits.Len(uint(n+n/2)|15))}
}

func mix(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	return key ^ key>>32
}

func (t *pairTable) put(l, r int32, rank uint32, id int32) {
	if 3*t.used >= 2*len(t.slots) {
		old := t.slots
		*t = pairTable{slots: make([]pairSlot, 2*len(old))}
		for _, s := range old {
			if s.key != 0 {
				t.insert(s.key, s.value)
			}
		}
	}
	t.insert(uint64(l+1)<<32|uint64(uint32(r)), uint64(rank)<<32|uint64(uint32(id)))
}

func (t *pairTable) insert(key, value uint64) {
	mask := uint64(len(t.slots) - 1)
	h := mix(key) & mask
	for t.slots[h].key != 0 && t.slots[h].key != key {
		h = (h + 1) & mask
	}
	if t.slots[h].key == 0 {
		t.used++
	}
	t.slots[h] = pairSlot{key, value}
}

func (t *pairTable) get(l, r int32) uint64 {
	key := uint64(l+1)<<32 | uint64(uint32(r))
	mask := uint64(len(t.slots) - 1)
	for h := mix(key) & mask; ; h = (h + 1) & mask {
		switch s := &t.slots[h]; s.key {
		case key:
			return s.value
		case 0:
			return noPair
		}
	}
}
