package load

import (
	"slices"
	"time"

	"aiperf/internal/base/clock"
)

// scheduledChange is something that happens to the sending phase at an instant that was agreed with other machines.
type scheduledChange struct {
	at    int64
	phase int // index; -1 = any
	do    func(p *phase, at int64)
}

// Fence sets the instant (package clock) from which on nothing is sent, until the next call. Every send checks it, also after the process was
// stopped for a while. When it passes, the run ends: requests in flight finish, nothing more is sent.
func (g *Generator) Fence(at int64) { g.fence.Store(at) }

// StopAt ends the run at an instant (package clock) as the end of its context does: nothing more is sent, requests in flight are cancelled.
func (g *Generator) StopAt(at int64) {
	g.schedule(scheduledChange{at, -1, func(*phase, int64) {
		g.interrupted = true
		g.abort(StopInterrupted, ErrInterrupted)
	}})
	timer := time.AfterFunc(time.Duration(at-clock.Now()), g.interrupt) // while nothing is sent, there are no steps
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timers = append(g.timers, timer)
}

// MoveAt is Move at an instant (package clock). The value is that of the whole run.
func (g *Generator) MoveAt(index int, to float64, at int64) {
	g.schedule(scheduledChange{at, index, func(p *phase, at int64) { p.move(to, at) }})
}

// EndAt is End at an instant (package clock).
func (g *Generator) EndAt(index int, at int64) {
	g.schedule(scheduledChange{at, index, func(p *phase, at int64) { p.stop(StopControl, at) }})
}

func (g *Generator) schedule(c scheduledChange) {
	g.mu.Lock()
	i, _ := slices.BinarySearchFunc(g.changes, c, func(a, b scheduledChange) int { return int(min(1, max(-1, a.at-b.at))) })
	for i < len(g.changes) && g.changes[i].at == c.at { // in the order of the calls
		i++
	}
	g.changes = slices.Insert(g.changes, i, c)
	g.stepNow(clock.Now())
	w := g.takeWork()
	g.mu.Unlock()
	g.do(w)
}

// applyChanges makes the changes that are due to the sending phase, and ends the run at the fence. It returns the next such instant.
func (g *Generator) applyChanges(p *phase, now int64) (next int64) {
	fence := g.fence.Load()
	if now >= fence && !g.fenced {
		g.fenced = true
		for _, one := range slices.Clone(g.active) {
			one.stop(StopFence, now)
		}
		g.wait.Wake()
		return now
	}
	for len(g.changes) > 0 && g.changes[0].at <= now {
		c := g.changes[0]
		g.changes = g.changes[1:]
		if c.phase == -1 || c.phase == p.info.Index && p.sending && c.at >= p.t0 {
			c.do(p, c.at)
		}
	}
	if len(g.changes) > 0 {
		fence = min(fence, g.changes[0].at)
	}
	return fence
}
