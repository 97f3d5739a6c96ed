package trace

import (
	"bufio"
	"encoding/binary"
	"hash/maphash"
	"io"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/dataset/extsort"
)

// Tree counts what rows share in the prefix tree of their ids. A node is a prefix, an edge the next id. The nodes are not in memory: a node is
// represented by two 64-bit hashes of its prefix. It is counted when consecutive rows leave it.
type Tree struct {
	seeds  [2]maphash.Seed
	path   []visitedNode // path of the previous row
	nodes  extsort.Table
	firsts extsort.Table            // by id: the first row with it and its first position there
	sizes  boundedfile.SpooledBytes // number of ids in each row, 4 bytes each
	out    *bufio.Writer
	rows   int // number of rows with ids
}

// visitedNode is a node of the path, with the number of rows since it was entered.
type visitedNode struct {
	id     int64
	node   extsort.Key
	visits uint64
}

// Sharing describes what the rows share.
type Sharing struct {
	Unique  int     // distinct prefixes of every length
	Groups  int     // first ids of at least two rows
	Reuse   float64 // fraction of all prefix occurrences that belong to repeated prefixes
	HitRate float64 // mean rate of the rows with ids; 0 if there are none
}

// NewTree returns an empty tree. name is the source of the rows, for errors.
func NewTree(name string) *Tree {
	t := &Tree{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	t.nodes = extsort.Table{Name: name, Add: func(sum, more uint64) uint64 { return sum + more }}
	t.firsts = extsort.Table{Name: name, Add: func(a, b uint64) uint64 { return min(a, b) }}
	t.sizes.Name = name
	t.out = bufio.NewWriter(&t.sizes)
	return t
}

// Rows returns the number of rows with ids.
func (t *Tree) Rows() int { return t.rows }

// Add adds the ids of a row. A row without ids changes nothing.
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
	for i, id := range ids[same:] { // the earlier ids are also in the previous row
		place := uint64(t.rows)<<32 | uint64(same+i)
		if err := t.firsts.Put(extsort.Key{uint64(id)}, place); err != nil {
			return err
		}
		t.path = append(t.path, visitedNode{id, t.child(id), 1})
	}
	t.rows++
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(len(ids)))
	_, err := t.out.Write(b[:])
	return err
}

// child returns the child of the last path node for an id. The lowest bit is set for nodes of first ids.
func (t *Tree) child(id int64) (k extsort.Key) {
	var from extsort.Key
	if n := len(t.path); n > 0 {
		from = t.path[n-1].node
	}
	var b [24]byte
	binary.LittleEndian.PutUint64(b[0:], from[0])
	binary.LittleEndian.PutUint64(b[8:], from[1])
	binary.LittleEndian.PutUint64(b[16:], uint64(id))
	k = extsort.Key{maphash.Bytes(t.seeds[0], b[:]), maphash.Bytes(t.seeds[1], b[:]) &^ 1}
	if len(t.path) == 0 {
		k[1] |= 1
	}
	return k
}

// leave counts the nodes of the path deeper than length.
func (t *Tree) leave(length int) error {
	for _, v := range t.path[length:] {
		if err := t.nodes.Put(v.node, v.visits); err != nil {
			return err
		}
	}
	t.path = t.path[:length]
	return nil
}

// Sharing returns what the rows share and empties the tree. It calls rate for every row in order, with the fraction of its leading ids that earlier
// rows had. This is the hit rate of an unlimited cache. rate may be nil.
func (t *Tree) Sharing(rate func(float64)) (s Sharing, err error) {
	if err := t.leave(0); err != nil {
		return s, err
	}
	var all, again uint64
	err = t.nodes.Each(func(k extsort.Key, visits uint64) error {
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

// rates calls f with the rate of every row. The leading ids end at the first id that no earlier row has.
func (t *Tree) rates(f func(float64)) error {
	ends := extsort.Table{Name: t.firsts.Name, Add: t.firsts.Add}
	err := t.firsts.Each(func(_ extsort.Key, place uint64) error { return ends.Put(extsort.Key{place >> 32}, place&(1<<32-1)) })
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
			_, _ = sizes.Discard(4) // the next read reports an error
			f(1)
		}
	}
	err = ends.Each(func(k extsort.Key, end uint64) error {
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
