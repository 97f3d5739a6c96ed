package load

import (
	"fmt"
	"slices"
	"time"

	"aiperf/internal/base/binenc"
)

// phaseLayout is the version of the binary form of PhaseStats; others are rejected.
const phaseLayout = 2

// Visit encodes or decodes the statistics of a phase, so that they can be merged with those of other machines.
func (f *PhaseStats) Visit(c *binenc.Coder) {
	version := phaseLayout
	if c.Int(&version); c.Err() == nil && version != phaseLayout {
		c.Fail("statistics of a phase with layout %d; this program reads %d", version, phaseLayout)
	}
	f.Info.visit(c)
	c.String((*string)(&f.StoppedBy))
	for _, v := range f.numbers() {
		c.Int64(v)
	}
	for _, v := range []*bool{&f.TimedOut, &f.GraceExpired, &f.Interrupted, &f.TooManyFails, &f.Schedule.Precise} {
		c.Bool(v)
	}
	for _, v := range f.Schedule.quantities() {
		c.Float64(v)
	}
	for _, h := range f.Schedule.histograms() {
		h.Visit(c)
	}
	for _, d := range f.durations() {
		c.Int64((*int64)(d))
	}
	binenc.Pointer(c, &f.Branches, func(c *binenc.Coder, b *BranchStats) {
		for _, v := range b.numbers() {
			c.Int64(v)
		}
	})
}

func (p *PhaseInfo) visit(c *binenc.Coder) {
	c.String(&p.Name)
	c.Int(&p.Index)
	c.Int(&p.Profiling)
	c.Bool(&p.Warmup)
	c.Bool(&p.Seamless)
	c.String((*string)(&p.Mode))
	c.Bool(&p.Primes)
}

// numbers returns the numbers, instants first. All others add up over machines.
func (f *PhaseStats) numbers() []*int64 {
	return append([]*int64{&f.Started, &f.SentAll, &f.Ended}, f.counts()...)
}

// counts returns the numbers that add up over machines.
func (f *PhaseStats) counts() []*int64 {
	s := &f.Schedule
	return []*int64{
		&f.Sent, &f.Completed, &f.Errors, &f.Cancelled, &f.Abandoned, &f.Fenced, &f.Unsent, &f.SessionsSent, &f.SessionsCompleted, &f.SessionsCancelled,
		&f.PrefillsReleased, &f.IdleJumps, &s.LateArmed, &s.Ticks, &s.TicksSkipped, &s.Reanchors, &s.CapReanchors, &s.Answered, &s.LateAnswers, &s.Steady.Sent,
	}
}

// durations returns the durations, which add up over machines.
func (f *PhaseStats) durations() []*time.Duration {
	return []*time.Duration{&f.IdleSkipped, &f.Slots.Busy, &f.Slots.InDelay, &f.Slots.Lost, &f.Slots.Unsure}
}

// quantities returns what is not counted.
func (s *ScheduleStats) quantities() []*float64 {
	return append(append(s.sums(), s.means()...), &s.SendSeconds, &s.Steady.Seconds, &s.Steady.Planned)
}

// sums returns the quantities that add up over machines.
func (s *ScheduleStats) sums() []*float64 {
	w := &s.Steady
	return []*float64{&s.LostArrivals, &s.Expected, &w.Expected, &w.Drawn, &w.Lost.Client, &w.Lost.Cap, &w.Lost.InDelay, &w.Lost.Prefill, &w.Lost.NoTurn}
}

// means returns the times that are a share of the phase: of several machines, each has its part of the load.
func (s *ScheduleStats) means() []*float64 {
	return []*float64{
		&s.LostSeconds, &s.Caps.Seconds, &s.Caps.BusySeconds, &s.Caps.PrefillSeconds, &s.Steady.Caps.Seconds, &s.Steady.Caps.BusySeconds, &s.Steady.Caps.PrefillSeconds,
	}
}

func (s *ScheduleStats) histograms() []*Histogram { return []*Histogram{&s.Lag, &s.Armed, &s.Own} }

