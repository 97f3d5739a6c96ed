package load

import "slices"

// mayStart reports whether the session count allows another session.
func (p *phase) mayStart() bool { return p.Sessions <= 0 || p.count.sessions.Load() < p.Sessions }

// mayStock reports whether another session may be taken from the data, because it could still be started.
func (p *phase) mayStock() bool {
	n := int64(p.starts.len())
	return (p.Sessions <= 0 || p.count.sessions.Load()+n < p.Sessions) && (p.Requests <= 0 || p.count.sent.Load()+n < p.Requests)
}

// exhausted reports whether nothing can ever be sent again.
func (p *phase) exhausted() bool {
	return p.unsentTurns == 0 && (!p.mayStart() && !p.quota.mayGrow(false) || p.driver.finished())
}

func (p *phase) exhaustedBy() Stop {
	if !p.mayStart() || p.Mode == UserCentric { // data never end the users
		return StopSessions
	}
	return StopData
}

// stop ends the sending: a ticket that was not granted will not leave.
func (p *phase) stop(why Stop, now int64) {
	if !p.sending {
		return
	}
	p.sending = false
	p.stats.StoppedBy = why
	p.stats.SentAll = min(now, p.stopAt) // a client that comes late has sent nothing in between
	p.count.sentAll.Store(p.stats.SentAll)
	if p.mayStart() {
		p.loseVacant(p.stats.SentAll)
	}
	if p.t0 != 0 {
		p.closeSchedule(max(p.stats.SentAll, p.t0)) // the start may be agreed and still to come
	}
	p.continues = p.continues && why == StopDuration
	p.leaveQuota()
	var unused []sample
	for t := range p.starts.all() {
		if p.Mode != FixedSchedule {
			unused = append(unused, t.ses.drawn)
		}
		p.g.undo(&t.ses.drawn)
		p.drop(t)
	}
	p.g.prefetcher.putBack(unused)
	rest := slices.Concat(slices.Collect(p.ready.all()), p.timed, p.parked)
	if d, ok := p.driver.(interface{ takeWaiting() []*ticket }); ok {
		rest = append(rest, d.takeWaiting()...)
	}
	p.starts, p.ready, p.timed, p.parked = queue{}, queue{}, nil, nil
	for _, t := range rest {
		if p.continues {
			p.g.nextTurns = append(p.g.nextTurns, t)
			continue
		}
		p.endRest(t, now)
		p.suppress(t)
		p.endSession(t.ses, false, now)
		p.drop(t)
	}
	p.checkIdle()
}

// closeSchedule completes the numbers of the schedule at the end of the sending.
func (p *phase) closeSchedule(at int64) {
	s := &p.stats.Schedule
	s.SendSeconds = seconds(at - p.t0)
	s.Caps = p.capsUntil(at)
	p.passRamps(at)
	if at > p.steadyAt {
		s.Steady.Seconds = seconds(at - p.steadyAt)
		s.Steady.Caps = s.Caps.minus(p.rampCaps)
	}
	s.Answered = p.count.completed.Load()
	if d, ok := p.driver.(interface{ recordDemand(at int64) }); ok {
		d.recordDemand(at)
	}
}

// drop drops a ticket that was not granted, and ends its session.
func (p *phase) drop(t *ticket) {
	if !t.launched {
		if t.req.Turn > 0 { // the executor has seen the session
			p.g.work.close = append(p.g.work.close, &t.ses.Session)
		}
		return
	}
	p.armedUnsent--
	if !t.decide(drop) {
		t.signal <- drop
	}
}

// tooManyFail checks the threshold of failed requests.
func (p *phase) tooManyFail() bool {
	if p.FailureThreshold == nil || p.Warmup || p.g.failures {
		return false
	}
	finished, failed := p.count.completed.Load(), p.count.errors.Load()
	return finished >= int64(max(p.Concurrency, 10)) && float64(failed) > *p.FailureThreshold*float64(finished)
}
