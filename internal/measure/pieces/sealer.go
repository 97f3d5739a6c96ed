package pieces

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"aiperf/internal/measure/metric"
)

const (
	sealEvery = time.Second
	sealSize  = 4 << 20 // size of the results, in bytes, at which a piece is sealed earlier
)

// Sink receives the sealed pieces of a machine in the order of their numbers, from 0. It may block: results go to the next piece meanwhile. A piece
// that it has returned an error for is offered again, unchanged.
type Sink func(number int64, sealed []byte, last bool) error

// Sealer collects results and seals a piece every second. Its methods are safe for concurrent use.
type Sealer struct {
	sink Sink

	mu      sync.Mutex
	current []encoded
	size    int // of current, bytes
	grown   [][]encoded
	full    chan struct{}

	sending sync.Mutex  // guards what follows
	queue   [][]encoded // to be sealed
	number  int64
	rows    int64
	waiting []byte // a piece that the sink has not taken; nil = none
	last    bool   // it is the last one
	lost    error  // results that do not fit into a piece
	stop    chan struct{}
	once    sync.Once
	stopped sync.WaitGroup
}

// NewSealer starts a sealer. Close or Stop ends it.
func NewSealer(sink Sink) *Sealer {
	s := &Sealer{sink: sink, full: make(chan struct{}, 1), stop: make(chan struct{})}
	s.stopped.Go(s.run)
	return s
}

// Add adds a result. The lines may be overwritten afterwards.
func (s *Sealer) Add(row *metric.Row, lines []byte, ends []int) {
	e := encoded{row: row.Append(nil), lines: slices.Clone(lines), ends: slices.Clone(ends)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = append(s.current, e)
	if s.size += e.size(); s.size >= sealSize {
		s.rotate()
		select {
		case s.full <- struct{}{}:
		default:
		}
	}
}

// rotate begins the next piece.
func (s *Sealer) rotate() {
	if len(s.current) > 0 {
		s.grown = append(s.grown, s.current)
		s.current, s.size = nil, 0
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

// Seal seals what there is and passes it to the sink. It does nothing if there are no new results.
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
		results := s.queue[0]
		s.queue = s.queue[1:]
		if err := s.send(&plain{number: s.number, results: results}); err != nil {
			return err
		}
	}
}

// send seals a piece. It never changes after that.
func (s *Sealer) send(p *plain) (err error) {
	if s.waiting, err = p.seal(); err != nil {
		s.lost = errors.Join(s.lost, err)
		return nil
	}
	s.rows += int64(len(p.results))
	s.last = p.total != nil
	return s.offer()
}

// offer passes the sealed piece that the sink has not taken yet.
func (s *Sealer) offer() error {
	if s.waiting == nil {
		return nil
	}
	if err := s.sink(s.number, s.waiting, s.last); err != nil {
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

// Close seals the rest and the last piece, which says how many pieces and results there are. No result may come after it.
func (s *Sealer) Close(about []byte) error {
	s.Stop()
	err := s.Seal()
	s.sending.Lock()
	defer s.sending.Unlock()
	if err != nil {
		return fmt.Errorf("some results were not accepted: %w", err)
	}
	return errors.Join(s.send(&plain{number: s.number, total: &Total{Pieces: s.number + 1, Rows: s.rows, About: about}}), s.lost)
}
