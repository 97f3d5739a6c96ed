package load

import "aiperf/internal/base/rng"

// family is a drawn session together with all sessions that its turns have started. They share one session slot.
type family struct {
	live        int   // number of its sessions that have not ended
	endedEarly  bool  // one of its sessions ended early
	failed      bool  // a session failed and the whole family must end
	slot        bool  // it holds a session slot
	unsentTurns int64 // number of turns that it will send, until it has its slot

	arrived int64 // arrival of the last answer, in a closed loop; 0 = the request failed
	think   int64 // delay of the turn that follows it

	// Fields of a replay:
	reached map[int]int // by conversation, the number of answered turns; nil = unknown
	waiting int         // number of sessions that wait for others
}

// requests returns how many turns a session will send, including those of the sessions that it starts.
func (s *Shape) requests(turns int) int64 { return s.requestsFrom(0, turns) }

// requestsFrom is like requests, but counts only from turn from on.
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

// Forks reports whether a turn starts sessions with its own history.
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
		c := &session{family: s.family, unsentTurns: b.Shape.requests(len(b.Shape.Turns))}
		c.Session = Session{ID: rng.UUID(), Conversation: b.Conversation, Shape: *b.Shape, Turns: len(b.Shape.Turns), URL: s.URL,
			Parent: &s.Session, ParentTurn: t.req.Turn, Fork: b.Fork}
		s.unsentTurns -= c.unsentTurns
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

// proceed continues a session after a turn that has returned. It starts the sessions of the turn and then the next turn, at once or when those
// sessions have ended. It reports whether the session is over, which is also the case if its phase or its graph sends no more.
func (p *phase) proceed(t *ticket, now int64) (over bool) {
	s := t.ses
	if !p.sending && !p.continues || s.family.failed {
		return true
	}
	p.branch(t, false, now)
	if t.req.Turn+1 >= s.Turns {
		return true
	}
	next := &ticket{p: p, ses: s, req: t.req}
	next.req.Turn++
	if s.awaits[next.req.Turn] > 0 {
		s.waitingTurn = next
		s.family.waiting++
		p.stats.Branches.ParentsSuspended++
		return false
	}
	p.schedule(next, t, now)
	return false
}

// ended notifies a session that one of the sessions that a turn waits for has ended.
func (p *phase) ended(s *session, turn int, now int64) {
	if s.awaits[turn]--; s.awaits[turn] > 0 || s.waitingTurn == nil || s.waitingTurn.req.Turn != turn {
		return
	}
	next := s.waitingTurn
	s.waitingTurn = nil
	s.family.waiting--
	if (p.sending || p.continues) && !s.family.failed {
		next.resumes = true
		p.schedule(next, next, now)
		return
	}
	if !s.family.failed {
		p.stats.Branches.JoinsSuppressed++
	}
	p.endSession(s, s.unsentTurns == 0, now)
	p.g.work.close = append(p.g.work.close, &s.Session)
}
