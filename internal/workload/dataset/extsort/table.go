// Package extsort adds up values by key when there may be more keys than fit into memory. It writes sorted runs to a temporary file and merges them in
// the end. The results are exact.
package extsort

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"aiperf/internal/base/boundedfile"
)

// Key is the key of a sum.
type Key [2]uint64

// Compare orders keys.
func (k Key) Compare(other Key) int {
	if k[0] != other[0] {
		return cmp.Compare(k[0], other[0])
	}
	return cmp.Compare(k[1], other[1])
}

// MaxMemory is the maximum number of keys in memory, of about 64 bytes each.
var MaxMemory = 1 << 17

// record is the size of a key with its value in the file, in bytes.
const record = 24

// readMemory is the total buffer size for merging runs, in bytes. The more runs there are, the less each gets.
const readMemory = 16 << 20

// Table sums values by key. Its memory is limited by MaxMemory.
type Table struct {
	Name string                        // name of the content, for errors
	Add  func(sum, more uint64) uint64 // combines two values of a key, in any order and grouping

	memory     map[Key]uint64
	sortedRuns boundedfile.SpooledBytes
	ends       []int64 // end offset of each run in the file
}

type pair struct {
	key   Key
	value uint64
}

// Put adds a value to that of a key.
func (t *Table) Put(k Key, v uint64) error {
	if sum, known := t.memory[k]; known {
		t.memory[k] = t.Add(sum, v)
		return nil
	}
	if t.memory == nil {
		t.memory = make(map[Key]uint64)
	}
	t.memory[k] = v
	if len(t.memory) < MaxMemory {
		return nil
	}
	return t.flush()
}

// sorted returns the pairs in memory, sorted by key.
func (t *Table) sorted() []pair {
	list := make([]pair, 0, len(t.memory))
	for k, v := range t.memory {
		list = append(list, pair{k, v})
	}
	clear(t.memory)
	slices.SortFunc(list, func(a, b pair) int { return a.key.Compare(b.key) })
	return list
}

// flush writes the pairs in memory to the file as a run.
func (t *Table) flush() error {
	t.sortedRuns.Name = t.Name
	out := bufio.NewWriterSize(&t.sortedRuns, 1<<16)
	var b [record]byte
	for _, p := range t.sorted() {
		binary.LittleEndian.PutUint64(b[0:], p.key[0])
		binary.LittleEndian.PutUint64(b[8:], p.key[1])
		binary.LittleEndian.PutUint64(b[16:], p.value)
		if _, err := out.Write(b[:]); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	t.ends = append(t.ends, t.sortedRuns.Size())
	return nil
}

// Each calls f for every key in order and empties the table.
func (t *Table) Each(f func(k Key, v uint64) error) (err error) {
	defer func() { err, t.ends = errors.Join(err, t.sortedRuns.Close()), nil }()
	var runs merge
	from := int64(0)
	for _, end := range t.ends {
		size := min(1<<16, max(1<<12, readMemory/len(t.ends)))
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(&t.sortedRuns, from, end-from), size)}
		if err := r.next(); err != nil {
			return err
		}
		runs, from = append(runs, r), end
	}
	if last := (&run{list: t.sorted()}); len(last.list) > 0 {
		_ = last.next() // cannot fail: the pairs are in memory
		runs = append(runs, last)
	}
	heap.Init(&runs)
	for len(runs) > 0 {
		sum := runs[0].first
		for first := true; len(runs) > 0 && runs[0].first.key == sum.key; first = false {
			if !first {
				sum.value = t.Add(sum.value, runs[0].first.value)
			}
			switch err := runs[0].next(); {
			case err == nil:
				heap.Fix(&runs, 0)
			case errors.Is(err, io.EOF):
				heap.Pop(&runs)
			default:
				return err
			}
		}
		if err := f(sum.key, sum.value); err != nil {
			return err
		}
	}
	return nil
}

// run is the unread rest of a run: pairs in the file or in memory.
type run struct {
	first pair
	in    *bufio.Reader
	list  []pair
}

// next moves to the next pair; io.EOF = no more pairs.
func (r *run) next() error {
	if r.in == nil {
		if len(r.list) == 0 {
			return io.EOF
		}
		r.first, r.list = r.list[0], r.list[1:]
		return nil
	}
	var b [record]byte
	if _, err := io.ReadFull(r.in, b[:]); err != nil {
		return err
	}
	r.first = pair{Key{binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])}, binary.LittleEndian.Uint64(b[16:])}
	return nil
}

// merge is a heap of runs, ordered by their first keys.
type merge []*run

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, j int) bool { return m[i].first.key.Compare(m[j].first.key) < 0 }
func (m merge) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { *m = append(*m, x.(*run)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
