package load

import (
	"context"
	"fmt"
	"time"

	"aiperf/internal/base/rng"
)

// moveDue moves due continuations to the ready queue, prepares those that are due soon, and returns the next instant.
func (p *phase) moveDue(now int64) int64 {
	for len(p.timed) > 0 && p.timed[0].wakeAt <= now {
		t := p.timed.pop()
		if t.due <= now {
			p.endRest(t, now)
			p.ready.push(t)
			continue
		}
		p.arm(t)
		t.wakeAt = t.due
		p.timed.push(t)
	}
	if len(p.timed) > 0 {
		return p.timed[0].wakeAt
	}
	return never
}

// endRest ends the delay during which a ticket held its session's slot.
func (p *phase) endRest(t *ticket, now int64) {
	if t.holdsSlot {
		t.holdsSlot = false
		p.g.session.recordPause(-1, now)
	}
}

// maxArmed is the maximum number of requests that are prepared but not granted yet.
const maxArmed = 4096

// arm prepares a ticket ahead if it can probably leave at its instant.
func (p *phase) arm(t *ticket) {
	if t.launched || p.armedUnsent >= maxArmed || p.g.prefill.free() <= p.armedUnsent {
		return
	}
	p.armedUnsent++
	p.g.launch(t)
}

// newSession makes the first ticket of a session for a drawn conversation.
func (p *phase) newSession(d sample, id string, turns int, due int64) *ticket {
	s := &session{drawn: d, family: &family{live: 1, unsentTurns: d.shape.requests(turns)}}
	s.unsentTurns = s.family.unsentTurns
	if p.Mode == AgenticReplay {
		s.family.reached = map[int]int{}
	}
	s.Session = Session{ID: id, Conversation: int(d.index), Shape: d.shape, Turns: turns, URL: p.g.url(&d), Pass: p.g.pass(&d)}
	return &ticket{p: p, ses: s, req: Request{Phase: &p.info, Session: &s.Session}, due: due}
}

// prefetch takes the next conversation of the data and makes its first ticket ready to start.
func (p *phase) prefetch() (*ticket, bool) {
	d, ok := p.nextSample(p.g.prefetcher)
	if !ok {
		return nil, false
	}
	t := p.newSession(d, rng.UUID(), len(d.shape.Turns), 0)
	p.starts.push(t)
	return t, true
}

// nextSample takes the next conversation of the data if it is available. Invalid data end the run.
func (p *phase) nextSample(from *prefetcher) (sample, bool) {
	d, ok, err := from.take()
	if err == nil && ok {
		err = checkShape(d)
	}
	if err != nil {
		p.refuse(err)
		return sample{}, false
	}
	return d, ok
}

// refuse ends the run because of invalid data.
func (p *phase) refuse(err error) {
	if p.g.err == nil {
		p.g.err = err
	}
	p.g.abort(StopSource, ErrInterrupted)
}

// feed starts a prefetcher for conversations in an order of the phase's own, until next ends.
func (p *phase) feed(next func() (sample, bool)) *prefetcher {
	f := newPrefetcher(p.g.opts.Source, next, never, p.g.onFed)
	f.deepen(maxArmed)
	go f.run(p.ctx)
	return f
}

// await waits for the next conversation, before the phase starts.
func (g *Generator) await(ctx context.Context, from *prefetcher) (sample, error) {
	for {
		d, ok, err := from.take()
		if err != nil {
			return d, err
		}
		if ok {
			return d, checkShape(d)
		}
		timer := time.NewTimer(primeLimit)
		select {
		case <-g.ready:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return d, ctx.Err()
		}
		timer.Stop()
	}
}

func checkShape(d sample) error {
	if len(d.shape.Turns) == 0 {
		return fmt.Errorf("conversation %d (%q) of the data set has no turns", d.index, d.shape.ID)
	}
	return nil
}
