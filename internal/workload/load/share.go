package load

import (
	"context"
	"fmt"
)

// Share is the part of a run that one of several machines sends. Every machine draws the whole schedule and sends what is its own: of the arrivals,
// places of a trace, users or lanes with the numbers 0, 1, 2 …, machine k of n has k, k+n, k+2n …. Together they send the schedule of one process.
//
// Two things depend on answers and are only split evenly: a limit that is reached in rate mode, and which session gets the next turn. The zero Share
// is the whole run.
type Share struct {
	Index int // of this machine, from 0
	Of    int // number of machines; 0 = 1
}

// machines returns the number of machines.
func (s Share) machines() int { return max(1, s.Of) }

// whole reports whether there is only one machine.
func (s Share) whole() bool { return s.Of <= 1 }

// owns reports whether number i of the run is this machine's.
func (s Share) owns(i int64) bool { return s.whole() || i%int64(s.Of) == int64(s.Index) }

// of returns the number in the run of this machine's number i.
func (s Share) of(i int64) int64 { return int64(s.Index) + i*int64(s.machines()) }

// Part returns how many of the first n numbers are this machine's. It splits limits and counts: the parts of all machines add up to n.
func (s Share) Part(n int64) int64 {
	of := int64(s.machines())
	q, r := n/of, n%of
	if int64(s.Index) < r {
		q++
	}
	return q
}

// fraction returns the part of a quantity that is not counted.
func (s Share) fraction(v float64) float64 { return v / float64(s.machines()) }

// Coordinator ties the phases of the machines of a run together. Each call returns when the context ends. Errors end the run of the machine.
type Coordinator interface {
	// Open waits until every machine has completed the phases before this one. It returns the maximum of what they have used (Usage.Max). It is not
	// called for a seamless phase.
	Open(ctx context.Context, p *PhaseInfo, own Usage) (all Usage, err error)
	// Lease asks for permission to send a part of a phase with a count (Scenario.Leased). The first call comes before Begin. There is one call of a
	// phase at a time, except that an Ask with Leave comes when the phase ends early. Leases.Take makes the reply.
	Lease(ctx context.Context, p *PhaseInfo, ask Ask) (Lease, error)
	// Begin waits until the first requests of every machine are prepared. It returns the instant at which the phase starts, on the clock of the machine.
	// It is not called for a seamless phase.
	Begin(ctx context.Context, p *PhaseInfo) (at int64, err error)
}

// Usage counts how many entries of each numbered sequence of a run the phases have used so far: 1 + the highest number used.
type Usage struct {
	Draws       int64 // conversations in sampling order
	Sessions    int64 // sessions, which get the target URLs in turn
	Cancellable int64 // requests for which it was drawn whether they are cancelled
	Replays     int64 // passes over a trace
}

// Max returns the usage of two machines together.
func (u Usage) Max(o Usage) Usage {
	return Usage{
		Draws: max(u.Draws, o.Draws), Sessions: max(u.Sessions, o.Sessions), Cancellable: max(u.Cancellable, o.Cancellable), Replays: max(u.Replays, o.Replays),
	}
}

// CheckMachines returns an error if the run cannot be split so that each of several machines has something to do.
func (scenario Scenario) CheckMachines(n int) error {
	scenario.Share = Share{Of: n}
	return scenario.checkShare()
}

// checkShare returns an error if the run cannot be split so that every machine has something to do.
func (scenario *Scenario) checkShare() error {
	s := scenario.Share
	if s.Of < 0 || s.Index < 0 || s.Index >= s.machines() {
		return fmt.Errorf("machine %d of %d: the index must be from 0 to below the number of machines", s.Index, s.Of)
	}
	if s.whole() {
		return nil
	}
	for i := range scenario.Phases {
		p := &scenario.Phases[i]
		if err := p.checkShare(s); err != nil {
			return fmt.Errorf("phase %d (%q): %w", i+1, p.Name, err)
		}
		if p.Seamless && (p.followsOthers() || scenario.Phases[i-1].followsOthers()) {
			return fmt.Errorf("phase %d (%q): on several machines, no phase starts seamlessly before or after one of the mode %s or %s", i+1, p.Name, UserCentric, AgenticReplay)
		}
	}
	return nil
}

func (p *Phase) checkShare(s Share) error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"concurrency", int64(p.Concurrency)}, {"prefill concurrency", int64(p.Prefill)}, {"users", int64(p.Users)}, {"requests", p.Requests}, {"sessions", p.Sessions},
	} {
		if limit.value > 0 && limit.value < int64(s.machines()) {
			return fmt.Errorf("%s %d cannot be split among %d machines, because some would send nothing; use at most %d machines", limit.name, limit.value, s.machines(), limit.value)
		}
	}
	if p.Mode == AgenticReplay && p.Replay.IdleCap >= 0 {
		return fmt.Errorf("on several machines, the pauses of a replay cannot be shortened: no machine knows when all others are idle")
	}
	return nil
}

// followsOthers reports whether every machine computes what all of them send, because it depends on what was sent before.
func (p *Phase) followsOthers() bool { return p.Mode == UserCentric || p.Mode == AgenticReplay }

// capped reports whether a limit of the phase may make an arrival wait or be skipped.
func (p *Phase) capped() bool { return p.Concurrency > 0 || p.Prefill > 0 }

// Leased reports whether the machines of a run share a count of the phase by leases (Coordinator.Lease), and the count. Otherwise each machine knows
// its part: the count is of numbers that it can compute.
func (scenario *Scenario) Leased(index int) (count int64, leased bool) {
	p := &scenario.Phases[index]
	if scenario.Share.whole() || p.Seamless || index+1 < len(scenario.Phases) && scenario.Phases[index+1].Seamless {
		return 0, false
	}
	switch {
	case p.Requests > 0:
		return p.Requests, p.Mode != Rate || p.capped() || p.Sessions > 0
	case p.Sessions > 0:
		return p.Sessions, p.Mode == ClosedLoop || p.Mode == AgenticReplay || p.Mode == Rate && p.capped()
	}
	return 0, false
}

// split reduces the counts that end a phase to this machine's part. Limits keep their values, because ramps follow those of the run. Users are
// counted over all machines.
func (p *Phase) split(s Share) {
	if s.whole() {
		return
	}
	p.FailureThreshold = nil // it is for the sum of all machines
	p.Requests = s.Part(p.Requests)
	if p.Mode != UserCentric {
		p.Sessions = s.Part(p.Sessions)
	}
}

// TooManyFail reports whether the failed requests of a phase exceed its threshold, given the sums over all machines.
func (p *Phase) TooManyFail(completed, failed int64) bool {
	return p.FailureThreshold != nil && !p.Warmup && completed >= int64(max(p.Concurrency, 10)) && float64(failed) > *p.FailureThreshold*float64(completed)
}
