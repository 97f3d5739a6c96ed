package model

import (
	"fmt"
	"unicode/utf8"
)

// Unigram splits a piece so that the sum of the tokens' log-probabilities is maximal.
type Unigram struct {
	scores     []float64
	trie       *trie
	vocab      *Vocab
	unk        int32
	unkScore   float64
	fuse       bool
	fallback   bool
	fallbackID byteIDs
	single     bool // single precision sums, as in the SentencePiece library
	cache      *cache
}

// UnigramConfig holds a file's settings of a Unigram model.
type UnigramConfig struct {
	Texts        []string
	Scores       []float64 // log-probability of each text
	Match        []bool    // which texts may match; nil = all
	Unk          int32     // None = a text with an unknown character cannot be encoded; rejected here
	ByteFallback bool
	Single       bool // sums in single precision
}

// unkPenalty is the difference between the lowest score and that of an unknown character.
const unkPenalty = 10

// NewUnigram returns the model. The id of a text is its index.
func NewUnigram(c UnigramConfig) (*Unigram, error) {
	if c.Unk < 0 || int(c.Unk) >= len(c.Texts) {
		return nil, fmt.Errorf("model.unk_id %d is outside of the vocabulary of %d tokens", c.Unk, len(c.Texts))
	}
	size, lowest := 0, 0.0
	for i, t := range c.Texts {
		size += len(t)
		if i == 0 || c.Scores[i] < lowest {
			lowest = c.Scores[i]
		}
	}
	m := &Unigram{
		scores: c.Scores, vocab: NewVocab(len(c.Texts), size), unk: c.Unk, unkScore: lowest - unkPenalty, fuse: true,
		fallback: c.ByteFallback, single: c.Single, cache: newCache(),
	}
	texts, values := make([]string, 0, len(c.Texts)), make([]int32, 0, len(c.Texts))
	for i, t := range c.Texts {
		m.vocab.Add([]byte(t), int32(i))
		if t != "" && (c.Match == nil || c.Match[i]) {
			texts, values = append(texts, t), append(values, int32(i))
		}
	}
	m.vocab.Index()
	m.trie = newTrie(texts, values)
	m.fallbackID = newByteIDs(m.vocab)
	return m, nil
}

// node is the best path to a byte: its score, and the start and id of its last token.
type node struct {
	score float64
	from  int32 // -1 = not reached
	id    int32
}

// span is a token of the best path.
type span struct {
	begin, end int32
	id         int32
}

// Append appends the ids of piece to dst.
func (m *Unigram) Append(dst []int32, piece string, s *Scratch) []int32 {
	slot := m.cache.slot(piece)
	if slot != nil {
		if d, ok := m.cache.append(slot, dst, piece); ok {
			return d
		}
	}
	n := len(dst)
	m.viterbi(piece, s)
	for i := len(s.segs) - 1; i >= 0; i-- {
		x := s.segs[i]
		if x.id == m.unk {
			dst = m.unknown(dst, piece[x.begin:x.end])
		} else {
			dst = append(dst, x.id)
		}
	}
	m.cache.put(slot, piece, dst[n:])
	return dst
}

// unknown encodes a run of unknown characters.
func (m *Unigram) unknown(dst []int32, text string) []int32 {
	if id := m.vocab.ID(text); id != None && !m.single { // the SentencePiece library does not look it up
		return append(dst, id)
	}
	if m.fallback {
		if d, ok := m.fallbackID.append(dst, text); ok {
			return d
		}
	}
	return append(dst, m.unk)
}

// viterbi stores the tokens of the best path in s.segs, last one first, with joined unknown neighbours.
func (m *Unigram) viterbi(piece string, s *Scratch) {
	s.path = s.path[:0]
	for range len(piece) + 1 {
		s.path = append(s.path, node{from: -1})
	}
	path := s.path
	for i := 0; i < len(piece); {
		width := 1
		if piece[i] >= utf8.RuneSelf {
			_, width = utf8.DecodeRuneInString(piece[i:])
		}
		single := false
		at := int32(0)
		for j := i; j < len(piece); j++ {
			if at = m.trie.step(at, piece[j]); at == 0 {
				break
			}
			if id := m.trie.nodes[at].value; id != None {
				m.reach(&path[j+1], path[i].score, m.scores[id], i, id)
				single = single || j+1-i == width
			}
		}
		if !single {
			m.reach(&path[i+width], path[i].score, m.unkScore, i, m.unk)
		}
		i += width
	}
	s.segs = s.segs[:0]
	for end := int32(len(piece)); end > 0; {
		x := path[end]
		if k := len(s.segs) - 1; k >= 0 && m.fuse && x.id == m.unk && s.segs[k].id == m.unk {
			s.segs[k].begin = x.from
		} else {
			s.segs = append(s.segs, span{x.from, end, x.id})
		}
		end = x.from
	}
}

// reach updates n with a path from byte from that has the given score and ends in token id with score own.
func (m *Unigram) reach(n *node, score, own float64, from int, id int32) {
	sum := score + own
	if m.single {
		sum = float64(float32(score) + float32(own))
	}
	if n.from < 0 || sum > n.score {
		*n = node{sum, int32(from), id}
	}
}

// Vocab returns the vocabulary, for decoding.
func (m *Unigram) Vocab() *Vocab { return m.vocab }
