package load

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Replay describes how recorded agents are resumed in the middle of their recordings. The warm-up and the measured phases of a run share its lanes.
// Each lane is one of the concurrent sessions, with the recording that it plays and the instant at which it enters the recording.
type Replay struct {
	// From and To limit the fraction of a recording at which it is entered: of its time, or of its turns if it has no times.
	From, To float64
	// Together sends the first requests of all lanes at the start of a phase, instead of at their recorded times.
	Together bool
	// IdleCap is the longest time without any request in flight; after it everything that is due later moves forward. Negative = no limit.
	IdleCap time.Duration
	// LeadCap is the longest time between the entry into a recording and the requests before and after it. Negative = no limit.
	LeadCap time.Duration
	// Pressure is, in a warm-up, how long the agents continue without pauses after their caches were primed. 0 = not at all.
	Pressure time.Duration
}

// replay plays the lanes (profiling). A lane that has ended plays the next conversation of the data from its first turn.
type replay struct {
	p       *phase
	pending int       // number of lanes that have not started
	waiting []*ticket // first requests of lanes that wait for a slot
	idle    int64     // instant since which nothing is in flight; 0 = something is
}

func (d *replay) build(ctx context.Context) error {
	g := d.p.g
	if err := g.chooseLanes(ctx, d.p); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.resume(ctx, d.p)
}

func (d *replay) prime() (short bool) { return false }

func (d *replay) finished() bool { return false }

func (d *replay) ahead(int64) int64 { return never }

// due returns now plus the recorded pause after the answer. A turn that waited for other sessions continues at once.
func (d *replay) due(_, next *ticket, now int64) int64 {
	if next.resumes && !next.silent() {
		return now
	}
	return now + thinkTime(next)
}

func (d *replay) begin(t0 int64) {
	for _, l := range d.p.g.lanes {
		d.enter(l, t0, d.p.Replay.LeadCap, d.p.Replay.Together)
	}
}

// enter continues the sessions of a lane from their positions, each at its own offset from the phase boundary. If the first of them would be too
// late, all move forward by the same time.
func (d *replay) enter(l *replaySlot, t0 int64, most time.Duration, together bool) {
	p := d.p
	first := int64(math.MaxInt64)
	for _, s := range l.streams {
		if !s.waits {
			first = min(first, s.offset)
		}
	}
	if p.stats.Branches == nil && slices.ContainsFunc(l.streams, func(s *stream) bool { return s.ses.Parent != nil || s.ses.Shape.graph() }) {
		p.stats.Branches = &BranchStats{}
	}
	earlier := int64(0)
	switch {
	case together:
		earlier = first
	case most >= 0:
		earlier = max(0, first-int64(most))
	}
	if !l.family.slot {
		d.pending++
	}
	for _, s := range l.streams {
		t := p.ticketOf(s)
		s.ses.started, s.ses.returned = false, 0
		if s.waits {
			s.ses.waitingTurn = t
			l.family.waiting++
			p.stats.Branches.ParentsSuspended++
			continue
		}
		t.due = t0 + s.offset - earlier
		if t.due <= t0 {
			p.ready.push(t)
			continue
		}
		t.wakeAt = max(t0, t.due-int64(p.g.scenario.ArmLead))
		p.timed.push(t)
	}
}

// ticketOf returns a ticket for the next turn of a session.
func (p *phase) ticketOf(s *stream) *ticket {
	return &ticket{p: p, ses: s.ses, req: Request{Phase: &p.info, Session: &s.ses.Session, Turn: s.next}}
}

func (d *replay) advance(now int64) int64 {
	p := d.p
	d.admitReady(now)
	for p.sending && p.mayGrant() && p.g.prefill.free() > 0 && d.room() > 0 && p.mayStart() {
		if p.starts.len() == 0 {
			if _, ok := p.prefetch(); !ok {
				break
			}
		}
		p.admit(p.starts.pop(), 0, now)
	}
	return d.capIdle(now)
}

// admitReady grants what is due, in order. A turn waits for those that it followed in the recording; the first turn of a lane waits for a slot.
func (d *replay) admitReady(now int64) {
	p := d.p
	for len(d.waiting) > 0 && p.sending && p.mayGrant() && p.g.prefill.free() > 0 {
		t := d.waiting[0]
		if !t.ses.family.slot && (p.g.session.free() == 0 || !p.mayStart()) {
			break
		}
		d.waiting = d.waiting[1:]
		d.admit(t, now)
	}
	for p.sending && p.mayGrant() && p.g.prefill.free() > 0 && p.ready.len() > 0 {
		t := p.ready.pop()
		switch {
		case !p.follows(t):
			p.parked = append(p.parked, t)
			p.continueParked(t.ses.family)
		case !t.ses.family.slot && !t.primes && (p.g.session.free() == 0 || !p.mayStart()):
			d.waiting = append(d.waiting, t)
		default:
			d.admit(t, now)
		}
	}
}

