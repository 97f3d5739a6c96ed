package pieces

import (
	"fmt"
	"sync"
	"time"

	"aiperf/internal/base/sorting"
	"aiperf/internal/measure/metric"
)

const (
	sealEvery = time.Second
	sealSize  = 4 << 20 // approximate size of the rows, in bytes, at which a piece is sealed earlier
)

// Sink receives the sealed pieces of a machine in the order of their numbers, from 0. It may block: requests go to the next piece meanwhile. A piece
// that it has returned an error for is offered again, unchanged.
type Sink func(number int64, sealed []byte) error

// Sealer is an observer of rows (pipeline.Observer). It reduces them by phase and seals a piece every second.
type Sealer struct {
	set  *metric.Selection
	sink Sink

	mu      sync.Mutex
	current *growing
	size    int // approximate size of current, bytes
	grown   []*growing
	full    chan struct{}

	sending sync.Mutex // guards what follows
	queue   []*growing // to be sealed
	number  int64
	rows    int64
	waiting []byte // a piece that the sink has not taken; nil = none
	stop    chan struct{}
	once    sync.Once
	stopped sync.WaitGroup
}

// growing is a piece before it is sealed.
type growing struct {
	rows    int64
	phases  map[int]*reduced
	slowest metric.Slowest
}

type reduced struct {
	warmup bool
	*metric.Reducer
}

// NewSealer starts a sealer. Close or Stop ends it.
func NewSealer(set *metric.Selection, sink Sink) *Sealer {
	s := &Sealer{set: set, sink: sink, current: newGrowing(), full: make(chan struct{}, 1), stop: make(chan struct{})}
	s.stopped.Go(s.run)
	return s
}

func newGrowing() *growing { return &growing{phases: map[int]*reduced{}} }

// Observe adds a row.
func (s *Sealer) Observe(row *metric.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.current
	r := g.phases[row.Meta.PhaseIndex]
	if r == nil {
		r = &reduced{row.Meta.Warmup, s.set.NewReducer()}
		g.phases[row.Meta.PhaseIndex] = r
	}
	r.Add(row)
	if g.rows++; !row.Meta.Warmup {
		g.slowest.Add(row)
	}
	if s.size += 100 + 8*len(row.Gaps); s.size >= sealSize {
		s.rotate()
		select {
		case s.full <- struct{}{}:
		default:
		}
	}
}

// rotate begins the next piece.
func (s *Sealer) rotate() {
	if s.current.rows > 0 {
		s.grown = append(s.grown, s.current)
		s.current, s.size = newGrowing(), 0
	}
}

func (s *Sealer) run() {
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.full:
		case <-s.stop:
			return
		}
		_ = s.Seal() // the piece is offered again the next time, and Close returns the error
	}
}

// Seal seals what there is and passes it to the sink. It does nothing if there are no new rows.
func (s *Sealer) Seal() error {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.mu.Lock()
	s.rotate()
	s.queue = append(s.queue, s.grown...)
	s.grown = nil
	s.mu.Unlock()
	for {
		if err := s.offer(); err != nil || len(s.queue) == 0 {
			return err
		}
		p := s.piece(s.queue[0])
		s.queue = s.queue[1:]
		if err := s.send(p); err != nil {
			return err
		}
	}
}

// piece converts rows to the next piece.
func (s *Sealer) piece(g *growing) *piece {
	p := &piece{number: s.number, rows: g.rows, slowest: g.slowest}
	for phase, r := range g.phases {
		p.parts = append(p.parts, part{phase: phase, warmup: r.warmup, reduced: r.Append(nil)})
	}
	sorting.Sort(p.parts, func(a, b part) int { return a.phase - b.phase })
	return p
}

// send seals a piece. It never changes after that.
func (s *Sealer) send(p *piece) (err error) {
	if s.waiting, err = p.seal(); err != nil {
		return err
	}
	s.rows += p.rows
	return s.offer()
}

// offer passes the sealed piece that the sink has not taken yet.
func (s *Sealer) offer() error {
	if s.waiting == nil {
		return nil
	}
	if err := s.sink(s.number, s.waiting); err != nil {
		return err
	}
	s.waiting = nil
	s.number++
	return nil
}

// Stop ends the sealing every second, if Close has not done so. A sink that blocks delays it.
func (s *Sealer) Stop() {
	s.once.Do(func() { close(s.stop) })
	s.stopped.Wait()
}

// Close seals the rest and the last piece, which says how many pieces and rows there are. No row may come after it.
func (s *Sealer) Close(about []byte) error {
	s.Stop()
	err := s.Seal()
	s.sending.Lock()
	defer s.sending.Unlock()
	if err != nil {
		return fmt.Errorf("some results were not accepted: %w", err)
	}
	p := s.piece(newGrowing())
	p.last, p.total = true, Total{Pieces: s.number + 1, Rows: s.rows, About: about}
	return s.send(p)
}
