package load

import (
	"context"

	"aiperf/internal/base/binenc"
)

// Sender sends the requests of a run: a Generator in this process, or several machines.
type Sender interface {
	// Run sends them and waits for the answers (Generator.Run).
	Run(ctx context.Context) (*Result, error)
	// Snapshot returns the state of the current phase, Snapshots that of all phases so far.
	Snapshot() Snapshot
	Snapshots() []Snapshot
	// Move changes the load of an adaptive phase, End ends its sending, by index.
	Move(index int, to float64)
	End(index int)
	// Finish ends the run, because enough was measured.
	Finish()
}

// numbers returns the numbers of a snapshot that add up over machines.
func (s *Snapshot) numbers() []*int64 {
	return []*int64{&s.Sent, &s.Completed, &s.Errors, &s.Cancelled, &s.Sessions, &s.Turns, &s.Finished, &s.Cut, &s.FirstToken, &s.Skipped, &s.Reanchors}
}

// Visit encodes or decodes the numbers and instants of a snapshot.
func (s *Snapshot) Visit(c *binenc.Coder) {
	for _, v := range append([]*int64{&s.Started, &s.SentAll, &s.Ended}, s.numbers()...) {
		c.Int64(v)
	}
}

// Add adds the numbers of another machine in the same phase.
func (s *Snapshot) Add(o *Snapshot) { addAll(s.numbers(), o.numbers()) }