func (d *replay) admit(t *ticket, now int64) {
	if !t.ses.family.slot && !t.primes {
		d.pending--
	}
	d.p.admit(t, 0, now)
}

// room returns the number of lanes that are free for other conversations.
func (d *replay) room() int {
	s := &d.p.g.session
	return min(s.free(), len(d.p.g.lanes)-s.used) - d.pending
}

// takeWaiting returns the tickets that wait for slots at the end of sending, and clears the list.
func (d *replay) takeWaiting() []*ticket {
	list := d.waiting
	d.waiting = nil
	return list
}

// capIdle moves everything that is due forward by the same time if nothing is in flight and the next request would exceed IdleCap. It returns when
// the next ticket must be prepared.
func (d *replay) capIdle(now int64) int64 {
	p := d.p
	if len(p.inFlight) > 0 {
		d.idle = 0
		return never
	}
	if d.idle == 0 {
		d.idle = now
	}
	if p.Replay.IdleCap < 0 || !p.sending || p.ready.len() > 0 || len(p.timed) == 0 {
		return never
	}
	first := slices.MinFunc(p.timed, func(a, b *ticket) int { return int(a.due - b.due) }).due
	earlier := first - max(now, later(d.idle, p.Replay.IdleCap))
	if earlier <= 0 {
		return never
	}
	p.stats.IdleJumps++
	p.stats.IdleSkipped += time.Duration(earlier)
	for _, t := range p.timed { // the relative order is unchanged
		t.due -= earlier
		t.wakeAt = min(t.due, max(now, t.wakeAt-earlier))
	}
	return p.timed[0].wakeAt
}

// primer is the warm-up of a replay. It sends, for every running session, the turn before the entry, only to fill the server's caches. The agents may
// then continue without pauses for a while (Replay.Pressure). The measured phase continues from there.
type primer struct {
	replay
	unreturned int  // number of priming requests that have not returned
	ended      bool // priming has ended
}

func (d *primer) build(ctx context.Context) error { return d.p.g.chooseLanes(ctx, d.p) }

// begin plans the priming so that all lanes reach their entry together at its end: a session whose previous turn is longer ago starts earlier.
func (d *primer) begin(t0 int64) {
	p := d.p
	longest := int64(0)
	var list []*ticket
	var leads []int64
	for _, l := range p.g.lanes {
		for _, s := range l.streams {
			if s.primes < 0 {
				continue
			}
			t := p.ticketOf(s)
			t.req.Turn, t.primes = s.primes, true
			lead := s.lead
			if p.Replay.LeadCap >= 0 {
				lead = min(lead, int64(p.Replay.LeadCap))
			}
			longest = max(longest, lead)
			list, leads = append(list, t), append(leads, lead)
		}
	}
	p.unsentTurns, d.unreturned = int64(len(list)), len(list)
	for i, t := range list {
		if leads[i] < 0 || p.Replay.Together || leads[i] == longest {
			p.ready.push(t)
			continue
		}
		t.due = t0 + longest - leads[i]
		t.wakeAt = max(t0, t.due-int64(p.g.scenario.ArmLead))
		p.timed.push(t)
	}
	if len(list) == 0 && p.Replay.Pressure > 0 {
		d.continueAll(t0)
	}
}

func (d *primer) finished() bool { return d.p.Replay.Pressure <= 0 }

func (d *primer) due(_, _ *ticket, now int64) int64 { return now }

func (d *primer) advance(now int64) int64 {
	if d.ended {
		return d.replay.advance(now)
	}
	d.admitReady(now)
	return d.capIdle(now)
}

// primed handles the return of a priming request. The session's position does not change.
func (d *primer) primed(now int64) {
	if d.unreturned--; d.unreturned == 0 && d.p.Replay.Pressure > 0 && d.p.sending {
		d.continueAll(now)
	}
}

// continueAll continues all agents at once and without pauses.
func (d *primer) continueAll(now int64) {
	p := d.p
	d.ended, p.continues, p.g.skippedPauses = true, true, true
	p.stopAt = later(now, p.Replay.Pressure)
	for _, l := range p.g.lanes {
		for _, s := range l.streams {
			s.offset = 0
		}
		d.enter(l, now, -1, true)
	}
}

// endUnprimed ends the run, because the measured phase would find cold caches.
func (p *phase) endUnprimed(t *ticket) {
	p.refuse(fmt.Errorf("the warm-up request of conversation %q (turn %d) failed, so the server's caches are not warm and nothing is measured", t.ses.Shape.ID, t.req.Turn))
}
