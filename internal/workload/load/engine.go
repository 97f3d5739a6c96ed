package load

import (
	"time"

	"aiperf/internal/base/clock"
)

// step advances the current phase to now and returns the next instant at which it has something to do. The caller holds the mutex.
func (g *Generator) step(now int64) int64 {
	p := g.current
	if p == nil || !p.sending {
		return never
	}
	next := g.applyChanges(p, now)
	if !p.sending {
		return now
	}
	if now < p.t0 { // its start was agreed with other machines
		return min(next, p.t0)
	}
	p.passRamps(now)
	next = min(next, g.session.advance(now), g.prefill.advance(now), p.stopAt)
	if now >= p.stopAt {
		p.stats.TimedOut = true
		p.stop(StopDuration, now)
		return now
	}
	next = min(next, p.moveDue(now))
	next = min(next, p.driver.advance(now))
	if p.sending && p.exhausted() {
		p.stop(p.exhaustedBy(), now)
	}
	p.askAhead()
	if !p.sending || len(g.work.fire) > 0 { // send what is due before preparing what comes next
		return now
	}
	return min(next, p.driver.ahead(now))
}

// stepNow advances the state machine after an event other than the passing of time, and wakes the scheduler if necessary.
func (g *Generator) stepNow(now int64) {
	p := g.current
	if p == nil || !p.sending {
		return
	}
	next := g.step(now)
	if next < g.sleepsUntil || !p.sending {
		g.sleepsUntil = next
		g.wait.Wake()
	}
}

// onFed is called by the prefetcher when a conversation has arrived that was missing before.
func (g *Generator) onFed() {
	g.mu.Lock()
	g.stepNow(clock.Now())
	w := g.takeWork()
	g.mu.Unlock()
	g.changed()
	g.do(w)
}

// admit grants a ticket: the gate of section 5, whose conditions the caller has checked. It takes the slots, numbers the request and decides whether
// it is the last one.
func (p *phase) admit(t *ticket, intended, now int64) {
	g, s := p.g, t.ses
	if !t.primes {
		if !s.family.slot {
			t.vacant = g.session.vacant.take(g.session.free())
			p.enter(s.family, now)
			g.record(p, &s.drawn)
		}
		p.countGrant(t)
	}
	p.inFlight[t] = struct{}{}
	byCount, final := false, false
	if t.silent() {
		t.issue = Issue{Granted: now, CancelAfter: -1}
	} else {
		t.gate = g.prefill.vacant.take(g.prefill.free())
		g.prefill.take(now)
		t.prefill = true
		p.unsentTurns--
		if !t.primes {
			s.unsentTurns--
		}
		sent := p.count.sent.Add(1)
		cancelAfter := time.Duration(-1)
		if p.cancels() && g.cancelled(p.Cancellation.Percent) {
			cancelAfter = p.Cancellation.Delay
		}
		byCount = p.Requests > 0 && sent >= p.Requests && !p.quota.mayGrow(true)
		final = byCount || p.exhausted()
		t.issue = Issue{Number: g.scenario.Share.of(sent - 1), Intended: intended, Granted: now, CancelAfter: cancelAfter, Final: final}
	}
	if !t.primes {
		p.branch(t, true, now)
	}

	prepared := false
	if t.launched {
		p.armedUnsent--
		prepared = !t.decide(fire) // otherwise the ticket's goroutine will fire it
	}
	if intended != 0 && !prepared && !t.waited && !t.silent() {
		p.stats.Schedule.LateArmed++
	}
	switch {
	case prepared:
		t.punctual = !t.waited
		g.work.fire = append(g.work.fire, t)
	case !t.launched:
		t.state.Store(uint32(fire))
		g.launch(t)
	}
	switch {
	case byCount:
		p.stop(StopRequests, now)
	case final:
		p.stop(p.exhaustedBy(), now)
	}
}

// enter starts a family: it takes its session slot, and its turns count as owed from now on.
func (p *phase) enter(f *family, now int64) {
	p.g.session.take(now)
	f.slot = true
	p.count.sessions.Add(1)
	if !p.mayStart() {
		p.loseVacant(now)
	}
	p.count.turns.Add(f.unsentTurns)
	p.unsentTurns += f.unsentTurns
	f.unsentTurns = 0
}

