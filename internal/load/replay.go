package load

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Replay is how recorded agents are taken up in the middle of their recordings. The warm-up and the measured phases of a run share its lanes:
// each is one place among the concurrent sessions, with the recording that is played there and the instant at which it is entered.
type Replay struct {
	// From and To bound the share of a recording at which it is entered: of its time, or of its turns where it has no times.
	From, To float64
	// Together lets the first requests of every lane leave at the start of a phase, not when the recording says.
	Together bool
	// IdleCap is the longest time for which nothing is under way: all that is due later moves forward. Negative = any.
	IdleCap time.Duration
	// LeadCap is the longest time between the entry into a recording and the requests on either side of it. Negative = any.
	LeadCap time.Duration
	// Pressure, of a warm-up, is for how long the agents go on without their pauses after their caches were primed. 0 = not at all.
	Pressure time.Duration
}

// replay plays the lanes (profiling), and then, on each lane that has come to its end, the next conversation of the data from its first turn.
type replay struct {
	p       *phase
	pending int       // lanes that have not started
	waiting []*ticket // first requests of lanes, which wait for a slot
	idle    int64     // since when nothing is under way; 0 = something is
}

func (d *replay) build(ctx context.Context) error {
	g := d.p.g
	if err := g.settle(ctx, d.p); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.resume(ctx, d.p)
}

func (d *replay) prime() (short bool) { return false }

func (d *replay) over() bool { return false }

func (d *replay) ahead(int64) int64 { return never }

// due is the recorded pause after the answer; what waited for other sessions goes on at once.
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

// enter lets the sessions of a lane go on where they stand, each at its own distance from the boundary. Where the first of them would come too
// late, all come earlier by the same time.
func (d *replay) enter(l *lane, t0 int64, most time.Duration, together bool) {
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
			s.ses.held = t
			l.family.held++
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

// ticketOf is the turn of a session that comes next.
func (p *phase) ticketOf(s *stream) *ticket {
	return &ticket{p: p, ses: s.ses, req: Request{Phase: &p.info, Session: &s.ses.Session, Turn: s.next}}
}

func (d *replay) advance(now int64) int64 {
	p := d.p
	d.admitReady(now)
	for p.sending && p.g.prefill.free() > 0 && d.room() > 0 && p.mayStart() {
		if p.starts.len() == 0 {
			if _, ok := p.prefetch(); !ok {
				break
			}
		}
		p.admit(p.starts.pop(), 0, now)
	}
	return d.capIdle(now)
}

// admitReady lets leave what is due, in its order: a turn waits for those that it followed in the recording, the first one of a lane for a slot.
func (d *replay) admitReady(now int64) {
	p := d.p
	for len(d.waiting) > 0 && p.sending && p.g.prefill.free() > 0 {
		t := d.waiting[0]
		if !t.ses.family.slot && (p.g.session.free() == 0 || !p.mayStart()) {
			break
		}
		d.waiting = d.waiting[1:]
		d.admit(t, now)
	}
	for p.sending && p.g.prefill.free() > 0 && p.ready.len() > 0 {
		t := p.ready.pop()
		switch {
		case !p.follows(t):
			p.parked = append(p.parked, t)
			p.unpark(t.ses.family)
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

// room is the number of lanes that are free for other conversations.
func (d *replay) room() int {
	s := &d.p.g.session
	return min(s.free(), len(d.p.g.lanes)-s.used) - d.pending
}

// left gives up what waits for slots, at the end of the sending.
func (d *replay) left() []*ticket {
	list := d.waiting
	d.waiting = nil
	return list
}

// capIdle moves all that is due forward by the same time, where nothing is under way and the next request would come later than the longest
// pause allows. It returns when the next one is to be prepared.
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
	for _, t := range p.timed { // the order of all stays
		t.due -= earlier
		t.wakeAt = min(t.due, max(now, t.wakeAt-earlier))
	}
	return p.timed[0].wakeAt
}

// primer is the warm-up of a replay: the turn before the entry of every session that is under way there, for the caches alone. Then the agents
// may go on without pauses for a while (Replay.Pressure), and the measured phase finds them where that left them.
type primer struct {
	replay
	unback  int  // priming requests that have not returned
	pressed bool // the priming is over
}

func (d *primer) build(ctx context.Context) error { return d.p.g.settle(ctx, d.p) }

// begin plans the priming so that all lanes reach the instant of their entry together, at the end: who asked long before it begins.
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
	p.owed, d.unback = int64(len(list)), len(list)
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
		d.press(t0)
	}
}

func (d *primer) over() bool { return d.p.Replay.Pressure <= 0 }

func (d *primer) due(_, _ *ticket, now int64) int64 { return now }

func (d *primer) advance(now int64) int64 {
	if d.pressed {
		return d.replay.advance(now)
	}
	d.admitReady(now)
	return d.capIdle(now)
}

// primed takes a priming request back. The session stands where it stood.
func (d *primer) primed(now int64) {
	if d.unback--; d.unback == 0 && d.p.Replay.Pressure > 0 && d.p.sending {
		d.press(now)
	}
}

// press lets all agents go on at once and without pauses.
func (d *primer) press(now int64) {
	p := d.p
	d.pressed, p.keeps, p.g.pressed = true, true, true
	p.stopAt = later(now, p.Replay.Pressure)
	for _, l := range p.g.lanes {
		for _, s := range l.streams {
			s.offset = 0
		}
		d.enter(l, now, -1, true)
	}
}

// unprimed ends the run: what is measured would find caches that were not warmed.
func (p *phase) unprimed(t *ticket) {
	p.refuse(fmt.Errorf("the warm-up's request of conversation %q (turn %d) failed: nothing is measured on a server whose caches are not warm", t.ses.Shape.ID, t.req.Turn))
}
