package model

import "fmt"

// Ranks is the byte-pair model of rank files (tiktoken, tekken). A piece that is a token is not split. Otherwise the neighbours whose joined bytes
// have the lowest rank are merged, until none has a rank.
type Ranks struct {
	vocab *Vocab
	shift int32 // id = rank + shift
	one   [256]int32
	two   []int32 // ids of two-byte tokens, None if there is none
	cache *cache
}

// NewRanks returns the model for ranks. Every single byte must be a token. Ids are the ranks plus shift.
func NewRanks(ranks *Vocab, shift int32) (*Ranks, error) {
	m := &Ranks{vocab: ranks, shift: shift, two: make([]int32, 1<<16), cache: newCache()}
	for i := range m.one {
		if m.one[i] = ranks.ID(string([]byte{byte(i)})); m.one[i] == None {
			return nil, fmt.Errorf("rank list has no token for the byte 0x%02X", i)
		}
	}
	for i := range m.two {
		m.two[i] = None
	}
	for i := range ranks.Len() {
		if b, id := ranks.Entry(i); len(b) == 2 {
			m.two[int(b[0])<<8|int(b[1])] = id
		}
	}
	return m, nil
}

func (m *Ranks) pair(_, _ int32, piece string, a, b int32) uint64 {
	var id int32
	if b-a == 2 {
		id = m.two[int(piece[a])<<8|int(piece[a+1])]
	} else {
		id = m.vocab.ID(piece[a:b])
	}
	if id < 0 {
		return noPair
	}
	return uint64(id)<<32 | uint64(id)
}

// Append appends the ids of piece to dst.
func (m *Ranks) Append(dst []int32, piece string, s *Scratch) []int32 {
	if len(piece) <= 2 {
		switch len(piece) {
		case 0:
			return dst
		case 1:
			return append(dst, m.one[piece[0]]+m.shift)
		}
		if id := m.two[int(piece[0])<<8|int(piece[1])]; id >= 0 {
			return append(dst, id+m.shift)
		}
	}
	if id := m.vocab.ID(piece); id >= 0 {
		return append(dst, id+m.shift)
	}
	slot := m.cache.slot(piece)
	if slot != nil {
		if d, ok := m.cache.append(slot, dst, piece); ok {
			return d
		}
	}
	s.begin(piece)
	for i := range len(piece) {
		s.ids = append(s.ids, m.one[piece[i]])
		s.start = append(s.start, int32(i))
	}
	s.start = append(s.start, int32(len(piece)))
	merge(m, s, piece)
	n := len(dst)
	for _, id := range s.ids {
		dst = append(dst, id+m.shift)
	}
	m.cache.put(slot, piece, dst[n:])
	return dst
}
