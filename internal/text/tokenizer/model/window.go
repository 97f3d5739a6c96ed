package model

import (
	"slices"
	"sort"
)

// window is the number of symbols in a heap. The symbols and the heap of one window fit into the cache of a core.
const window = 512

// windows merges a piece of any length, one window at a time. The time is n log(window), and the heap has the size of a window.
//
// The result is exact. Merging picks the best pair of the whole piece, and the value of a pair depends only on its two symbols. As long as no merge
// crosses the ends of some tokens, each token grows as if it were alone. The first merge across the end between two tokens would also be the best one
// for these two alone, so merging them alone would not give the same two tokens. Hence a sequence of tokens is the result for the piece if and only
// if every two neighbours, merged alone from their symbols, give the same two tokens. This holds for neighbours within a window. At the border
// between windows it is tested; if the test fails, the window starts earlier and is twice as long.
type windows[P pairer] struct {
	p     P
	piece string
	ids   []int32 // symbols of the piece before merging
	start []int32 // start of each in the piece, then the piece's end
	out   []int32 // tokens found
	from  []int32 // first symbol of each
	work  Scratch // for one window or one border
	seam  Scratch
}

// mergeWindows is merge for pieces of many windows.
func mergeWindows[P pairer](p P, s *Scratch, piece string, size int) {
	w := windows[P]{p: p, piece: piece, ids: s.ids, start: s.start}
	for begin := 0; begin < len(w.ids) && s.Budget.Step(window) == nil; {
		end := min(begin+size, len(w.ids))
		w.merge(&w.work, begin, end)
		if w.joinsLast(begin) {
			begin = w.accept(begin, end, size/8)
			continue
		}
		begin = w.dropFrom(begin - size/2)
		size *= 2
	}
	s.ids = append(s.ids[:0], w.out...)
}

// merge merges the symbols from begin to end. Afterwards s.prev holds the first symbol of each token, counted from begin.
func (w *windows[P]) merge(s *Scratch, begin, end int) {
	s.ids = append(s.ids[:0], w.ids[begin:end]...)
	s.start = append(s.start[:0], w.start[begin:end+1]...)
	mergeHeap(w.p, s, w.piece)
}

// joinsLast reports whether the last token found and the first one of the window that starts at a symbol are neighbours in the result.
func (w *windows[P]) joinsLast(begin int) bool {
	if len(w.out) == 0 {
		return true
	}
	left, end := int(w.from[len(w.from)-1]), begin+w.length()
	w.merge(&w.seam, left, end)
	return len(w.seam.ids) == 2 && int(w.seam.prev[1]) == begin-left
}

// length returns the number of symbols in the first token of the window.
func (w *windows[P]) length() int {
	if len(w.work.ids) > 1 {
		return int(w.work.prev[1])
	}
	return int(w.work.symbols)
}

// accept accepts the tokens of a window except for the last ones, which later symbols might change. It returns the first remaining symbol.
func (w *windows[P]) accept(begin, end, rest int) int {
	n := len(w.work.ids)
	if end < len(w.ids) {
		n = sort.Search(n, func(i int) bool { return int(w.work.prev[i]) >= end-begin-rest })
		n = max(n, 1)
	}
	next := end
	if n < len(w.work.ids) {
		next = begin + int(w.work.prev[n])
	}
	w.out = append(w.out, w.work.ids[:n]...)
	for _, first := range w.work.prev[:n] {
		w.from = append(w.from, int32(begin)+first)
	}
	return next
}

// dropFrom removes the tokens that start at a symbol or later, and the token before them. It returns the first remaining symbol.
func (w *windows[P]) dropFrom(to int) int {
	n, _ := slices.BinarySearch(w.from, int32(max(to, 0)))
	n = max(n-1, 0)
	begin := int(w.from[n])
	w.out, w.from = w.out[:n], w.from[:n]
	return begin
}
