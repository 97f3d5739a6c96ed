package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Ask is a machine's request for a lease.
type Ask struct {
	Unused int64 // number of draws that it was given and has not used
	Wait   bool  // it can send nothing before it gets more
	Leave  bool  // it has ended the phase early; nobody waits for it any more
	Return int64 // with Leave: how many of the counted requests or sessions it was given and did not use
}

// Lease is the permission to send a part of a phase with a count.
type Lease struct {
	Count int64 // number of further requests, or of sessions
	Draws []Run // numbers, in sampling order, of the conversations that are given with it
	Final bool  // there will be no more
}

// Run is the numbers From, From+Step, From+2·Step …, Count of them.
type Run struct{ From, Step, Count int64 }

// Leases shares a count among machines so that together they send exactly the count, whatever their speed. A machine gets half of what is left,
// divided by the number of machines, and at least one. The conversations with the numbers below the count are each given once: first a machine's own,
// then the last ones of the machine that has the most left.
type Leases struct {
	mu      sync.Mutex
	left    int64 // of the count
	own     []span
	beyond  int64 // the next draw when all below the count are given
	waiting []bool
	gone    []bool
	changed chan struct{} // closed at the next change
}

// span is the range of a machine's own draws that are not given yet, counted on the machine.
type span struct{ from, to int64 }

// errLost tells a machine that the controller has given up on it.
var errLost = errors.New("this machine has left the phase")

// NewLeases returns the leases of one phase.
func NewLeases(count int64, machines int) *Leases {
	l := &Leases{left: count, beyond: count, own: make([]span, machines), waiting: make([]bool, machines), gone: make([]bool, machines), changed: make(chan struct{})}
	for k := range l.own {
		l.own[k].to = Share{Index: k, Of: machines}.Part(count)
	}
	return l
}

// Take makes a lease for a machine. If the machine waits and nothing is left, Take blocks until another machine returns something, or until no
// machine can: all wait or have left.
func (l *Leases) Take(ctx context.Context, machine int, ask Ask) (Lease, error) {
	if machine < 0 || machine >= len(l.own) {
		return Lease{}, fmt.Errorf("lease for machine %d of %d", machine, len(l.own))
	}
	for {
		l.mu.Lock()
		got, ok := l.try(machine, ask)
		changed, gone := l.changed, l.gone[machine]
		l.mu.Unlock()
		switch {
		case ok:
			return got, nil
		case gone:
			return Lease{}, errLost
		}
		select {
		case <-changed:
		case <-ctx.Done():
			l.mu.Lock()
			l.waiting[machine] = false
			l.mu.Unlock()
			return Lease{}, context.Cause(ctx)
		}
	}
}

// try makes a lease; ok = false: the machine must wait.
func (l *Leases) try(machine int, ask Ask) (got Lease, ok bool) {
	switch {
	case l.gone[machine]:
		return got, false
	case ask.Leave:
		l.left += max(0, ask.Return)
		l.leave(machine)
		return Lease{Final: true}, true
	case l.left > 0:
		l.waiting[machine] = false
		got.Count = max(1, l.left/int64(2*len(l.own)))
		l.left -= got.Count
		got.Draws = l.draw(machine, got.Count-max(0, ask.Unused))
		return got, true
	case !ask.Wait:
		return got, true
	}
	if !l.waiting[machine] {
		l.waiting[machine] = true
		l.signal()
	}
	got.Final = l.allWait()
	return got, got.Final
}

// Leave records that a machine has completed the phase or is lost. What it was given stays given.
func (l *Leases) Leave(machine int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(machine)
}

func (l *Leases) leave(machine int) {
	if !l.gone[machine] {
		l.gone[machine] = true
		l.signal()
	}
}

func (l *Leases) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Leases) allWait() bool {
	for k, waits := range l.waiting {
		if !waits && !l.gone[k] {
			return false
		}
	}
	return true
}

// draw gives n draws to a machine.
func (l *Leases) draw(machine int, n int64) (list []Run) {
	of := int64(len(l.own))
	for n > 0 {
		from := machine
		if l.own[from].empty() {
			from = l.fullest()
		}
		s := &l.own[from]
		take := min(n, s.to-s.from)
		switch {
		case take <= 0:
			take = n
			list = append(list, Run{From: l.beyond, Step: 1, Count: n})
			l.beyond += n
		case from == machine:
			list = append(list, Run{From: int64(from) + s.from*of, Step: of, Count: take})
			s.from += take
		default:
			s.to -= take
			list = append(list, Run{From: int64(from) + s.to*of, Step: of, Count: take})
		}
		n -= take
	}
	return list
}

func (s span) empty() bool { return s.from >= s.to }

// fullest returns the machine with the most own draws left.
func (l *Leases) fullest() (machine int) {
	for k := range l.own {
		if l.own[k].to-l.own[k].from > l.own[machine].to-l.own[machine].from {
			machine = k
		}
	}
	return machine
}