func (b *BranchStats) numbers() []*int64 {
	return []*int64{
		&b.ChildrenSpawned, &b.ChildrenCompleted, &b.ChildrenErrored, &b.ChildrenTruncated, &b.ChildrenDelayed, &b.ParentsSuspended, &b.ParentsResumed, &b.ParentsFailed,
		&b.JoinsSuppressed, &b.GraphsAdmitted, &b.GraphsCompleted,
	}
}

// Shift moves the instants of the phase to another clock, by the difference in ns. Instants that are 0 stay 0.
func (f *PhaseStats) Shift(by int64) {
	for _, at := range []*int64{&f.Started, &f.SentAll, &f.Ended} {
		if *at != 0 {
			*at += by
		}
	}
}

// Check returns an error if the statistics, which come from another machine, cannot be true: instants outside of from and to, or impossible counts.
func (f *PhaseStats) Check(from, to int64) error {
	for _, at := range []int64{f.Started, f.SentAll, f.Ended} {
		if at != 0 && (at < from || at > to) {
			return fmt.Errorf("an instant lies %v outside of the run", time.Duration(max(from-at, at-to)))
		}
	}
	for _, n := range []int64{f.Sent, f.Completed, f.Errors, f.Cancelled, f.Abandoned, f.Fenced, f.Unsent, f.SessionsSent, f.SessionsCompleted, f.SessionsCancelled, f.PrefillsReleased} {
		if n < 0 {
			return fmt.Errorf("a count is %d", n)
		}
	}
	if f.Completed > f.Sent || f.Errors > f.Completed {
		return fmt.Errorf("%d of %d requests are complete, %d with errors", f.Completed, f.Sent, f.Errors)
	}
	return nil
}

// MergeShares merges the statistics of the machines that sent a phase together, in the order of the machines. nil stands for a machine whose statistics
// are missing; if all are missing, MergeShares returns nil. All instants must be of one clock. The merged phase ended for the reason of the machine that
// ended last.
func MergeShares(shares []*PhaseStats) *PhaseStats {
	parts := slices.DeleteFunc(slices.Clone(shares), func(f *PhaseStats) bool { return f == nil })
	if len(parts) == 0 {
		return nil
	}
	all := *parts[0]
	if all.Branches != nil {
		branches := *all.Branches
		all.Branches = &branches
	}
	for _, part := range parts[1:] {
		all.merge(part)
	}
	for _, v := range all.Schedule.means() {
		*v /= float64(len(parts))
	}
	w := &all.Schedule.Steady
	w.Planned = 0
	for _, part := range parts { // every machine has the same share of a rate, also one that ended early
		w.Planned = max(w.Planned, part.Schedule.Steady.Expected*float64(len(shares)))
	}
	return &all
}

// merge adds another machine; the means are sums until all are added.
func (f *PhaseStats) merge(o *PhaseStats) {
	if o.SentAll > f.SentAll {
		f.SentAll, f.StoppedBy = o.SentAll, o.StoppedBy
	}
	if f.Started == 0 || o.Started != 0 && o.Started < f.Started {
		f.Started = o.Started
	}
	f.Ended = max(f.Ended, o.Ended)
	f.TimedOut, f.GraceExpired = f.TimedOut || o.TimedOut, f.GraceExpired || o.GraceExpired
	f.Interrupted, f.TooManyFails = f.Interrupted || o.Interrupted, f.TooManyFails || o.TooManyFails
	to, from := &f.Schedule, &o.Schedule
	to.Precise = to.Precise && from.Precise
	to.SendSeconds, to.Steady.Seconds = max(to.SendSeconds, from.SendSeconds), max(to.Steady.Seconds, from.Steady.Seconds)
	addAll(f.counts(), o.counts())
	addAll(f.durations(), o.durations())
	addAll(append(to.sums(), to.means()...), append(from.sums(), from.means()...))
	for i, h := range from.histograms() {
		to.histograms()[i].Merge(h)
	}
	if o.Branches != nil {
		if f.Branches == nil {
			f.Branches = &BranchStats{}
		}
		addAll(f.Branches.numbers(), o.Branches.numbers())
	}
}

// addAll adds numbers pair by pair.
func addAll[T int64 | float64 | time.Duration](to, from []*T) {
	for i := range to {
		*to[i] += *from[i]
	}
}
