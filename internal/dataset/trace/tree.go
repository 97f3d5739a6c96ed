package trace

import (
	"bufio"
	"encoding/binary"
	"hash/maphash"
	"io"

	"aiperf/internal/dataset/spill"
	"aiperf/internal/infile"
)

// Tree counts what rows share in the prefix tree of their ids: a node is a leading sequence, an edge the id by which it is longer. The nodes do not lie
// in memory: a node is two hashes of its sequence, of 64 bits each, and is counted when the rows that follow one another leave it.
type Tree struct {
	seeds  [2]maphash.Seed
	path   []visited // of the row before
	nodes  spill.Table
	firsts spill.Table // by id: the row that has it first, and its first place there
	sizes  infile.Kept // ids of the rows, 4 bytes each
	out    *bufio.Writer
	rows   int // that have ids
}

// visited is a node of the path, and how often rows came by since it was entered.
type visited struct {
	id     int64
	node   spill.Key
	visits uint64
}

// Sharing is what the rows share.
type Sharing struct {
	Unique  int     // leading sequences, of every length
	Groups  int     // first ids that open at least two rows
	Reuse   float64 // of all occurrences of sequences, those of sequences that come more than once
	HitRate float64 // mean of the rates of rows that have ids; 0 of none
}

// NewTree returns an empty tree. name is the source of the rows, for errors.
func NewTree(name string) *Tree {
	t := &Tree{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	t.nodes = spill.Table{Name: name, Add: func(sum, more uint64) uint64 { return sum + more }}
	t.firsts = spill.Table{Name: name, Add: func(a, b uint64) uint64 { return min(a, b) }}
	t.sizes.Name = name
	t.out = bufio.NewWriter(&t.sizes)
	return t
}

// Rows is the number of rows that have ids.
func (t *Tree) Rows() int { return t.rows }

// Add adds the ids of a row, none of which changes nothing.
func (t *Tree) Add(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	same := 0
	for same < min(len(ids), len(t.path)) && t.path[same].id == ids[same] {
		t.path[same].visits++
		same++
	}
	if err := t.leave(same); err != nil {
		return err
	}
	for i, id := range ids[same:] { // those before them the row before had
		place := uint64(t.rows)<<32 | uint64(same+i)
		if err := t.firsts.Put(spill.Key{uint64(id)}, place); err != nil {
			return err
		}
		t.path = append(t.path, visited{id, t.child(id), 1})
	}
	t.rows++
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(len(ids)))
	_, err := t.out.Write(b[:])
	return err
}

// child is the node that an id leads to from the end of the path. Those that begin a row are told by the lowest bit.
func (t *Tree) child(id int64) (k spill.Key) {
	var from spill.Key
	if n := len(t.path); n > 0 {
		from = t.path[n-1].node
	}
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], from[0])
	binary.LittleEndian.PutUint64(b[8:], from[1])
	binary.LittleEndian.PutUint64(b[16:], uint64(id))
	k = spill.Key{maphash.Bytes(t.seeds[0], b[:]), maphash.Bytes(t.seeds[1], b[:]) &^ 1}
	if len(t.path) == 0 {
		k[1] |= 1
	}
	return k
}

// leave counts the nodes of the path that are longer than so many ids.
func (t *Tree) leave(length int) error {
	for _, v := range t.path[length:] {
		if err := t.nodes.Put(v.node, v.visits); err != nil {
			return err
		}
	}
	t.path = t.path[:length]
	return nil
}

// Sharing tells what the rows share, and empties the tree. It calls rate, in the order of the rows, with the share of leading ids that rows before had:
// what a cache without end would hold; nil = nobody asks.
func (t *Tree) Sharing(rate func(float64)) (s Sharing, err error) {
	if err := t.leave(0); err != nil {
		return s, err
	}
	var all, again uint64
	err = t.nodes.Each(func(k spill.Key, visits uint64) error {
		s.Unique++
		if all += visits; visits > 1 {
			again += visits
			s.Groups += int(k[1] & 1)
		}
		return nil
	})
	if err != nil || t.rows == 0 {
		return s, err
	}
	s.Reuse = float64(again) / float64(all)
	sum := 0.0
	err = t.rates(func(r float64) {
		if sum += r; rate != nil {
			rate(r)
		}
	})
	s.HitRate = sum / float64(t.rows)
	return s, err
}

// rates calls f with the rate of every row: it ends at the first id that no row before has.
func (t *Tree) rates(f func(float64)) error {
	ends := spill.Table{Name: t.firsts.Name, Add: t.firsts.Add}
	err := t.firsts.Each(func(_ spill.Key, place uint64) error { return ends.Put(spill.Key{place >> 32}, place&(1<<32-1)) })
	if err != nil {
		return err
	}
	if err := t.out.Flush(); err != nil {
		return err
	}
	sizes := bufio.NewReader(io.NewSectionReader(&t.sizes, 0, t.sizes.Size()))
	row := 0
	known := func(upTo int) {
		for ; row < upTo; row++ {
			_, _ = sizes.Discard(4) // the next read tells what is wrong
			f(1)
		}
	}
	err = ends.Each(func(k spill.Key, end uint64) error {
		known(int(k[0]))
		var b [4]byte
		if _, err := io.ReadFull(sizes, b[:]); err != nil {
			return err
		}
		f(float64(end) / float64(binary.LittleEndian.Uint32(b[:])))
		row++
		return nil
	})
	if err == nil {
		known(t.rows)
		err = t.sizes.Close()
	}
	return err
}
