package load

import "slices"

// BranchStats counts the sessions that start others, and the sessions they start, in a phase. A started session whose first turn was granted ends as
// completed, errored or truncated. A started session without a granted turn counts as truncated.
type BranchStats struct {
	ChildrenSpawned   int64 // their first turn was granted
	ChildrenCompleted int64 // their last turn was answered
	ChildrenErrored   int64 // their last turn failed
	ChildrenTruncated int64 // stopped before their last turn
	ChildrenDelayed   int64 // started without history and only after their own delay
	ParentsSuspended  int64 // number of waits for started sessions
	ParentsResumed    int64 // turns granted after such a wait
	ParentsFailed     int64 // ancestors of a session whose failure ended their graph
	JoinsSuppressed   int64 // turns not granted after such a wait, because the phase sends no more
	GraphsAdmitted    int64 // sessions whose first turn is silent
	GraphsCompleted   int64 // of these, sessions whose last turn has ended
}

// graph reports whether a session starts others or sends nothing itself.
func (s *Shape) graph() bool {
	for i := range s.Turns {
		if s.Turns[i].Silent || len(s.Turns[i].Branches) > 0 {
			return true
		}
	}
	return false
}

// countGrant counts a granted turn.
func (p *phase) countGrant(t *ticket) {
	s := t.ses
	if p.stats.Branches == nil && t.req.Turn == 0 && s.Shape.graph() {
		p.stats.Branches = &BranchStats{}
	}
	b := p.stats.Branches
	if b == nil {
		return
	}
	if s.Parent != nil && !s.started {
		s.started = true
		b.ChildrenSpawned++
	}
	if t.resumes {
		b.ParentsResumed++
	}
	if t.req.Turn == 0 && t.silent() {
		b.GraphsAdmitted++
	}
}

// countReturn records how a turn ended, for the statistics of its session and its graph.
func (p *phase) countReturn(t *ticket, out Outcome, now int64) {
	s := t.ses
	s.failed, s.finished = out.Failed, !out.Cancelled && t.req.Turn+1 >= s.Turns
	if out.Cancelled {
		return
	}
	if s.failed && s.Parent != nil && p.g.scenario.GraphFailFast {
		p.endGraph(s, now)
	}
	if !p.sending {
		p.countUnstarted(t)
	}
}

// ended counts the end of a session. If its failure ended the graph, its turn was the last one.
func (b *BranchStats) ended(s *session) {
	if s.finished && s.Shape.Turns[0].Silent {
		b.GraphsCompleted++
	}
	switch {
	case s.Parent == nil:
	case s.failed && (s.finished || s.family.failed):
		b.ChildrenErrored++
	case s.finished:
		b.ChildrenCompleted++
	default:
		b.ChildrenTruncated++
	}
}

// countUnstarted counts the sessions that a turn would have started if it had not returned after the last request of the phase.
func (p *phase) countUnstarted(t *ticket) {
	for _, b := range t.ses.Shape.Turns[t.req.Turn].Branches {
		if !b.Before {
			p.stats.Branches.ChildrenTruncated++
		}
	}
}

// suppress counts a turn that is dropped after it has waited for others.
func (p *phase) suppress(t *ticket) {
	if t.resumes {
		p.stats.Branches.JoinsSuppressed++
	}
}

// endGraph stops the graph of a started session that failed: it sends nothing more. Requests in flight run to their end.
func (p *phase) endGraph(s *session, now int64) {
	f := s.family
	if f.failed {
		return
	}
	f.failed = true
	for up := s.Parent; up != nil; up = up.Parent {
		p.stats.Branches.ParentsFailed++
	}
	var gone []*ticket
	ready, timed := queue{}, ticketQueue(nil)
	for t := range p.ready.all() {
		if t.ses.family == f {
			gone = append(gone, t)
			continue
		}
		ready.push(t)
	}
	for _, t := range p.timed {
		if t.ses.family == f {
			p.endRest(t, now)
			gone = append(gone, t)
			continue
		}
		timed.push(t)
	}
	p.ready, p.timed = ready, timed
	p.parked = slices.DeleteFunc(p.parked, func(t *ticket) bool {
		if t.ses.family == f {
			gone = append(gone, t)
		}
		return t.ses.family == f
	})
	for _, t := range gone {
		p.endSession(t.ses, false, now)
		p.drop(t)
	}
}
