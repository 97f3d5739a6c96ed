package load

import "slices"

// BranchStats count what sessions that start others did in a phase. A started session that was granted its first turn ends as one of
// completed, errored, truncated; one that was not is truncated.
type BranchStats struct {
	ChildrenSpawned   int64 // granted their first turn
	ChildrenCompleted int64 // their last turn was answered
	ChildrenErrored   int64 // their last turn failed
	ChildrenTruncated int64 // stopped before that
	ChildrenDelayed   int64 // no forks, and due only after a delay of their own
	ParentsSuspended  int64 // waits for started sessions
	ParentsResumed    int64 // turns granted after such a wait
	ParentsFailed     int64 // sessions above the one whose failure ended their graph
	JoinsSuppressed   int64 // turns not granted after such a wait: the phase sent no more
	GraphsAdmitted    int64 // sessions whose first turn is silent
	GraphsCompleted   int64 // those of them whose last turn is over
}

// graph tells whether a session starts others, or sends nothing itself.
func (s *Shape) graph() bool {
	for i := range s.Turns {
		if s.Turns[i].Silent || len(s.Turns[i].Branches) > 0 {
			return true
		}
	}
	return false
}

// countGrant counts a turn that is granted.
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

// countReturn notes how a turn ended, for the end of its session and of its graph.
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
		p.unbranch(t)
	}
}

// ended counts the end of a session. Where its failure ended the graph, its turn was the last.
func (b *BranchStats) ended(s *session) {
	if s.finished && s.Shape.Turns[0].Silent {
		b.GraphsCompleted++
	}
	switch {
	case s.Parent == nil:
	case s.failed && (s.finished || s.family.over):
		b.ChildrenErrored++
	case s.finished:
		b.ChildrenCompleted++
	default:
		b.ChildrenTruncated++
	}
}

// unbranch counts the sessions that a turn would have started, had it not returned after the last request of the phase.
func (p *phase) unbranch(t *ticket) {
	for _, b := range t.ses.Shape.Turns[t.req.Turn].Branches {
		if !b.Before {
			p.stats.Branches.ChildrenTruncated++
		}
	}
}

// suppress counts a turn that is dropped after its wait for others.
func (p *phase) suppress(t *ticket) {
	if t.resumes {
		p.stats.Branches.JoinsSuppressed++
	}
}

// endGraph lets nothing more leave of the graph of a started session that failed. What is under way runs to its end.
func (p *phase) endGraph(s *session, now int64) {
	f := s.family
	if f.over {
		return
	}
	f.over = true
	for up := s.Parent; up != nil; up = up.Parent {
		p.stats.Branches.ParentsFailed++
	}
	var gone []*ticket
	ready, timed := queue{}, schedule(nil)
	for t := range p.ready.all() {
		if t.ses.family == f {
			gone = append(gone, t)
			continue
		}
		ready.push(t)
	}
	for _, t := range p.timed {
		if t.ses.family == f {
			p.wakes(t, now)
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
