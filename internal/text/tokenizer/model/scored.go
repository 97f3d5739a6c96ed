package model

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Scored is the byte-pair model of SentencePiece. It merges neighbours whose joined text is a piece, highest score first.
type Scored struct {
	vocab      *Vocab
	rank       []uint32 // rank by score, by id; noRank for pieces that do not match
	unk        int32
	fallback   bool
	fallbackID byteIDs
	cache      *cache
}

// ScoredConfig holds a file's settings of the model; Scores and Match are by id.
type ScoredConfig struct {
	Vocab        *Vocab
	Scores       []float32
	Match        []bool // which pieces may match
	Unk          int32
	ByteFallback bool
}

const noRank = ^uint32(0)

// NewScored returns the model.
func NewScored(c ScoredConfig) (*Scored, error) {
	if c.Unk < 0 || int(c.Unk) >= len(c.Scores) {
		return nil, fmt.Errorf("unk_id %d is outside of the vocabulary of %d tokens", c.Unk, len(c.Scores))
	}
	m := &Scored{vocab: c.Vocab, rank: make([]uint32, len(c.Scores)), unk: c.Unk, fallback: c.ByteFallback, cache: newCache()}
	sorted := slices.Clone(c.Scores)
	slices.SortFunc(sorted, func(a, b float32) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	sorted = slices.Compact(sorted)
	order := make(map[float32]uint32, len(sorted))
	for i, s := range sorted {
		order[s] = uint32(i)
	}
	for i, s := range c.Scores {
		if m.rank[i] = order[s]; !c.Match[i] {
			m.rank[i] = noRank
		}
	}
	m.fallbackID = newByteIDs(c.Vocab)
	return m, nil
}

func (m *Scored) pair(_, _ int32, piece string, a, b int32) uint64 {
	id := m.vocab.ID(piece[a:b])
	if id == None || m.rank[id] == noRank {
		return noPair
	}
	return uint64(m.rank[id])<<32 | uint64(uint32(id))
}

// Append appends the ids of piece to dst.
func (m *Scored) Append(dst []int32, piece string, s *Scratch) []int32 {
	slot := m.cache.slot(piece)
	if slot != nil {
		if d, ok := m.cache.append(slot, dst, piece); ok {
			return d
		}
	}
	s.begin(piece)
	for i := 0; i < len(piece); {
		n := 1
		if piece[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(piece[i:])
		}
		id := m.vocab.ID(piece[i : i+n])
		if id != None && m.rank[id] == noRank {
			id = None
		}
		s.ids, s.start = append(s.ids, id), append(s.start, int32(i))
		i += n
	}
	s.start = append(s.start, int32(len(piece)))
	merge(m, s, piece)
	begin, unknown, at := len(dst), false, 0
	for _, id := range s.ids {
		switch {
		case id != None:
			at += len(m.vocab.Text(id))
			dst = append(dst, id)
			unknown = false
			continue
		case m.fallback:
			_, n := utf8.DecodeRuneInString(piece[at:])
			var ok bool
			if dst, ok = m.fallbackID.append(dst, piece[at:at+n]); !ok {
				dst = append(dst, m.unk)
			}
			at += n
			continue
		case !unknown:
			dst = append(dst, m.unk)
		}
		_, n := utf8.DecodeRuneInString(piece[at:])
		at += n
		unknown = true
	}
	m.cache.put(slot, piece, dst[begin:])
	return dst
}
