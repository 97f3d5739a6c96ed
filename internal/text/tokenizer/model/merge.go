package model

import (
	"math"
	"slices"
	"unicode/utf8"

	"aiperf/internal/base/budget"
)

// Merging of symbols, which all byte-pair models share.

// noPair is the value of two symbols without a rule. Pair values are rank<<32 | id of the merged token.
const noPair uint64 = math.MaxUint64

// linear is the maximum length at which a linear scan for the lowest rank is faster than a heap.
const linear = 48

// dead marks a symbol that was merged with its left neighbour.
const dead int32 = -2

// pairer returns the value of merging two neighbouring symbols.
type pairer interface {
	// pair returns the value for symbols l and r, whose joined text is piece[a:b].
	pair(l, r int32, piece string, a, b int32) uint64
}

// Scratch holds the buffers of one encode call. The next call may reuse them.
type Scratch struct {
	ids   []int32  // symbols
	start []int32  // start of each symbol in the piece, then the piece's end
	rank  []uint64 // rank[i] is the pair value of symbols i and i+1

	prev, next []int32
	symbols    int32
	heap       []candidate

	Budget *budget.Budget // limits the work on a long piece; nil = no limit

	path []node // Unigram: best path to each byte
	segs []span
}

// maxKeptBuffers is the length above which the buffers of a Scratch are released after use.
const maxKeptBuffers = 1 << 16

// begin empties the buffers of symbols. For a long piece it reserves room, because repeated appending would copy them often.
func (s *Scratch) begin(piece string) {
	s.ids, s.start = s.ids[:0], s.start[:0]
	if len(piece) > maxKeptBuffers {
		n := utf8.RuneCountInString(piece)
		s.ids, s.start = slices.Grow(s.ids, n), slices.Grow(s.start, n+1)
	}
}

// Trim releases buffers that a huge piece has enlarged, so that a pool of scratches stays small.
func (s *Scratch) Trim() {
	if s.Budget = nil; cap(s.ids) > maxKeptBuffers || cap(s.path) > maxKeptBuffers {
		*s = Scratch{}
	}
}

// merge applies the rules of p to the symbols in s until none applies: lowest rank first, leftmost among equals.
func merge[P pairer](p P, s *Scratch, piece string) {
	if len(s.ids) < 2 {
		return
	}
	switch {
	case len(s.ids) > 2*window:
		mergeWindows(p, s, piece, window)
		return
	case len(s.ids) > linear:
		mergeHeap(p, s, piece)
		return
	}
	ids, start, rank := s.ids, s.start, s.rank[:0]
	for i := 0; i+1 < len(ids); i++ {
		rank = append(rank, p.pair(ids[i], ids[i+1], piece, start[i], start[i+2]))
	}
	for {
		best, at := noPair, -1
		for i, r := range rank {
			if r>>32 < best>>32 {
				best, at = r, i
			}
		}
		if at < 0 {
			break
		}
		ids[at] = int32(uint32(best))
		ids = append(ids[:at+1], ids[at+2:]...)
		start = append(start[:at+1], start[at+2:]...)
		rank = append(rank[:at], rank[at+1:]...)
		if at > 0 {
			rank[at-1] = p.pair(ids[at-1], ids[at], piece, start[at-1], start[at+1])
		}
		if at < len(rank) {
			rank[at] = p.pair(ids[at], ids[at+1], piece, start[at], start[at+2])
		}
	}
	s.ids, s.start, s.rank = ids, start, rank
}

// candidate is a pair that may be merged: its value and the index of its left symbol.
type candidate struct {
	value uint64
	left  int32
}

func (c candidate) before(d candidate) bool {
	cr, dr := c.value>>32, d.value>>32
	return cr < dr || cr == dr && c.left < d.left
}

// mergeHeap is merge for long pieces, in n log n time. Outdated entries of its heap are dropped when they reach the top. Afterwards prev holds the
// first symbol of each token, and symbols their number.
func mergeHeap[P pairer](p P, s *Scratch, piece string) {
	ids, start := s.ids, s.start
	n := int32(len(ids))
	s.prev, s.next, s.heap, s.rank = s.prev[:0], s.next[:0], s.heap[:0], s.rank[:0]
	for i := range n {
		s.prev = append(s.prev, i-1)
		s.next = append(s.next, i+1)
		v := noPair
		if i+1 < n {
			v = p.pair(ids[i], ids[i+1], piece, start[i], start[i+2])
		}
		s.rank = append(s.rank, v)
		if v != noPair {
			s.heap = append(s.heap, candidate{v, i})
		}
	}
	s.heapify()
	end := func(i int32) int32 { // end of symbol i in the piece
		if k := s.next[i]; k < n {
			return start[k]
		}
		return start[n]
	}
	again := func(i int32) { // re-evaluates symbol i and its right neighbour
		s.rank[i] = noPair
		if j := s.next[i]; j < n {
			if v := p.pair(ids[i], ids[j], piece, start[i], end(j)); v != noPair {
				s.rank[i] = v
				s.push(candidate{v, i})
			}
		}
	}
	for len(s.heap) > 0 {
		c := s.pop()
		i := c.left
		if ids[i] == dead || s.rank[i] != c.value {
			continue
		}
		j := s.next[i]
		ids[i], ids[j] = int32(uint32(c.value)), dead
		s.next[i] = s.next[j]
		if k := s.next[i]; k < n {
			s.prev[k] = i
		}
		again(i)
		if h := s.prev[i]; h >= 0 {
			again(h)
		}
	}
	o := 0
	s.symbols = n
	for i, id := range ids {
		if id != dead {
			ids[o], s.prev[o] = id, int32(i)
			o++
		}
	}
	s.ids = ids[:o]
}

func (s *Scratch) heapify() {
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.down(i)
	}
}

func (s *Scratch) push(c candidate) {
	s.heap = append(s.heap, c)
	h := s.heap
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (s *Scratch) pop() candidate {
	top, n := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[n]
	s.heap = s.heap[:n]
	s.down(0)
	return top
}

func (s *Scratch) down(i int) {
	h := s.heap
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
