package pieces

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"aiperf/internal/measure/metric"
)

// maxPieces is the largest number of pieces of one machine: a second each for more than three years.
const maxPieces = 100_000_000

// Merger collects the pieces of several machines in a temporary file and merges them. Its methods are safe for concurrent use.
type Merger struct {
	set *metric.Selection

	mu       sync.Mutex
	file     *os.File
	size     int64
	machines []machine
}

// machine is what has come from one machine.
type machine struct {
	pieces map[int64]place
	rows   int64
	twice  int64
	total  *Total
}

// place is where a sealed piece lies in the file.
type place struct {
	at   int64
	size int
	hash [sha256.Size]byte
}

// State is how much has come from a machine.
type State struct {
	Pieces, Rows int64
	Twice        int64  // number of pieces that came again and were ignored
	Complete     bool   // all that the machine says there is
	About        []byte // of its last piece; nil = it has not come
}

// NewMerger returns a merger for machines 0 to below the number. dir is the directory of the temporary file; "" = the system's.
func NewMerger(set *metric.Selection, machines int, dir string) (*Merger, error) {
	f, err := os.CreateTemp(dir, ".aiperf-pieces-*")
	if err != nil {
		return nil, err
	}
	m := &Merger{set: set, file: f, machines: make([]machine, machines)}
	for k := range m.machines {
		m.machines[k].pieces = map[int64]place{}
	}
	return m, nil
}

// Close removes the temporary file.
func (m *Merger) Close() error {
	return errors.Join(m.file.Close(), os.Remove(m.file.Name()))
}

// Add takes a sealed piece of a machine. Nothing of a piece that is refused is used. A piece that came before is ignored, if it is the same. When
// Add returns nil, the piece is on disk and the machine may forget it.
func (m *Merger) Add(index int, sealed []byte) error {
	p, err := open(sealed)
	if err != nil {
		return err
	}
	if _, err := m.read(p); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if index < 0 || index >= len(m.machines) {
		return fmt.Errorf("piece of machine %d of %d", index, len(m.machines))
	}
	one, hash := &m.machines[index], sha256.Sum256(sealed)
	if before, there := one.pieces[p.number]; there {
		if before.hash != hash {
			return fmt.Errorf("piece %d of machine %d came twice, with different contents", p.number, index)
		}
		one.twice++
		return nil
	}
	if err := one.check(p); err != nil {
		return fmt.Errorf("piece %d of machine %d: %w", p.number, index, err)
	}
	if _, err := m.file.WriteAt(sealed, m.size); err != nil {
		return err
	}
	one.pieces[p.number] = place{m.size, len(sealed), hash}
	m.size += int64(len(sealed))
	one.rows += p.rows
	if p.last {
		one.total = &p.total
	}
	return nil
}

// check returns an error for a piece that contradicts what the machine said before.
func (one *machine) check(p *piece) error {
	switch {
	case p.number >= maxPieces:
		return fmt.Errorf("at most %d are allowed", int64(maxPieces))
	case p.last && (one.total != nil || p.total.Pieces != p.number+1):
		return errors.New("it is not the last one")
	case one.total != nil && p.number >= one.total.Pieces:
		return fmt.Errorf("the machine said that it has %d pieces", one.total.Pieces)
	}
	return nil
}

// read reads the reducers of a piece, which also checks them.
func (m *Merger) read(p *piece) (list []*metric.Reducer, err error) {
	rows := int64(0)
	for i := range p.parts {
		r := m.set.NewReducer()
		if err := r.Read(p.parts[i].reduced); err != nil {
			return nil, err
		}
		valid, failed, cut := r.Counts()
		if rows += valid + failed + cut; min(valid, failed, cut) < 0 {
			return nil, errors.New("a piece of results counts fewer than 0 requests")
		}
		list = append(list, r)
	}
	if rows != p.rows {
		return nil, fmt.Errorf("a piece of results has %d requests, and says %d", rows, p.rows)
	}
	return list, nil
}

// State returns how much has come from a machine.
func (m *Merger) State(index int) State {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := &m.machines[index]
	s := State{Pieces: int64(len(one.pieces)), Rows: one.rows, Twice: one.twice}
	if one.total != nil {
		s.About = bytes.Clone(one.total.About)
		s.Complete = one.total.Pieces == s.Pieces && one.total.Rows == s.Rows
	}
	return s
}

// Merged is the result of all machines.
type Merged struct {
	Profiling, Warmup *metric.Reducer
	Phases            map[int]*metric.Reducer // by index over all phases
	Slowest           []metric.SlowRequest
}

// Merge merges all pieces, in the order of the machines and of the numbers: the result does not depend on when they came.
func (m *Merger) Merge() (*Merged, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := &Merged{Profiling: m.set.NewReducer(), Warmup: m.set.NewReducer(), Phases: map[int]*metric.Reducer{}}
	var slowest metric.Slowest
	for k := range m.machines {
		one := &m.machines[k]
		numbers := make([]int64, 0, len(one.pieces))
		for n := range one.pieces {
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		for _, n := range numbers {
			p, err := m.stored(one.pieces[n])
			if err != nil {
				return nil, err
			}
			if err := m.add(all, p); err != nil {
				return nil, err
			}
			slowest.Merge(&p.slowest)
		}
	}
	all.Slowest = slowest.List
	return all, nil
}

// stored reads a piece from the file.
func (m *Merger) stored(at place) (*piece, error) {
	sealed := make([]byte, at.size)
	if _, err := io.ReadFull(io.NewSectionReader(m.file, at.at, int64(at.size)), sealed); err != nil {
		return nil, err
	}
	if sha256.Sum256(sealed) != at.hash {
		return nil, fmt.Errorf("the temporary file %s has changed", m.file.Name())
	}
	return open(sealed)
}

// add merges one piece.
func (m *Merger) add(all *Merged, p *piece) error {
	list, err := m.read(p)
	if err != nil {
		return err
	}
	for i, r := range list {
		kind := all.Profiling
		if p.parts[i].warmup {
			kind = all.Warmup
		}
		phase := all.Phases[p.parts[i].phase]
		if phase == nil {
			phase = m.set.NewReducer()
			all.Phases[p.parts[i].phase] = phase
		}
		if err := errors.Join(kind.Merge(r), phase.Merge(r)); err != nil {
			return err
		}
	}
	return nil
}
