package model

import "slices"

// trie finds the entries of a list with which a text starts. Nodes are in one array, with adjacent children.
type trie struct {
	nodes []trieNode
	root  [256]int32
}

type trieNode struct {
	value int32  // value of the entry that ends here, None if there is none
	first uint32 // children are nodes[first:first+count], ordered by byte
	count uint16
	b     byte
}

// newTrie returns the trie of texts; the value of texts[i] is values[i].
func newTrie(texts []string, values []int32) *trie {
	order := make([]int32, len(texts))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if texts[a] < texts[b] {
			return -1
		}
		if texts[a] > texts[b] {
			return 1
		}
		return int(a - b)
	})
	type job struct{ lo, hi, depth int32 }
	t := &trie{nodes: make([]trieNode, 1, 2*len(texts)+1)}
	t.nodes[0].value = None
	jobs := make([]job, 1, 2*len(texts)+1)
	jobs[0] = job{0, int32(len(order)), 0}
	for n := 0; n < len(jobs); n++ {
		j := jobs[n]
		for j.lo < j.hi && len(texts[order[j.lo]]) == int(j.depth) {
			t.nodes[n].value = values[order[j.lo]] // of equal texts the last one wins
			j.lo++
		}
		t.nodes[n].first = uint32(len(t.nodes))
		for j.lo < j.hi {
			b, lo := texts[order[j.lo]][j.depth], j.lo
			for j.lo < j.hi && texts[order[j.lo]][j.depth] == b {
				j.lo++
			}
			t.nodes = append(t.nodes, trieNode{value: None, b: b})
			jobs = append(jobs, job{lo, j.lo, j.depth + 1})
			t.nodes[n].count++
		}
	}
	top := t.nodes[0]
	for i := top.first; i < top.first+uint32(top.count); i++ {
		t.root[t.nodes[i].b] = int32(i)
	}
	return t
}

// step follows byte b from node n; 0 if there is no such child. Node 0 is the root.
func (t *trie) step(n int32, b byte) int32 {
	if n == 0 {
		return t.root[b]
	}
	x := &t.nodes[n]
	lo, count := x.first, uint32(x.count)
	for count > 4 {
		if half := count / 2; t.nodes[lo+half].b <= b {
			lo += half
			count -= half
		} else {
			count = half
		}
	}
	for ; count > 0; count-- {
		if t.nodes[lo].b == b {
			return int32(lo)
		}
		lo++
	}
	return 0
}
