package load

import "aiperf/internal/rng"

// family is a session that was drawn and all that its turns have started. They share one session slot.
type family struct {
	live int   // sessions of it that have not ended
	cut  bool  // one of them ended early
	over bool  // one of them failed, which none of them is to outlive
	slot bool  // holds a session slot
	owed int64 // turns that it will send, until it has taken its slot

	arrived int64 // the answer that came last, of a closed loop; 0 = the request failed

	// Of a replay:
	reached map[int]int // by conversation, the turns that have been answered; nil = it is not known
	held    int         // sessions that wait for others
}

// requests is how many turns of a session are to be sent, those of the sessions that they start included.
func (s *Shape) requests(turns int) int64 { return s.requestsFrom(0, turns) }

// requestsFrom is the same of the turns from one on.
func (s *Shape) requestsFrom(from, turns int) int64 {
	n := int64(0)
	for i := from; i < turns; i++ {
		if !s.Turns[i].Silent {
			n++
		}
		for _, b := range s.Turns[i].Branches {
			n += b.Shape.requests(len(b.Shape.Turns))
		}
	}
	return n
}

// Forks tells whether sessions begin with the history of a turn.
func (s *Shape) Forks(turn int) bool {
	if turn >= len(s.Turns) {
		return false
	}
	for _, b := range s.Turns[turn].Branches {
		if b.Fork {
			return true
		}
	}
	return false
}

// branch starts the sessions that begin after a turn, or before it.
func (p *phase) branch(t *ticket, before bool, now int64) {
	s := t.ses
	for _, b := range s.Shape.Turns[t.req.Turn].Branches {
		if b.Before != before {
			continue
		}
		c := &session{family: s.family, left: b.Shape.requests(len(b.Shape.Turns))}
		c.Session = Session{ID: rng.UUID(), Conversation: b.Conversation, Shape: *b.Shape, Turns: len(b.Shape.Turns), URL: s.URL,
			Parent: &s.Session, ParentTurn: t.req.Turn, Fork: b.Fork}
		s.left -= c.left
		s.family.live++
		if b.Join > t.req.Turn && b.Join < s.Turns {
			s.await(c, b.Join)
		}
		first := &ticket{p: p, ses: c, req: Request{Phase: &p.info, Session: &c.Session}}
		p.schedule(first, t, now)
		if !b.Fork && first.due > now {
			p.stats.Branches.ChildrenDelayed++
		}
	}
}

// proceed goes on after a turn that has returned: with the sessions that it starts, then with the next turn, at once or when those have ended.
// It reports whether the session is over, as it is when its phase or its graph sends no more.
func (p *phase) proceed(t *ticket, now int64) (over bool) {
	s := t.ses
	if !p.sending && !p.keeps || s.family.over {
		return true
	}
	p.branch(t, false, now)
	if t.req.Turn+1 >= s.Turns {
		return true
	}
	next := &ticket{p: p, ses: s, req: t.req}
	next.req.Turn++
	if s.awaits[next.req.Turn] > 0 {
		s.held = next
		s.family.held++
		p.stats.Branches.ParentsSuspended++
		return false
	}
	p.schedule(next, t, now)
	return false
}

// ended tells a session that one of those that a turn of it waits for has ended.
func (p *phase) ended(s *session, turn int, now int64) {
	if s.awaits[turn]--; s.awaits[turn] > 0 || s.held == nil || s.held.req.Turn != turn {
		return
	}
	next := s.held
	s.held = nil
	s.family.held--
	if (p.sending || p.keeps) && !s.family.over {
		next.resumes = true
		p.schedule(next, next, now)
		return
	}
	if !s.family.over {
		p.stats.Branches.JoinsSuppressed++
	}
	p.endSession(s, s.left == 0, now)
	p.g.work.close = append(p.g.work.close, &s.Session)
}