// returned handles a request that has returned. One of the tickets that this launches is left to the caller; nil = there is none.
func (g *Generator) returned(t *ticket, out Outcome) (next *ticket) {
	now := clock.Now()
	p, s := t.p, t.ses
	g.mu.Lock()
	if t.finished { // abandoned: its phase was completed without it
		g.mu.Unlock()
		g.exec.Close(&s.Session)
		return nil
	}
	t.finished = true
	delete(p.inFlight, t)
	if t.fenced {
		p.stats.Fenced++
	}
	p.countReturned(t, out)
	p.countSlot(t, out, now)
	matters := g.session.free() == 0 // whether the return affects the rest of the machine
	g.givePrefill(t, t.arrived, now)
	if !t.primes {
		p.countReturn(t, out, now)
		p.answered(t, now)
	}
	alone := len(s.Shape.Turns[t.req.Turn].Branches) == 0 && s.Parent == nil
	matters = matters || !alone || t.req.Turn+1 < s.Turns || p.Mode == AgenticReplay
	p.conclude(t, out, now)
	if p.tooManyFail() {
		g.failures = true
		p.stats.TooManyFails = true
		g.abort(StopFailures, ErrFailures)
	}
	if !t.silent() && g.streak.add(out, now) && p.Duration > 0 && g.scenario.FailFast && g.unreachable == nil {
		g.unreachable = &UnreachableError{g.streak.n, time.Duration(now - g.streak.since), time.Duration(max(0, g.streak.since-p.stats.Started))}
		g.abort(StopUnreachable, ErrUnreachable)
	}
	p.checkIdle()
	if matters {
		g.stepNow(now)
	}
	w := g.takeWork()
	g.mu.Unlock()
	if n := len(w.launch); n > 0 {
		next, w.launch = w.launch[n-1], w.launch[:n-1]
	}
	g.do(w)
	return next
}

// countReturned counts a request that has returned.
func (p *phase) countReturned(t *ticket, out Outcome) {
	switch {
	case t.silent():
	case out.Cancelled:
		p.count.cancelled.Add(1)
	default:
		p.count.completed.Add(1)
		if out.Failed {
			p.count.errors.Add(1)
		}
	}
}

// conclude continues a session after a turn, or ends it.
func (p *phase) conclude(t *ticket, out Outcome, now int64) {
	s := t.ses
	switch {
	case t.primes:
		p.driver.(*primer).primed(now)
	case out.Cancelled || p.overflowed(t, out) || p.proceed(t, now):
		p.endSession(s, !out.Cancelled && s.unsentTurns == 0, now)
		p.g.work.close = append(p.g.work.close, &s.Session)
	}
	p.continueParked(s.family)
	if p.info.Primes && s.Parent == nil && (out.Failed || out.Cancelled) {
		p.endUnprimed(t)
	}
}

// schedule sets the instant at which a ticket may leave after another has returned. next and after are the same ticket if it waited for other
// sessions.
func (p *phase) schedule(next, after *ticket, now int64) {
	if !p.sending && p.continues {
		g := p.g
		g.nextTurns = append(g.nextTurns, next)
		return
	}
	next.vacant, next.think = after.arrived, thinkTime(next)
	next.due = p.driver.due(after, next, now)
	if next.due <= now {
		p.ready.push(next)
		return
	}
	if f := next.ses.family; f.slot && f.live == 1 {
		next.holdsSlot = true
		p.g.session.recordPause(+1, now)
	}
	next.wakeAt = max(now, next.due-int64(p.g.scenario.ArmLead))
	p.timed.push(next)
}

// endSession ends a session after the last of its turns that was sent. The last session of a family returns the family's slot.
func (p *phase) endSession(s *session, complete bool, now int64) {
	f := s.family
	f.live--
	f.endedEarly = f.endedEarly || !complete
	if f.slot { // without a slot, nothing of the family was ever sent
		p.unsentTurns -= s.unsentTurns
		p.stats.Unsent += s.unsentTurns
	}
	s.unsentTurns = 0
	p.abandoned(s)
	if b := p.stats.Branches; b != nil {
		b.ended(s)
	}
	if f.live == 0 {
		p.endFamily(f, now)
	}
	if other := s.awaitedBy; other != nil {
		s.awaitedBy = nil
		p.ended(other, s.joins, now)
	}
}

// endFamily counts a drawn session with everything that it started, and returns its slot.
func (p *phase) endFamily(f *family, now int64) {
	if !f.slot {
		return
	}
	if f.endedEarly {
		p.count.cutSessions.Add(1)
	} else {
		p.count.finished.Add(1)
	}
	f.slot = false
	p.g.session.give(now)
	p.vacate(f)
}
