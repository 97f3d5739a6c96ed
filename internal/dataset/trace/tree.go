package trace

import "slices"

// Tree is the prefix tree of the ids of rows: a node is a leading sequence, an edge the id by which it is longer.
type Tree struct {
	nodes map[edge]node
	seen  map[int64]bool // ids of the rows before
	rows  int            // that have ids
	hits  float64        // their hit rates added up
}

// edge leads from a leading sequence to the one that is longer by an id. Node 0 is the root.
type edge struct {
	from int
	id   int64
}

type node struct{ number, visits int }

// NewTree returns an empty tree.
func NewTree() *Tree { return &Tree{nodes: map[edge]node{}, seen: map[int64]bool{}} }

// Add adds the ids of a row, none of which changes nothing. It returns the share of leading ids that rows before it had: what a cache without
// end would hold.
func (t *Tree) Add(ids []int64) (hitRate float64) {
	if len(ids) == 0 {
		return 0
	}
	known := slices.IndexFunc(ids, func(id int64) bool { return !t.seen[id] })
	if known < 0 {
		known = len(ids)
	}
	from := 0
	for _, id := range ids {
		n, known := t.nodes[edge{from, id}]
		if !known {
			n.number = len(t.nodes) + 1
		}
		n.visits++
		t.nodes[edge{from, id}] = n
		from = n.number
		t.seen[id] = true
	}
	hitRate = float64(known) / float64(len(ids))
	t.rows++
	t.hits += hitRate
	return hitRate
}

// Rows is the number of rows that have ids.
func (t *Tree) Rows() int { return t.rows }

// HitRate is the mean of what Add returned for rows that have ids; 0 of none.
func (t *Tree) HitRate() float64 {
	if t.rows == 0 {
		return 0
	}
	return t.hits / float64(t.rows)
}

// Sharing counts leading sequences, and first ids that open at least two rows; reuse is the share of occurrences of sequences that come more
// than once.
func (t *Tree) Sharing() (unique, groups int, reuse float64) {
	all, again := 0, 0
	for e, n := range t.nodes {
		if e.from == 0 && n.visits > 1 {
			groups++
		}
		if all += n.visits; n.visits > 1 {
			again += n.visits
		}
	}
	if all > 0 {
		reuse = float64(again) / float64(all)
	}
	return len(t.nodes), groups, reuse
}
