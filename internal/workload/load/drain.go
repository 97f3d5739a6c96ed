package load

import (
	"fmt"
	"time"

	"aiperf/internal/base/clock"
)

// drain ends a phase that has sent everything (4.3). It waits for answers until start + duration + grace, then cancels the requests in flight, waits
// briefly for their return, and then completes the phase without them.
func (g *Generator) drain(p *phase) {
	cut := false
	var deadline <-chan time.Time
	if at, ok := p.drainBy(clock.Now()); ok {
		timer := time.NewTimer(time.Duration(at - clock.Now()))
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case <-p.idle:
	case <-deadline:
		g.mu.Lock()
		if len(p.inFlight) > 0 {
			p.stats.GraceExpired = true
			if p.info.Primes {
				p.refuse(fmt.Errorf("the requests of the warm-up did not end within its grace period of %v", p.Grace))
			}
			p.cancelInFlight(ErrGrace)
			cut = true
		}
		g.mu.Unlock()
	case <-p.cutting:
		cut = true
	}
	if cut {
		timer := time.NewTimer(g.scenario.CancelDrain)
		defer timer.Stop()
		select {
		case <-p.idle:
		case <-timer.C:
		}
	}
	g.complete(p)
}

// drainBy returns the instant until which a phase waits for its answers; ok = false: without limit. The warm-up of a replay ends when its requests
// have been sent.
func (p *phase) drainBy(now int64) (at int64, ok bool) {
	switch {
	case p.Grace < 0:
	case p.info.Primes:
		return later(now, p.Grace), true
	case p.Duration > 0:
		return later(later(p.t0, p.Duration), p.Grace), true
	}
	return 0, false
}

// complete freezes the phase's numbers and releases the slots of stuck requests.
func (g *Generator) complete(p *phase) {
	g.mu.Lock()
	now := clock.Now()
	for t := range p.inFlight {
		t.finished = true
		p.stats.Abandoned++
		p.count.cancelled.Add(1)
		p.busy(t.issue.Granted, now)
		g.givePrefill(t, 0, now)
		p.endSession(t.ses, false, now) // a stuck request's session is closed by the executor when the request returns, if ever
	}
	clear(p.inFlight)
	for i, other := range g.active {
		if other == p {
			g.active = append(g.active[:i:i], g.active[i+1:]...)
			break
		}
	}
	p.copyCounters(now)
	p.cancel(ErrPhaseOver)
	g.stepNow(now)
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
	if after := g.opts.Hooks.After; after != nil {
		after(&p.stats)
	}
}

// copyCounters copies the counters to the stats.
func (p *phase) copyCounters(now int64) {
	c, f := &p.count, &p.stats
	p.lagMu.Lock()
	p.final = true
	p.lagMu.Unlock()
	c.ended.Store(now)
	f.Ended = now
	f.Sent, f.Completed, f.Errors, f.Cancelled = c.sent.Load(), c.completed.Load(), c.errors.Load(), c.cancelled.Load()
	f.SessionsSent, f.SessionsCompleted, f.SessionsCancelled = c.sessions.Load(), c.finished.Load(), c.cutSessions.Load()
	f.PrefillsReleased = c.prefills.Load()
	f.Interrupted = p.g.interrupted
	f.Schedule.TicksSkipped, f.Schedule.Reanchors = c.skipped.Load(), c.reanchors.Load()
}

// cancelInFlight cancels the context of everything in flight.
func (p *phase) cancelInFlight(cause error) {
	p.cutOnce.Do(func() {
		p.cancel(cause)
		close(p.cutting)
	})
}

// checkIdle detects that everything was sent and has returned.
func (p *phase) checkIdle() {
	if !p.sending && len(p.inFlight) == 0 {
		p.idleOnce.Do(func() { close(p.idle) })
	}
}
