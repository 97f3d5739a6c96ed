package load

import (
	"cmp"
	"context"
	"math"
	"slices"

	"aiperf/internal/base/clock"
)

// markAnswered records which turns of a conversation count as answered when a session of it sends turn next; -1 = all of them.
func (f *family) markAnswered(conversation, next, turns int) {
	if next < 0 {
		next = turns
	}
	f.reached[conversation] = next
}

// follows reports whether all turns of other sessions are answered that were answered in the recording when this turn was sent.
func (p *phase) follows(t *ticket) bool {
	f := t.ses.family
	if t.primes {
		return true
	}
	return !slices.ContainsFunc(t.ses.Shape.Turns[t.req.Turn].After, func(r TurnRef) bool { return f.reached[r.Conversation] <= r.Turn })
}

// answered records the end of a turn.
func (p *phase) answered(t *ticket, now int64) {
	if f, c := t.ses.family, t.ses.Conversation; f.reached != nil {
		f.reached[c] = max(f.reached[c], t.req.Turn+1)
		t.ses.returned = now
	}
}

// abandoned releases the tickets that wait for turns that a session will not send.
func (p *phase) abandoned(s *session) {
	if s.family.reached != nil {
		s.family.reached[s.Conversation] = math.MaxInt
	}
}

// continueParked continues the turns of a family that wait for nothing any more. Recordings with a contradictory order would wait for ever. So if nothing
// else of the family moves, the turn that came first in the recording continues.
func (p *phase) continueParked(f *family) {
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
	if first != nil && len(free) == 0 && p.sending && parked+f.waiting >= f.live {
		for _, r := range first.ses.Shape.Turns[first.req.Turn].After {
			f.reached[r.Conversation] = max(f.reached[r.Conversation], r.Turn+1)
		}
		p.continueParked(f)
	}
}

// recorded returns when a turn was sent in the recording, ms.
func recorded(t *ticket) float64 {
	if at := t.ses.Shape.Turns[t.req.Turn].Timestamp; at != nil {
		return *at
	}
	return math.Inf(1)
}

// overflowed reports whether a session of a replay ends because none of its further prompts fits into the context.
func (p *phase) overflowed(t *ticket, out Outcome) bool {
	return p.Mode == AgenticReplay && out.Overflow && t.req.Turn+1 < t.ses.Turns
}

// resume builds the lanes of a phase from what the previous one has left running. A lane that has ended gets the next conversation. Pauses that were
// running are completed first.
func (g *Generator) resume(ctx context.Context, p *phase) error {
	if !g.skippedPauses {
		return nil
	}
	kept := g.nextTurns
	g.nextTurns, g.skippedPauses = nil, false
	now := clock.Now()
	lanes := map[*family]*replaySlot{}
	var order []*replaySlot
	add := func(t *ticket, waits bool) {
		f := t.ses.family
		l := lanes[f]
		if l == nil {
			l = &replaySlot{family: f}
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
		if up := t.ses.awaitedBy; up != nil && up.waitingTurn != nil {
			add(up.waitingTurn, true)
		}
	}
	for _, l := range order {
		l.close()
		l.family.waiting = 0
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
		l := &replaySlot{family: s.family, streams: []*stream{{ses: s, primes: -1}}}
		l.close()
		g.lanes = append(g.lanes, l)
	}
	return nil
}
