package load

import (
	"context"

	"aiperf/internal/base/clock"
)

// quota is the part of a phase's count that this machine has leased so far. The phase's Requests or Sessions is the sum of its leases, and grows.
type quota struct {
	requests bool  // it counts requests, otherwise sessions
	granted  int64 // requests or sessions
	draws    int64 // conversations
	last     int64 // size of the last lease
	open     bool  // there may be more
	asking   bool
	none     bool // the last reply was none, for the time being
}

// pending reports whether the machine may still get more of the count; false for nil, a phase without leases.
func (q *quota) pending() bool { return q != nil && q.open }

// mayGrow reports whether the count of requests, or that of sessions, may still grow.
func (q *quota) mayGrow(requests bool) bool { return q.pending() && q.requests == requests }

// newQuota returns the quota of a phase; nil = it has no leases.
func (g *Generator) newQuota(index int) *quota {
	if _, leased := g.scenario.Leased(index); !leased {
		return nil
	}
	return &quota{requests: g.scenario.Phases[index].Requests > 0, open: true}
}

// mayGrant reports whether the count of requests allows another one. A phase without leases ends when it does not.
func (p *phase) mayGrant() bool { return p.Requests <= 0 || p.count.sent.Load() < p.Requests }

// unused returns how much of the quota is left.
func (p *phase) unused() int64 {
	if p.quota.requests {
		return p.quota.granted - p.count.sent.Load()
	}
	return p.quota.granted - p.count.sessions.Load()
}

// ask returns the next request for a lease.
func (p *phase) ask() Ask {
	left := p.unused()
	return Ask{Unused: max(0, p.quota.draws-p.count.sessions.Load()-left), Wait: left == 0}
}

// firstLease gets the quota with which a phase starts.
func (p *phase) firstLease(ctx context.Context) error {
	for p.quota != nil && p.quota.granted == 0 && p.quota.open {
		l, err := p.g.opts.Coordinator.Lease(ctx, &p.info, p.ask())
		if err != nil {
			return err
		}
		p.g.mu.Lock()
		p.add(l, 0)
		p.g.mu.Unlock()
	}
	return nil
}

// askAhead asks for a lease when half of the last one is used, so that it arrives in time.
func (p *phase) askAhead() {
	q := p.quota
	if !q.pending() || q.asking || !p.sending {
		return
	}
	if left := p.unused(); left > q.last/2 || q.none && left > 0 {
		return
	}
	q.asking = true
	p.g.live.Add(1)
	go p.renew(p.ask())
}

// renew gets a lease.
func (p *phase) renew(ask Ask) {
	g := p.g
	l, err := g.opts.Coordinator.Lease(p.ctx, &p.info, ask)
	now := clock.Now()
	g.mu.Lock()
	p.quota.asking = false
	switch {
	case p.sending && err == nil:
		p.add(l, now)
		g.stepNow(now)
	case p.sending:
		p.refuse(err)
	default: // the phase has ended meanwhile
		p.quota.granted += l.Count
		p.leaveQuota()
	}
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
	g.settle()
}

// add adds a lease to the quota. A phase whose quota is final and used ends.
func (p *phase) add(l Lease, now int64) {
	q, g := p.quota, p.g
	count := max(0, l.Count)
	q.granted += count
	q.open, q.none = !l.Final, count == 0
	if count > 0 {
		q.last = count
	}
	if q.requests {
		p.Requests = q.granted
	} else {
		p.Sessions = q.granted
	}
	if p.drawsLeased() {
		n := g.drawing.give(l.Draws)
		q.draws += n
		g.prefetcher.grant(n)
	}
	if !q.open && p.unused() <= 0 && (q.requests || q.granted == 0) {
		why := StopSessions
		if q.requests {
			why = StopRequests
		}
		p.stop(why, now)
		g.wait.Wake()
	}
}

// drawsLeased reports whether the conversations of the phase come with its leases. Lanes of a replay, users and entries of a trace have their own.
func (p *phase) drawsLeased() bool { return p.quota != nil && (p.Mode == ClosedLoop || p.Mode == Rate) }

// leaveQuota returns what is left of the quota when a phase ends before it is final, because other machines may wait for it.
func (p *phase) leaveQuota() {
	q, g := p.quota, p.g
	if !q.pending() || q.asking {
		return
	}
	q.open = false
	ask := Ask{Leave: true, Return: max(0, p.unused())}
	g.live.Add(1)
	go func() {
		_, _ = g.opts.Coordinator.Lease(g.talking, &p.info, ask) // if it does not arrive, the others learn that the phase has ended
		g.settle()
	}()
}
