package load

import (
	"cmp"
	"context"
	"math"
	"slices"

	"aiperf/internal/clock"
)

// reach notes which turns of a conversation have been answered when a session of it sends a turn next; -1 = all of them.
func (f *family) reach(conversation, next, turns int) {
	if next < 0 {
		next = turns
	}
	f.reached[conversation] = next
}

// follows tells whether the turns of other sessions that had been answered in the recording when this one was sent have been answered now.
func (p *phase) follows(t *ticket) bool {
	f := t.ses.family
	if t.primes {
		return true
	}
	return !slices.ContainsFunc(t.ses.Shape.Turns[t.req.Turn].After, func(r TurnRef) bool { return f.reached[r.Conversation] <= r.Turn })
}

// answered notes the end of a turn.
func (p *phase) answered(t *ticket, now int64) {
	if f, c := t.ses.family, t.ses.Conversation; f.reached != nil {
		f.reached[c] = max(f.reached[c], t.req.Turn+1)
		t.ses.returned = now
	}
}

// abandoned lets nothing wait for the turns that a session will not send.
func (p *phase) abandoned(s *session) {
	if s.family.reached != nil {
		s.family.reached[s.Conversation] = math.MaxInt
	}
}

// unpark lets go on what of a family waits for nothing any more. Recordings whose order contradicts itself would wait for ever: where nothing else
// of the family moves, the turn that came first in the recording goes on.
func (p *phase) unpark(f *family) {
	if len(p.parked) == 0 {
		return
	}
	parked := 0
	var first *ticket
	var free []*ticket
	p.parked = slices.DeleteFunc(p.parked, func(t *ticket) bool {
		if t.ses.family != f {
			return false
		}
		if p.sending && p.follows(t) {
			free = append(free, t)
			return true
		}
		if parked++; first == nil || recorded(t) < recorded(first) {
			first = t
		}
		return false
	})
	slices.SortStableFunc(free, func(a, b *ticket) int {
		return cmp.Or(cmp.Compare(a.ses.Shape.ID, b.ses.Shape.ID), cmp.Compare(a.req.Turn, b.req.Turn))
	})
	for _, t := range free {
		p.ready.push(t)
	}
	if first != nil && len(free) == 0 && p.sending && parked+f.held >= f.live {
		for _, r := range first.ses.Shape.Turns[first.req.Turn].After {
			f.reached[r.Conversation] = max(f.reached[r.Conversation], r.Turn+1)
		}
		p.unpark(f)
	}
}

// recorded is when a turn was sent in the recording, ms.
func recorded(t *ticket) float64 {
	if at := t.ses.Shape.Turns[t.req.Turn].Timestamp; at != nil {
		return *at
	}
	return math.Inf(1)
}

// overflowed tells whether a session of a replay ends because no prompt of it will fit any more.
func (p *phase) overflowed(t *ticket, out Outcome) bool {
	return p.Mode == AgenticReplay && out.Overflow && t.req.Turn+1 < t.ses.Turns
}

// resume makes the lanes of a phase of what the one before it has left under way; a lane that has come to its end gets the next conversation. The
// pauses that were under way are finished first.
func (g *Generator) resume(ctx context.Context, p *phase) error {
	if !g.pressed {
		return nil
	}
	kept := g.kept
	g.kept, g.pressed = nil, false
	now := clock.Now()
	lanes := map[*family]*lane{}
	var order []*lane
	add := func(t *ticket, waits bool) {
		f := t.ses.family
		l := lanes[f]
		if l == nil {
			l = &lane{family: f}
			lanes[f], order = l, append(order, l)
		}
		if slices.ContainsFunc(l.streams, func(s *stream) bool { return s.ses == t.ses }) {
			return
		}
		s := &stream{ses: t.ses, next: t.req.Turn, waits: waits, primes: -1}
		if at := t.ses.returned; at != 0 {
			s.offset = max(0, thinkTime(t)-(now-at))
			if p.Replay.LeadCap >= 0 {
				s.offset = min(s.offset, int64(p.Replay.LeadCap))
			}
		}
		l.streams = append(l.streams, s)
	}
	for _, t := range kept {
		add(t, false)
		if up := t.ses.awaitedBy; up != nil && up.held != nil {
			add(up.held, true)
		}
	}
	for _, l := range order {
		l.close()
		l.family.held = 0
		if l.family.slot {
			l.family.slot = false
			g.session.give(now)
		}
	}
	wanted := len(g.lanes)
	for g.lanes = order; len(g.lanes) < wanted; {
		g.mu.Unlock()
		d, err := g.await(ctx, g.prefetcher)
		g.mu.Lock()
		if err != nil {
			return err
		}
		s := g.laneSession(d, 0)
		l := &lane{family: s.family, streams: []*stream{{ses: s, primes: -1}}}
		l.close()
		g.lanes = append(g.lanes, l)
	}
	return nil
}
